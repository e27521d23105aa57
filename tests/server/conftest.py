import pytest

from novikoff.server import inspection
from serving import opened


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """Files are opened without the start of another process, which takes a second."""
    monkeypatch.setattr(inspection, "in_child", inspection.done)


@pytest.fixture
def client(tmp_path):
    with opened(tmp_path) as one:
        yield one
