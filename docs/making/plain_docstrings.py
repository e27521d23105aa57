"""For mkdocstrings: our docstrings become Markdown before they are shown."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent.parent))

from making.docstrings import markdown


class PlainDocstrings(griffe.Extension):
    """Every docstring, as making/docstrings.py writes it."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called once for everything that has a docstring."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(inspect.cleandoc(obj.docstring.value), "../")
