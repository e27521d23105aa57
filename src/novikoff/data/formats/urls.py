"""Files that fsspec opens by their URL: s3://, gs://, memory://, file:// and whatever else is installed.

fsspec is an extra (`pip install "novikoff[urls]"`), and so is what it needs for one kind of storage, as s3fs for s3://.
"""

from __future__ import annotations

import io
from typing import Any

from novikoff.core.errors import SourceError


def is_url(source: Any) -> bool:
    """Is it text of the form scheme://place?"""
    return isinstance(source, str) and "://" in source and source.partition("://")[0].isalnum()


def open_url(url: str) -> Any:
    """The bytes, as a file that can seek, apart from every other one of the same URL."""
    try:
        file = system(url).open(_path(url), "rb")
    except SourceError:
        raise
    except Exception as error:  # each kind of storage has errors of its own
        raise _unreadable(url, error) from None
    return io.BytesIO(file.getvalue()) if isinstance(file, io.BytesIO) else file  # memory:// gives one to all


def mark(url: str) -> dict[str, Any]:
    """By what the file is known again: its size, and what the storage says of it, such as its time of change."""
    try:
        there = system(url)
        return {"size": int(there.size(_path(url)) or 0), "mark": str(there.ukey(_path(url)))}
    except SourceError:
        raise
    except Exception as error:
        raise _unreadable(url, error) from None


def matching(pattern: str) -> list[str]:
    """The URLs that match, in their order."""
    try:
        there = system(pattern)
        return sorted(there.unstrip_protocol(path) for path in there.glob(_path(pattern)))
    except SourceError:
        raise
    except Exception as error:
        raise _unreadable(pattern, error) from None


def system(url: str) -> Any:
    """The file system that a URL is of."""
    try:
        import fsspec
    except ImportError:
        raise SourceError(f'URLs are opened by fsspec: got {url}. Install it: pip install "novikoff[urls]".') from None
    try:
        return fsspec.core.url_to_fs(url)[0]
    except (ImportError, ValueError) as error:
        raise _unreadable(url, error) from None


def _path(url: str) -> str:
    import fsspec

    path: str = fsspec.core.url_to_fs(url)[1]
    return path


def _unreadable(url: str, error: Exception) -> SourceError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return SourceError(f"a source must be readable: {url} is not ({reason}). Check the URL, and that you may read it.")
