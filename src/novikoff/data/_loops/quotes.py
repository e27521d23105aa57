"""Row ends of a table in text with quoted cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled

QUOTE, NEWLINE, RETURN = 34, 10, 13


@compiled
def last_row_end(text: NDArray[np.uint8], delimiter: int) -> int:
    """Return the position after the last new line outside quotes; 0 if there is none.

    A quote opens only at the start of a cell; a doubled quote inside quotes does not close them.

    Args:
        text: (bytes,) text that starts with a row.
        delimiter: Byte between cells.
    """
    last = 0
    begins = True  # whether a cell starts here
    within = False  # whether this is inside quotes
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
