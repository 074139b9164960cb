"""What windrow raises: every error derives from `WindrowError` and names the argument at fault."""


class WindrowError(Exception):
    """Base class of every error that windrow raises on purpose."""


class InvalidArgument(WindrowError, ValueError):
    """An argument of a call cannot be right; the message names it and says what would be."""


class InvalidAggregation(WindrowError, TypeError):
    """The functions given for an aggregation do not fit together."""


class NotApplicable(WindrowError, TypeError):
    """An algorithm was asked for by name with an aggregation that it cannot serve."""


class EmptyWindow(WindrowError, IndexError):
    """More events were asked for, or were to leave, than the window holds."""


class AggregateOverflow(WindrowError, OverflowError):
    """An integer aggregate left the range of 64-bit integers."""


class DivisionByZero(WindrowError, ZeroDivisionError):
    """A function of an aggregation divided by zero; the message names the aggregation."""


class StoreError(WindrowError, OSError):
    """A store failed, or holds what cannot be right; the message names the store and the key."""


class IncompatibleState(WindrowError, ValueError):
    """The state of a stream's checkpoint was written by another query or another windrow."""


class LawViolation(WindrowError, AssertionError):
    """An aggregation broke a law that it declares; the message holds the example."""


class PlainPythonWarning(UserWarning):
    """An aggregation could not be compiled and runs as plain Python, far slower."""
