"""The errors that windrow raises. All derive from `WindrowError` and name the argument at fault."""


class WindrowError(Exception):
    """Base class of every error that windrow raises on purpose.

    Catch it to catch all of them. Anything else that leaves windrow is a bug: please report it.
    """


class InvalidArgument(WindrowError, ValueError):
    """An argument of a call is wrong; the message names it and says what would be right.

    Raised by every call, before any work is done. Change the argument.

    >>> import windrow as wr
    >>> wr.rows(0)
    Traceback (most recent call last):
        ...
    windrow.errors.InvalidArgument: range: a window holds at least 1 row, not 0
    """


class InvalidAggregation(WindrowError, TypeError):
    """The functions given for an aggregation do not fit together.

    Raised by `wr.aggregation`, which tries the functions on a few values. The message shows the
    values for which a law is broken. Correct the function; `check=False` skips the checks, for
    functions that keep the laws only roughly.

    >>> import windrow as wr
    >>> wr.aggregation(name="difference", identity=0, combine=lambda older, newer: newer - older)
    Traceback (most recent call last):
        ...
    windrow.errors.InvalidAggregation: identity of 'difference' is 0, but combine(2.5, identity) ...
    """


class NotApplicable(WindrowError, TypeError):
    """The algorithm that a call names cannot serve the aggregation.

    Raised by every call that takes `algorithm=`. Leave it out, and the planner chooses one that
    can; or admit algorithms that subtract floats, with `exact=False`.

    >>> import windrow as wr
    >>> wr.Window(wr.max(), algorithm="subtract_on_evict")
    Traceback (most recent call last):
        ...
    windrow.errors.NotApplicable: subtract_on_evict cannot serve max: it has no inverse, so ...
    """


class EmptyWindow(WindrowError, IndexError):
    """A call evicts or queries more events than the window holds.

    Raised by `wr.Window`. The window is as it was. Ask `len(window)` first.

    >>> import windrow as wr
    >>> wr.Window(wr.max()).evict()
    Traceback (most recent call last):
        ...
    windrow.errors.EmptyWindow: evict: the window holds no events
    """


class AggregateOverflow(WindrowError, OverflowError):
    """An integer of an aggregate or a condition does not fit into 64 bits.

    Raised when an answer is computed; on Spark, when the job runs. Cast the column to floats or to
    decimals, or take a shorter window.

    >>> import windrow as wr
    >>> wr.over({"t": [1, 2], "n": [2**62, 2**62]}, order="t", windows=wr.rows(2), aggs=wr.sum("n"))
    Traceback (most recent call last):
        ...
    windrow.errors.AggregateOverflow: sum(n): a sum left the range of 64-bit integers
    """


class DivisionByZero(WindrowError, ZeroDivisionError):
    """A function of an aggregation divided by zero; the message names the aggregation.

    Raised when an answer is computed, for aggregations of your own. Let `lower` answer None where
    there is nothing to divide by.
    """


class StoreError(WindrowError, OSError):
    """A store failed, or holds damaged data; the message names the store and the key.

    Raised by stored windows, checkpoints and streams. If a server or a disk failed, repair it and
    start the process again: it goes on from the last commit. If data is damaged, restore the store
    from a copy, or begin with a new one; windrow never answers from damaged data.
    """


class IncompatibleState(WindrowError, ValueError):
    """Another query, or another version of windrow, wrote the state of a stream's checkpoint.

    Raised before the first batch, by streams. The message says what was and what is now. Give the
    query as it was, or a new checkpoint, on Spark with `history=`.
    """


class LawViolation(WindrowError, AssertionError):
    """An aggregation breaks a law that it declares; the message has an example.

    Raised by `windrow.testing`. Correct the function that the message names, or do not declare the
    law.
    """


class PlainPythonWarning(UserWarning):
    """An aggregation cannot be compiled and runs as plain Python, which is far slower.

    A warning, and no error: answers are the same. The message says what could not be compiled.
    Write the function with numbers and tuples of numbers, or silence the warning.
    """


class SettingWarning(UserWarning):
    """A setting of Spark's makes a stream slower than it need be.

    A warning, and no error: answers are the same. The message names the setting and the value to
    set. Set it when you build the session, or silence the warning.
    """
