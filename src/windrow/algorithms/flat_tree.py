"""A complete binary tree in one array: the layout that `flat_fat` and `base_intervals` share.

Positions of events grow without bound and go round the leaves. With n leaves, a power of two,
position p has slot p mod n. A node stands for an interval: w slots that begin at a multiple of w,
where w is a power of two up to n. Its number is twice the slot where it begins, plus w. So nodes
are numbered from left to right, and no node has number 0:

      width 4             4
      width 2       2           6
      width 1    1     3     5     7        slots 0 to 3

Arithmetic finds parents, children and siblings, as it does with the numbers of a heap (Tangwongsan
et al. 2015, §4.3). But here a position and a width give the number without a logarithm, so a query
goes from interval to interval and not from level to level. With the numbers of a heap, the
processor mispredicted half of the branches, one at every level: rounds of `base_intervals` with
4096 leaves took 5 times as long.
"""

from windrow.compiler.slots import Partial, Ring, combine, load


def node_of(leaves: int, begin: int, width: int) -> int:
    """The number of an interval; `begin` is a multiple of `width`."""
    return 2 * (begin & (leaves - 1)) + width


def widest(leaves: int, position: int) -> int:
    """How wide an interval can be that begins, or ends, at a position."""
    bits = position | leaves
    return bits & -bits


def backwards(tree: Ring, leaves: int, begin: int, stop: int) -> Partial:
    """The partial of all from `begin` to before `stop`, in steps from newer to older.

    There is at least one, and no interval that begins at `begin` is wider than them all.
    """
    width = widest(leaves, stop)
    stop -= width
    newer = load(tree, node_of(leaves, stop, width))
    while stop != begin:
        width = widest(leaves, stop)
        stop -= width
        newer = combine(load(tree, node_of(leaves, stop, width)), newer)
    return newer


def between(tree: Ring, leaves: int, begin: int, stop: int) -> Partial:
    """The partial of all from `begin` to before `stop`; `begin` is before `stop`.

    It takes the fewest intervals there are, at most 2 log2(n): from the oldest event on, ever wider
    ones as long as they fit, and from the newest one back, ever wider ones for the rest.
    """
    width = widest(leaves, begin)
    if begin + width > stop:
        return backwards(tree, leaves, begin, stop)
    older = load(tree, node_of(leaves, begin, width))
    begin += width
    width = widest(leaves, begin)
    while begin + width <= stop:
        older = combine(older, load(tree, node_of(leaves, begin, width)))
        begin += width
        width = widest(leaves, begin)
    if begin == stop:
        return older
    return combine(older, backwards(tree, leaves, begin, stop))


#: what a module lists before its own functions, callees first
TREE_FUNCTIONS = (node_of, widest, backwards, between)
