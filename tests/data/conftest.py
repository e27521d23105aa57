"""Texts in tests are short: without this, Python would read them, and no kernel would be tested."""

import pytest

from novikoff.data.formats import lines


@pytest.fixture(autouse=True, scope="module")
def kernels_read_all_text():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LITTLE", 0)
        yield
