"""Tables of a few rows are read by kernels here, as long ones are; test_plain_cells.py compares both ways."""

import pytest

from novikoff.sources import line_chunks


@pytest.fixture(autouse=True, scope="module")
def kernels_read_all_text():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_chunks, "LITTLE", 0)
        yield
