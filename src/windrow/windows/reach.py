"""How far back windows reach."""

#: more rows or ticks than any table has
UNLIMITED = 2**63 - 1
