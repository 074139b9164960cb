// The page of `windrow watch`: asks for figures every second, and draws them. What it shows is set
// as text, never as HTML: keys are the user's data.
"use strict";

const EVERY = 1000; // milliseconds between two questions
const QUIET = 15; // seconds without a batch after which the query is called quiet
const MOST_CHARTS = 8;
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

// Words ---------------------------------------------------------------------------------------

const number = (value) => value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
const bytes = (value) => (value < 1e5 ? `${number(value / 1e3)} kB` : `${number(value / 1e6)} MB`);
const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19);
const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);
const moment = (seconds) => `${day(seconds)} ${clock(seconds)}`;
const ago = (seconds) => (seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`);
const sum = (values) => values.reduce((all, each) => all + (each ?? 0), 0);

// Figures -------------------------------------------------------------------------------------

// A tile: its title, and what of the figures it says, notes, and draws a bar of for each batch.
const TILES = [
  {
    title: "Events a second",
    says: (all) => (all.rate === null ? "–" : number(all.rate)),
    notes: (all) => {
      if (all.rate !== null) return "over the newest 10 batches";
      return all.batches.some((each) => each.events !== null) ? "" : "not known without wr.log_progress";
    },
    bars: (each) => (each.events === null ? null : each.events / (each.seconds || 1)),
  },
  {
    title: "Time of a batch",
    says: (all, last) => (last.seconds === null ? "–" : `${number(last.seconds)} s`),
    notes: (all, last) => `batch ${last.number}, ended ${clock(last.ended)}`,
    bars: (each) => each.seconds,
  },
  {
    title: "Late events",
    says: (all, last) => (last.late === null ? "–" : number(late(all))),
    notes: (all, last) => {
      if (last.late === null) return "not known without wr.log_progress";
      const untimed = sum(all.batches.map((each) => each.untimed));
      const share = (100 * late(all)) / Math.max(1, events(all));
      return `${share.toPrecision(2)}% of ${number(events(all))}` + (untimed ? `; ${number(untimed)} without a time` : "");
    },
    bars: (each) => each.late,
  },
  {
    title: "State",
    says: (all, last) => (last.state_bytes === null ? "–" : bytes(last.state_bytes)),
    notes: (all, last) => (last.watermark === null ? "no watermark yet" : `watermark ${moment(last.watermark)}`),
    bars: (each) => each.state_bytes,
  },
];
// A stream over an iterator counts from its beginning; of Spark's batches the newest are known.
const events = (all) => all.totals?.[0] ?? sum(all.batches.map((each) => each.events));
const late = (all) => all.totals?.[1] ?? sum(all.batches.map((each) => each.late));

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function showTiles(all) {
  const last = all.batches.at(-1);
  $("tiles").replaceChildren(...TILES.map((tile) => {
    const card = element("div", "card");
    card.append(
      element("h2", "", tile.title),
      element("p", "figure", last ? tile.says(all, last) : "–"),
      element("p", "note", last ? tile.notes(all, last) : "no batch has ended yet"),
      bars(all.batches.map(tile.bars)),
    );
    return card;
  }));
}

function bars(values) {
  const shown = values.slice(-60);
  const most = Math.max(...shown.map((each) => each ?? 0), 0);
  const picture = drawn("svg", { class: "bars", viewBox: "0 0 60 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  shown.forEach((value, place) => {
    const height = most > 0 ? (20 * (value ?? 0)) / most : 0;
    const x = 60 - shown.length + place;
    picture.append(drawn("rect", { x: x + 0.1, y: 20 - height, width: 0.8, height }));
  });
  return picture;
}

function showStatus(state, text) {
  $("status").dataset.state = state;
  $("status").textContent = text;
}

function show(all) {
  $("problem").hidden = !all.problem;
  $("problem").textContent = all.problem ?? "";
  $("places").textContent = (all.places ?? []).join(" · ");
  const last = all.batches.at(-1);
  if (last) {
    const since = Math.max(0, all.now - last.ended);
    if (since > QUIET) showStatus("quiet", `quiet: no batch for ${ago(since)}`);
    else showStatus("running", "running");
  } else {
    showStatus("waiting", "waiting for the first batch");
  }
  if (all.until) $("status").textContent += `; answers until ${moment(all.until)}`;
  showTiles(all);
}

// Charts --------------------------------------------------------------------------------------

// What is drawn is in the address, so that a reload or a bookmark shows the same charts.
let charts = [];
try {
  charts = JSON.parse(decodeURIComponent(location.hash.slice(1)) || "[]");
} catch {
  charts = [];
}
if (!Array.isArray(charts)) charts = [];
charts = charts.filter((each) => typeof each?.key === "string" && typeof each?.column === "string");

function remember() {
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(charts))}`);
}

function chartCard(chart) {
  const card = element("div", "card");
  const asked = element("div", "asked");
  const key = element("input");
  key.setAttribute("list", "keys");
  key.setAttribute("aria-label", "key");
  key.value = chart.key;
  key.addEventListener("change", () => {
    chart.key = key.value;
    remember();
    drawChart(chart);
  });
  const column = element("select");
  column.setAttribute("aria-label", "column");
  column.addEventListener("change", () => {
    chart.column = column.value;
    remember();
    drawChart(chart);
  });
  const remove = element("button", "", "Remove");
  remove.type = "button";
  remove.addEventListener("click", () => {
    charts = charts.filter((each) => each !== chart);
    card.remove();
    remember();
  });
  asked.append(key, column, remove);
  const picture = drawn("svg", { class: "chart", role: "img" });
  card.append(asked, picture, element("p", "note"));
  Object.assign(chart, { card, select: column, picture });
  Object.defineProperty(chart, "toJSON", { value: () => ({ key: chart.key, column: chart.column }) });
  $("charts").append(card);
}

function showCharts(all) {
  $("keys").replaceChildren(...all.keys.map((each) => {
    const option = element("option");
    option.value = each;
    return option;
  }));
  if (!charts.length && all.keys.length && all.columns.length && !location.hash) {
    charts.push({ key: all.keys[0], column: all.columns[0] });
  }
  $("add").hidden = !all.keys.length || !all.columns.length;
  $("none").hidden = all.keys.length > 0;
  $("none").textContent = (all.places ?? []).some((each) => each.startsWith("answers"))
    ? "No answers yet." : "Give the folder of the answers as well, and their lines are drawn here.";
  for (const chart of charts) {
    if (!chart.card) chartCard(chart);
    const columns = all.columns.includes(chart.column) ? all.columns : [chart.column, ...all.columns];
    if (columns.join() !== [...chart.select.options].map((each) => each.value).join()) {
      chart.select.replaceChildren(...columns.map((each) => element("option", "", each)));
    }
    chart.select.value = chart.column;
  }
}

async function drawChart(chart) {
  const width = Math.max(100, Math.round(chart.picture.clientWidth));
  const asked = new URLSearchParams({ key: chart.key, column: chart.column, width });
  const answer = await (await fetch(`line?${asked}`)).json();
  const note = chart.card.querySelector(".note");
  note.textContent = answer.problem ?? (answer.points.length ? "" : "no answers of this key");
  drawLine(chart.picture, answer.points, width);
}

function drawLine(picture, points, width) {
  const height = Math.max(100, picture.clientHeight);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!points.length) return picture.replaceChildren();
  const [left, right, top, bottom] = [56, width - 8, 10, height - 22];
  const begin = points[0][0];
  const end = points.at(-1)[0];
  let low = Infinity;
  let high = -Infinity;
  for (const [, value] of points) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high) [low, high] = [low - 1, high + 1];
  const x = (time) => (end === begin ? left : left + ((right - left) * (time - begin)) / (end - begin));
  const y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low);
  const parts = [];
  for (const value of [low, (low + high) / 2, high]) {
    parts.push(drawn("line", { x1: left, x2: right, y1: y(value), y2: y(value) }));
    parts.push(drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Number(value.toPrecision(3))));
  }
  parts.push(drawn("text", { x: left, y: height - 4 }, moment(begin)));
  if (width > 320) parts.push(drawn("text", { x: right, y: height - 4, "text-anchor": "end" }, moment(end)));
  const line = points.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  picture.replaceChildren(...parts, drawn("polyline", { points: line }));
}

$("add").addEventListener("click", () => {
  const keys = [...$("keys").children].map((each) => each.value);
  if (charts.length >= MOST_CHARTS || !keys.length) return;
  const shown = new Set(charts.map((each) => each.key));
  const column = charts.at(-1)?.column ?? latest.columns[0];
  charts.push({ key: keys.find((each) => !shown.has(each)) ?? keys[0], column });
  remember();
  showCharts(latest);
});

// Again and again -----------------------------------------------------------------------------

let latest = { columns: [] };

async function ask() {
  try {
    latest = await (await fetch("figures")).json();
    show(latest);
    showCharts(latest);
    await Promise.all(charts.map(drawChart));
  } catch {
    showStatus("lost", "no connection: windrow watch has ended, or is starting again");
  }
  setTimeout(ask, EVERY);
}

ask();
