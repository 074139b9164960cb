"""Queries with mistakes: characters and words that are lost, swapped, doubled or made up."""

import random
from collections.abc import Iterator

from tests.support.cql.sentences import Sentences

SEEDS = (
    """Select IStream(Max(len) As mxl, MaxCount(len) As num, ArgMax(len, caller) As who)
From Calls [Range 24 Hours Slide 1 Minute]""",
    "SELECT SUM(price * quantity) / COUNT(*) AS each FROM calls [ROWS 100 SLIDE 10 ON ts] "
    "WHERE len > 3 GROUP BY region HAVING MAX(len) - MIN(len) > 0.5; "
    "SELECT COUNT(DISTINCT caller) FROM calls",
    "select *, quantile(len, 0.5, interpolation => 'lower') filter (where caller like 'a%') as q "
    "from calls [partition by region rows 100, min_rows => 3] as a, [delta price 100] -- comment",
    "SELECT RSTREAM(TOP_K(len, 3)) FROM calls [CALENDAR 1 MONTH SLIDE 1 DAY], [SESSION 30 MINUTES]",
    "SELECT AVG(len) FROM calls [UNBOUNDED SLIDE 5], [POLICY small SLIDE 5] "
    "WHERE ts >= timestamp '2024-01-31 12:00:00' AND len BETWEEN 1 AND 2e3",
)  # fmt: skip
_PIECES = (
    "(", ")", "[", "]", ",", ";", "'", '"', "`", "--", "=>", "*", "-", "1e999", "9" * 40, "0",
    "NULL", "__import__('os').system('id')", "{0}", "%s", "\\", "\x00", "\n", "é", "∞", "𝕏",
    "SELECT", "FROM", "AS", "WHERE", "ROWS", "RANGE", "SLIDE", "ISTREAM(", "COUNT(", "not ",
    "interval ", "lambda: 0", "(" * 60, "[" * 60, "a." * 5, "and " * 50, "\ud800",
)  # fmt: skip


def mutated_queries(seed: int, count: int) -> Iterator[str]:
    """So many queries, most of them wrong; the same for the same seed."""
    draw = random.Random(seed)
    sentences = Sentences(seed)
    for number in range(count):
        text = draw.choice(SEEDS) if number % 2 else sentences.sentence()
        for _ in range(draw.choice((0, 1, 1, 2, 3, 8))):
            text = _mutated(text, draw)
        yield text


def _mutated(text: str, draw: random.Random) -> str:
    begin = draw.randrange(len(text) + 1)
    end = min(len(text), begin + draw.choice((1, 1, 2, 5, 20)))
    way = draw.randrange(6)
    if way == 0:
        return text[:begin] + text[end:]
    if way == 1:
        return text[:begin] + draw.choice(_PIECES) + text[begin:]
    if way == 2:
        return text[:end] + text[begin:end] * draw.choice((1, 3)) + text[end:]
    if way == 3:
        return text[:begin] + text[begin:end][::-1] + text[end:]
    if way == 4:
        words = text.split(" ")
        draw.shuffle(words) if draw.random() < 0.2 else words.pop(draw.randrange(len(words)))
        return " ".join(words)
    return text[:begin] + chr(draw.choice((32, 9, 39, 40, 60, 91, 97, 0x3A9, 0xFFFF))) + text[end:]
