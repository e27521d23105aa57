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
    return f"{n:,}" if n.bit_length() < 1000 else f"about 2^{n.bit_length() - 1}"
