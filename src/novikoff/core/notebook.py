"""Shown: results that a notebook shows as a page. The reports are far above; they are found when a notebook asks."""

from __future__ import annotations

from importlib import import_module


class Shown:
    """Has a `_repr_html_`, made by reports/page.py."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        made: str = import_module("novikoff.reports.page").fragment(self)
        return made
