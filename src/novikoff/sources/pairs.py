"""Any iterable of (x, y) as a stream, played pair by pair: it may be endless, and x may be any object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from novikoff.errors import InputError, SourceError
from novikoff.types import Batch, Domain, Example, Labels, check_label


class Pairs:
    """Pairs (x, y). `labels` says which two values stand for -1 and +1; without it y is -1 or +1 already."""

    def __init__(
        self,
        pairs: Iterable[tuple[Example, Any]],
        domain: Domain | None = None,
        labels: Labels | None = None,
        many: int | None = None,
        name: str = "pairs",
    ) -> None:
        self._pairs = pairs
        self._many = many
        self.name = name
        self.domain = domain or Domain("any")
        self.labels = labels or (Labels() if many is None else None)
        self.rereadable = iter(pairs) is not pairs

    def batches(self) -> Iterator[Batch]:
        dtype = np.int8 if self._many is None else np.int32
        t = 0
        for t, pair in enumerate(self._pairs, start=1):
            try:
                x, y = pair
            except (TypeError, ValueError):
                raise SourceError(f"each item must be a pair (x, y): item {t} of {self.name} is {pair!r}.") from None
            try:
                label = check_label(y, self._many) if self._many or self.labels == Labels() else self._encode(y)
            except InputError as error:
                raise SourceError(f"item {t} of {self.name}: {error}") from None
            yield Batch([x], np.array([label], dtype=dtype), t)
        if t == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no items.")

    def _encode(self, y: Any) -> int:
        assert self.labels is not None
        return self.labels.encode(y)
