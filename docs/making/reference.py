"""Pages of the reference: every public name with its types, and every command."""

from __future__ import annotations

import os
from typing import Any
from unittest.mock import patch

import novikoff as nk
from novikoff.cli.parser import parser
from novikoff.core.registry import CATALOG, MANY

PAGES = {
    "play": ("Playing and judging", "Games, ledgers, certificates and models."),
    "learners": ("Learners", "Algorithms and guarantees are in [the catalogue](../learners/index.md)."),
    "sources": ("Sources and types", "Readers, streams, and the types that learners and streams share."),
    "rooms": ("Adversaries, classes, tests", "Subpackages with their own namespace."),
    "elsewhere": ("scikit-learn, River, the client", "Modules that are imported separately and may need an extra."),
}
ROOMS = ("adversaries", "classes", "testing")
ELSEWHERE = {
    "integrations.sklearn.classifier": ["NovikoffClassifier"],
    "integrations.sklearn.regressor": ["NovikoffRegressor"],
    "integrations.sklearn.named": [
        "AROWClassifier", "AdaGradClassifier", "AdaGradRegressor", "AutoClassifier", "AutoRegressor",
        "CrammerKandolaSingerClassifier", "EllipsoidClassifier", "FTRLClassifier", "ForestClassifier",
        "ForestRegressor", "ForgetronClassifier", "KernelPerceptronClassifier", "LinearMixtureClassifier",
        "LinearMixtureRegressor", "LogisticClassifier", "OnlineGradientRegressor", "PerceptronClassifier",
        "RandomizedBudgetPerceptronClassifier", "SecondOrderPerceptronClassifier", "TighterPerceptronClassifier",
        "TreeClassifier", "TreeRegressor", "VAWRegressor",
    ],
    "integrations.river": ["NovikoffClassifier", "NovikoffRegressor"],
    "server.client": ["Client", "Model", "AsyncClient", "AsyncModel", "ServiceError"],
}  # fmt: skip
NAMES = {entry.attribute: name for name, entry in CATALOG.items() if entry.room == "learner"}
FOR_MANY = {entry.attribute for entry in MANY.values()}


def pages() -> dict[str, str]:
    """Return the pages by path."""
    listed: dict[str, list[str]] = {page: [] for page in PAGES}
    for name, home in sorted(nk._HOMES.items(), key=lambda one: one[0].lower()):
        listed[_page_of(home, name)] += [_entry(f"novikoff.{home}.{name}", f"novikoff.{name}", name)]
    for room in ROOMS:
        module = getattr(nk, room)
        for name in module.__all__:
            listed["rooms"] += [_entry(_home(getattr(module, name), room, name), f"novikoff.{room}.{name}", name)]
    for home, names in ELSEWHERE.items():
        public = "novikoff." + ("integrations.sklearn" if "sklearn" in home else home)
        listed["elsewhere"] += [_entry(f"novikoff.{home}.{name}", f"{public}.{name}", name) for name in names]
    made = {
        f"api/{page}.md": "\n\n".join([f"# {title}", told, *listed[page]]) + "\n"
        for page, (title, told) in PAGES.items()
    }
    return {**made, "api/index.md": _index(), "command-line.md": command_line()}


def _home(value: Any, room: str, name: str) -> str:
    """Return the path of the definition."""
    if getattr(value, "__module__", "").startswith("novikoff.") and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return f"novikoff.{room}.{name}"


def _page_of(home: str, name: str) -> str:
    if name in NAMES or name in FOR_MANY:
        return "learners"
    sources = home.startswith("data.") or home in ("core.stream", "core.types", "kernel.kernels")
    return "sources" if sources else "play"


def _entry(place: str, public: str, name: str) -> str:
    told = f"\n\nPage in the catalogue: [{NAMES[name]}](../learners/{NAMES[name]}.md)." if name in NAMES else ""
    return f"::: {place}\n    options:\n      heading: {public}\n      toc_label: {name}{told}"


def _index() -> str:
    lead = "Every public name of `import novikoff as nk`, with its types. Names are imported on first use."
    listed = [f"- [{title}]({page}.md): {told}" for page, (title, told) in PAGES.items()]
    return "\n\n".join(["# API reference", lead, "\n".join(listed)]) + "\n"


def command_line() -> str:
    """Return the page with the `--help` of every command."""
    with patch.dict(os.environ, COLUMNS="100", NO_COLOR="1"):
        whole = parser()
        verbs = next(action.choices for action in whole._actions if action.dest == "==SUPPRESS==" or action.choices)
        parts = [f"## {name}\n\n```text\n{one.format_help().rstrip()}\n```" for name, one in dict(verbs or {}).items()]
    lead = "Output of `novikoff --help` and `novikoff COMMAND --help`."
    return "\n\n".join(["# Command line", lead, f"```text\n{whole.format_help().rstrip()}\n```", *parts]) + "\n"
