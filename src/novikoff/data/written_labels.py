"""Labels as they are written in cells, as -1 and +1: numbers or text, true and false.

Rule
    Spaces around a label are no part of it. Numbers if the first is one and no early cell is a word: then all must be,
    below 2^53. Else text. Where the first are true or false, all must be, and they stay booleans. What they stand for
    is decided by streaming_labels.py.
Use
    Each value once, as text, and which of them each row has (-1: nothing is written there).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, Option, SourceError, quoted
from novikoff.core.labels import are_numbers
from novikoff.core.types import Labels
from novikoff.data.layout import BOOLEANS, is_number
from novikoff.data.streaming_labels import StreamingLabels, shown

TRUTH = {"true": "true", "1": "true", "1.0": "true", "false": "false", "0": "false", "0.0": "false"}
EXACT = 2.0**53
MOST_NAMED = 10
"""Labels that a message names."""


class WrittenLabels:
    """What the labels of a column stand for.

    column     its name or number, for messages
    first      what is said in its first cells: text, or values
    positive   the label that is +1, against all others
    many       how many labels there are, if none is positive: whole numbers from 0 to many-1; True: any, numbered
    """

    def __init__(self, column: str | int, first: Iterable[Any], positive: Any = None, many: int | None = None) -> None:
        given = list(first)
        said = [cell.strip() if isinstance(cell, str) else cell for cell in given]
        self.spaced = next((cell for cell, bare in zip(given, said, strict=True) if cell != bare), None)
        self.worded = any(isinstance(cell, str) and not is_number(cell) for cell in said)
        self.booleans = bool(said) and all(isinstance(cell, bool) for cell in said)
        self._column = column
        if self.booleans and many is None:
            positive = TRUTH.get("true" if positive is None else str(positive).lower(), positive)
        elif isinstance(positive, str) and is_number(positive) and not self.worded:
            positive = float(positive)
        self._given = positive, many if positive is None else None
        seen = {str(cell) if self.worded or not is_number(str(cell)) else float(cell) for cell in said}
        self._seen = seen
        self._several = positive is None and many is None and len(seen) > 2
        self.numbers = not (self.worded or self.booleans) and are_numbers({one for one in seen if type(one) is float})
        self.begin()

    @property
    def met(self) -> str:
        """The labels of the first cells, in words."""
        seen = sorted(self._seen, key=lambda label: (isinstance(label, str), label))
        return ", ".join(map(shown, seen[:MOST_NAMED])) + (", ..." if len(seen) > MOST_NAMED else "")

    @property
    def mistaken(self) -> bool:
        """Were there two labels besides the positive one, or one that differs from it in case only?"""
        positive = str(self._given[0]).strip().lower()
        return len(self._seen) > 1 or any(str(label).lower() == positive for label in self._seen)

    @property
    def several(self) -> bool:
        """Do the first cells show three labels or more, which are not numbers to be predicted?"""
        return self._several and not self.numbers

    @property
    def many(self) -> bool:
        """Are they numbered in the order in which they first come?"""
        return self._given[1] is True

    def show_many(self) -> None:
        """Let them be."""
        self._given = None, True
        self.begin()

    def begin(self, expected: Labels | None = None, state: dict[str, Any] | None = None) -> None:
        """A fresh pass, or one that goes on where `state` was taken.

        expected   what values stood for before: a lone one of them stands for it again
        """
        self.known = StreamingLabels(*self._given)
        self.known.expected = expected
        self._texts = True if self.worded else None  # labels that come later may be the first that are text
        if state is not None:
            self.known.load(state["labels"])
            self._texts = state["texts"]

    def state(self) -> dict[str, Any]:
        """What is known, as JSON values."""
        return {"labels": self.known.state(), "texts": self._texts}

    @property
    def labels(self) -> Labels | None:
        """What stands for -1 and +1; None before it is known, and with `many`."""
        found = self.known.labels
        positive = BOOLEANS.get(str(found.positive)) if found is not None and self.booleans else None
        return found if positive is None else Labels(not positive, positive)

    @property
    def label_values(self) -> list[Any] | None:
        """What numbered labels stand for, so far; None if they are not numbered."""
        found = self.known.label_values
        return found if found is None or not self.booleans else [BOOLEANS[value] for value in found]

    def look(self, texts: Sequence[str], codes: NDArray[np.int64]) -> None:
        """Take note of labels that will be encoded later. Raises `SourceError` as `encode` does."""
        values = self._values(texts, codes)
        if self.known.settled:
            self.known.encode(values)
        self.known.look(values)

    def encode(self, texts: Sequence[str], codes: NDArray[np.int64]) -> NDArray[Any]:
        """The labels of the rows: -1/+1, or whole numbers with `many`. Raises `SourceError`, with the row, from 0."""
        try:
            return np.take(self.known.encode(self._values(texts, codes)), codes)
        except LabelError as error:
            error.where["row"] = int(np.argmax(codes == error.where["row"]))
            raise error.at(column=self._column) from None

    def _values(self, texts: Sequence[str], codes: NDArray[np.int64]) -> NDArray[Any]:
        """The labels as numbers or as text, all of one kind."""
        if (codes < 0).any():
            raise self._bad(codes, -1, "labels must not be missing", "is empty", "Fill or drop the row.")
        if self._texts is None and len(texts):
            self._texts = not is_number(texts[int(codes[0])])
        if not self._texts:
            for code, text in enumerate(texts):
                if not is_number(text):
                    do = Advice("Correct the cell, or pass ", Option("positive", letter="VALUE"), ".")
                    raise self._bad(codes, code, "labels must be numbers, as the first is", f"has {quoted(text)}", do)
            numbers = np.array([float(text) for text in texts])
            if not (np.abs(numbers) < EXACT).all():  # two labels must not become one
                code = int(np.argmin(np.abs(numbers) < EXACT))
                raise self._bad(codes, code, "labels must be below 2^53", f"has {quoted(texts[code])}")
            return numbers
        other = next((code for code, text in enumerate(texts) if text not in BOOLEANS), None) if self.booleans else None
        if other is not None:
            must = "labels must be true or false, as the first is"
            raise self._bad(codes, other, must, f"has {quoted(texts[other])}")
        column = np.empty(len(texts), dtype=object)
        column[:] = texts
        return column

    def _bad(
        self, codes: NDArray[np.int64], code: int, must: str, was: str, do: str = "Clean or drop the row."
    ) -> SourceError:  # fmt: skip
        return SourceError(must, was, do, row=int(np.argmax(codes == code)), column=self._column)
