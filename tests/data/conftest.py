"""Texts in tests are short: without this, Python would read them, and no kernel would be tested."""

import pytest

from novikoff.data.formats import line_chunks


@pytest.fixture(autouse=True, scope="module")
def kernels_read_all_text():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_chunks, "LITTLE", 0)
        yield
