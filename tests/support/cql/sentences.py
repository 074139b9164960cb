"""Random sentences of a grammar in EBNF, as `src/windrow/cql/grammar.ebnf` is one."""

import random
import re
from pathlib import Path

import windrow

GRAMMAR = Path(windrow.__file__).parent / "cql" / "grammar.ebnf"
_TOKEN = re.compile(r"""\s*(?:\(\*.*?\*\)\s*)*("[^"]*"|'[^']*'|[a-z]+|[=;|,{}\[\]])""", re.DOTALL)
#: how deep rules are followed before the shortest way out is taken
_DEEPEST = 14


class Sentences:
    """Makes sentences of a rule, the same for the same seed."""

    def __init__(self, seed: int, grammar: Path = GRAMMAR) -> None:
        self._random = random.Random(seed)
        self._tokens = _TOKEN.findall(grammar.read_text().rstrip() + " ")
        self._rules: dict[str, list] = {}
        while self._tokens:
            name = self._tokens.pop(0)
            assert self._tokens.pop(0) == "="
            self._rules[name] = self._choices()
            assert self._tokens.pop(0) == ";"

    def _choices(self) -> list:
        found = [self._sequence()]
        while self._tokens[0] == "|":
            self._tokens.pop(0)
            found.append(self._sequence())
        return found

    def _sequence(self) -> list:
        found = [self._part()]
        while self._tokens[0] == ",":
            self._tokens.pop(0)
            found.append(self._part())
        return found

    def _part(self) -> tuple:
        token = self._tokens.pop(0)
        if token in "[{":
            inner = self._choices()
            assert self._tokens.pop(0) == {"[": "]", "{": "}"}[token]
            return token, inner
        return ("text", token[1:-1]) if token[0] in "\"'" else ("rule", token)

    def sentence(self, rule: str = "query") -> str:
        """A sentence of the rule."""
        return " ".join(self._of(self._rules[rule], 0))

    def _of(self, choices: list, depth: int) -> list[str]:
        # Deep down, the first choice of a rule is the plainest.
        chosen = choices[0] if depth > _DEEPEST else self._random.choice(choices)
        return [word for part in chosen for word in self._words(part, depth)]

    def _words(self, part: tuple, depth: int) -> list[str]:
        kind, inner = part
        if kind == "text":
            return [inner]
        if inner == "rowwise":
            return self._rowwise(depth)
        if kind == "rule":
            return self._of(self._rules[inner], depth + 1)
        most = 0 if depth > _DEEPEST else 1 if kind == "[" else 2
        times = self._random.choice([0, 0, 1, most]) if most else 0
        return [word for _ in range(times) for word in self._of(inner, depth + 1)]

    def _rowwise(self, depth: int) -> list[str]:
        """An expression without aggregates, as the file says in words: a name in their place."""
        aggregates, self._rules["aggregate"] = self._rules["aggregate"], self._rules["name"]
        found = self._of(self._rules["expression"], depth + 1)
        self._rules["aggregate"] = aggregates
        return found
