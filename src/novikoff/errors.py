"""The exceptions, one tree.

    NovikoffError
    ├── InputError          an example or a label that the learner cannot take
    │   └── SourceError     a file or stream that cannot be read as asked
    ├── SpecError           a name or option that the catalog does not know
    ├── MismatchError       a learner and an environment that do not fit together
    ├── TooLargeError       a class that will not fit in memory
    └── ModelFileError      a model file that is not one of ours

Every message has the form *what must be: what was, where. What to do.*
"""

from fractions import Fraction

LONGEST = 200
"""Characters of what was given that a message shows."""


class NovikoffError(Exception):
    """Whatever novikoff raises on purpose."""


class InputError(NovikoffError, ValueError):
    """An example or a label that the learner cannot take; the learner is as it was."""


class SourceError(InputError):
    """A file or stream that cannot be read as asked."""


class SpecError(NovikoffError, ValueError):
    """A name or option that the catalog does not know."""


class MismatchError(NovikoffError, TypeError):
    """A learner and an environment that do not fit together."""


class TooLargeError(NovikoffError, ValueError):
    """A hypothesis class that will not fit in memory."""


class ModelFileError(NovikoffError, ValueError):
    """A model file that is not one of ours, or is damaged."""


def whole(n: int) -> str:
    """A whole number for a message; one of hundreds of digits by its length (Python refuses to print 5,000)."""
    return f"{n:,}" if n.bit_length() < 1000 else f"about {'-' if n < 0 else ''}2^{n.bit_length() - 1}"


def brief(value: int | float | Fraction, most_bits: int = 1000) -> str:
    """A number as it is written in code; a whole number or Fraction of more bits by its length."""
    if isinstance(value, float):
        return str(value)
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if bits <= most_bits else f"a number of {bits:,} bits"


def shown(value: object) -> str:
    """Whatever was given, for a message: cut short, and also where Python refuses to print it."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return brief(value)
    try:
        text = repr(value)
    except Exception:  # a list with a whole number of 5,000 digits, say
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
