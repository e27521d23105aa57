"""Extension of griffe that prepares docstrings for mkdocstrings.

Google sections are left to mkdocstrings; other docstrings are converted by making/docstrings.py.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent.parent))

from making.docstrings import markdown

GOOGLE = re.compile(r"^(Args|Attributes|Example|Examples|Guarantee|Note|Raises|Returns|Yields):$", re.MULTILINE)
"""Title of a Google section."""
CODE = re.compile(r"(`[^`]*`|^ *(?:>>>|\.\.\.) .*$)", re.MULTILINE)
"""Code in a docstring: between backquotes, or a line of a doctest."""


class PlainDocstrings(griffe.Extension):
    """Converter of every docstring to Markdown that shows its characters as they are."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of one object."""
        if obj.docstring is not None:
            text = inspect.cleandoc(obj.docstring.value)
            obj.docstring.value = _google(text) if GOOGLE.search(text) else markdown(text, "../")


def _google(text: str) -> str:
    """Return the text as griffe's Google parser needs it.

    Its section of doctests is "Examples", and `<` outside code becomes an entity: <w, x> is a product, not a tag.
    """
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.MULTILINE)
    return "".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(CODE.split(text)))
