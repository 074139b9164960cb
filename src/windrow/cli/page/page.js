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
const bytes = (value) => {
  const [unit, name] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([each]) => value >= each) ?? [1, "bytes"];
  return `${number(value / unit)} ${name}`;
};
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
    says: (all) => (knowsLate(all) ? number(late(all)) : "–"),
    notes: (all) => {
      if (!knowsLate(all)) return "not known without wr.log_progress";
      const untimed = sum(all.batches.map((each) => each.untimed));
      const share = (100 * late(all)) / Math.max(1, events(all));
      return `${share.toPrecision(2)}% of ${number(events(all))}` + (untimed ? `; ${number(untimed)} without a time` : "");
    },
    bars: (each) => each.late,
  },
  {
    title: "State",
    says: (all) => {
      const last = all.batches.findLast((each) => each.state_bytes !== null);
      return last ? bytes(last.state_bytes) : "–";
    },
    notes: (all, last) => (last.watermark === null ? "no watermark yet" : `watermark ${moment(last.watermark)}`),
    bars: (each) => each.state_bytes,
  },
];
// A stream over an iterator counts from its beginning; of Spark's batches the newest are known.
const events = (all) => all.totals?.[0] ?? sum(all.batches.map((each) => each.events));
// The newest batch may have ended before its line of the log is written.
const knowsLate = (all) => all.batches.some((each) => each.late !== null);
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
  note.textContent = answer.problem ?? (answer.points.length ? daysOf(answer.points) : "no answers of this key");
  chart.picture.setAttribute("aria-label", `${chart.column} of ${chart.key}`);
  drawLine(chart.picture, answer.points, width);
}

function daysOf(points) {
  const [first, last] = [day(points[0][0]), day(points.at(-1)[0])];
  return `${first === last ? first : `${first} to ${last}`}, UTC`;
}

function drawLine(picture, points, width) {
  const height = Math.max(100, picture.clientHeight);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!points.length) return picture.replaceChildren();
  const [begin, end] = [points[0][0], points.at(-1)[0]];
  const marks = marksOf(points.map((each) => each[1]), height / 48);
  const [low, high] = [marks[0], marks.at(-1)];
  const names = marks.map((each) => told(each, marks[1] - marks[0]));
  const [top, bottom] = [10, height - 22];
  const left = 12 + 7.5 * Math.max(...names.map((each) => each.length));
  const right = width - 8;
  const x = (time) => (end === begin ? left : left + ((right - left) * (time - begin)) / (end - begin));
  const y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low);
  const parts = [];
  marks.forEach((value, place) => {
    parts.push(drawn("line", { x1: left, x2: right, y1: y(value), y2: y(value) }));
    parts.push(drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, names[place]));
  });
  for (const [time, text] of moments(begin, end, (right - left) / 90)) {
    const half = 3.6 * text.length; // so that no name is cut off
    const middle = Math.min(Math.max(x(time), left + half), right - half);
    parts.push(drawn("line", { class: "mark", x1: x(time), x2: x(time), y1: bottom, y2: bottom + 4 }));
    parts.push(drawn("text", { x: middle, y: height - 4, "text-anchor": "middle" }, text));
  }
  const line = runs(points).map((run) => run.map(([time, value], place) =>
    `${place ? "L" : "M"}${x(time).toFixed(1)},${y(value).toFixed(1)}`).join("") + (run.length > 1 ? "" : "h0")).join("");
  picture.replaceChildren(...parts, drawn("path", { class: "line", d: line }));
}

// Round numbers from the smallest value to the largest, about so many.
function marksOf(values, many) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high) [low, high] = [low - Math.max(1, Math.abs(low) / 10), high + Math.max(1, Math.abs(high) / 10)];
  const least = (high - low) / Math.max(1, many);
  const power = 10 ** Math.floor(Math.log10(least));
  const wide = power * [1, 2, 5, 10].find((each) => each * power >= least);
  const marks = [];
  for (let place = Math.floor(low / wide); place <= Math.ceil(high / wide); place += 1) marks.push(place * wide);
  return marks;
}

function told(value, wide) {
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(wide) + 1e-9)));
  if (Math.max(Math.abs(value), wide) >= 1e7 || wide < 1e-9) return value.toPrecision(3);
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// Round moments and their names, at most about so many: times of a day, and days.
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

function moments(begin, end, many) {
  const least = (end - begin) / Math.max(1, many);
  const wide = STEPS.find((each) => each >= least) ?? 86400 * Math.ceil(least / 86400);
  const found = [];
  for (let time = Math.ceil(begin / wide) * wide; time <= end; time += wide) {
    found.push([time, time % 86400 ? clock(time).slice(0, wide % 60 ? 8 : 5) : day(time).slice(5)]);
  }
  return found.length > 1 ? found : [...new Set([begin, end])].map((each) => [each, clock(each)]);
}

// Parts of a line: where answers are missing for long, nothing is drawn.
function runs(points) {
  const steps = points.slice(1).map(([time], place) => time - points[place][0]).sort((one, other) => one - other);
  const usual = steps[Math.floor(steps.length / 2)] ?? 0;
  const most = Math.max(10 * usual, (points.at(-1)[0] - points[0][0]) / 50);
  const found = [[]];
  for (const point of points) {
    const last = found.at(-1).at(-1);
    if (last && point[0] - last[0] > most) found.push([]);
    found.at(-1).push(point);
  }
  return found;
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
