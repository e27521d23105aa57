"""Where rows of a table end, in text with quoted cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled

QUOTE, NEWLINE, RETURN = 34, 10, 13


@compiled
def last_row_end(text: NDArray[np.uint8], delimiter: int) -> int:
    """One behind the last new line that is not within quotes; 0 if there is none. The text begins with a row.

    A quote opens at the beginning of a cell only; two within quotes are one, and do not close.
    """
    last = 0
    begins = True
    within = False
    i = 0
    while i < len(text):
        c = text[i]
        if within:
            if c == QUOTE:
                if i + 1 < len(text) and text[i + 1] == QUOTE:
                    i += 1
                else:
                    within = False
        elif c == QUOTE and begins:
            within = True
            begins = False
        elif c == NEWLINE:
            last = i + 1
            begins = True
        else:
            begins = c in (delimiter, RETURN)
        i += 1
    return last
