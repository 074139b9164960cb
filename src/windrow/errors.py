"""The errors that windrow raises. All derive from `WindrowError` and name the argument at fault."""


class WindrowError(Exception):
    """Base class of every error that windrow raises on purpose."""


class InvalidArgument(WindrowError, ValueError):
    """An argument of a call is wrong; the message names it and says what would be right."""


class InvalidAggregation(WindrowError, TypeError):
    """The functions given for an aggregation do not fit together."""


class NotApplicable(WindrowError, TypeError):
    """The algorithm that a call names cannot serve the aggregation."""


class EmptyWindow(WindrowError, IndexError):
    """A call evicts or queries more events than the window holds."""


class AggregateOverflow(WindrowError, OverflowError):
    """An integer of an aggregate or a condition does not fit into 64 bits."""


class DivisionByZero(WindrowError, ZeroDivisionError):
    """A function of an aggregation divided by zero; the message names the aggregation."""


class StoreError(WindrowError, OSError):
    """A store failed, or holds damaged data; the message names the store and the key."""


class IncompatibleState(WindrowError, ValueError):
    """Another query, or another version of windrow, wrote the state of a stream's checkpoint."""


class LawViolation(WindrowError, AssertionError):
    """An aggregation breaks a law that it declares; the message has an example."""


class PlainPythonWarning(UserWarning):
    """An aggregation cannot be compiled and runs as plain Python, which is far slower."""
