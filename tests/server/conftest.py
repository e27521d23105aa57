import pytest

from serving import opened


@pytest.fixture
def client(tmp_path):
    with opened(tmp_path) as one:
        yield one
