"""Pages of the catalogue: every learner, adversary, class and stream, from its docstring.

Pages of learners also have when to use it, a picture, its parameters, and the program that played the picture.
"""

from __future__ import annotations

import inspect
import io
import re
from contextlib import redirect_stdout
from functools import cache
from typing import Any

import novikoff as nk
from making.docstrings import escape, markdown, paragraph
from making.uses import WHEN
from novikoff.core.registry import CATALOG, Entry, for_multiclass
from novikoff.game import specs
from novikoff.reports import page, summary

TABLE = "demo:breast-cancer"
LOSSES, ARMS = "stream:random-losses:experts=10,rounds=1000", "stream:bandit-losses:gap=0.1,rounds=20000"
PLAYED = {
    "consistent": ("consistent:[programs:bits=16]", "demo:iris"),
    "halving": ("halving:[programs:bits=20],prior=length", "demo:iris"),
    "threshold-halving": ("threshold-halving:n=1000000", "demo:thresholds"),
    "rectangle-halving": ("rectangle-halving:m=101", "demo:papayas"),
    "history": ("history:LogisticRegression,scale=standard", TABLE),
    "memorizer": ("memorizer", "demo:program"),
    "tightest-box": ("tightest-box:m=101", "demo:papayas"),
    "perceptron": ("perceptron:bias=1,scale=standard", TABLE),
    "ellipsoid": ("ellipsoid:bias=1,scale=standard", TABLE),
    "cover-halving": ("cover-halving", "stream:separable:width=3,margin=0.1,rounds=1000"),
    "scaled": ("scaled:[perceptron:bias=1],standard", TABLE),
    "conformal": ("conformal:[logistic],alpha=0.1", TABLE),
    "weighted-majority": ("weighted-majority:[programs:bits=16]", TABLE),
    "randomized-weighted-majority": ("randomized-weighted-majority:experts=10,loss=table", LOSSES),
    "exponential-weights": ("exponential-weights:experts=10,loss=table,horizon=1000", LOSSES),
    "ada-hedge": ("ada-hedge:experts=10,loss=table", LOSSES),
    "fixed-share": ("fixed-share:experts=10,switches=3,horizon=1000,loss=table", LOSSES),
    "sleeping-experts": ("sleeping-experts:experts=10,loss=table", LOSSES),
    "hedge": ("hedge:learners=[[perceptron:bias=1],[rbp:budget=100,gamma=0.001]]", TABLE),
    "specialists": ("specialists:[logistic]", "stream:drifting"),
    "exp3-ix": ("exp3-ix:arms=10", ARMS),
    "tsallis-inf": ("tsallis-inf:arms=10", ARMS),
    "exp4": ("exp4:arms=10,experts=10", "advice"),
    "ucb1": ("ucb1:arms=10", ARMS),
    "thompson": ("thompson:arms=10", ARMS),
    "explore-then-commit": ("explore-then-commit:arms=10,each=50", ARMS),
    "auto-regression": ("auto-regression", "diabetes"),
    "tree-regression": ("tree-regression", "diabetes"),
    "forest-regression": ("forest-regression", "diabetes"),
    "vaw": ("vaw", "diabetes"),
    "online-gradient": ("online-gradient:normalize=true,bias=1,scale=standard", "diabetes"),
    "midpoint": ("midpoint", "adversary:bisection"),
    "kernel-perceptron": ("kernel-perceptron:gamma=0.001", TABLE),
    "rbp": ("rbp:budget=100,gamma=0.001", TABLE),
    "forgetron": ("forgetron:budget=100,gamma=0.001", TABLE),
    "cks": ("cks:budget=100,gamma=0.001", TABLE),
    "tighter": ("tighter:budget=100,gamma=0.001", TABLE),
}
"""Spec and source of the picture, if not the default learner on a table of 569 tumours, or of patients for regression.

A learner that is not listed and does not play that table has no picture.
"""

PRINTED = "print(game)\nfor certificate in game.certify():\n    print(certificate)\n"
"""Last lines of the program of a learner."""
ROOMS = {"learner": "learners", "adversary": "adversaries", "class": "classes", "stream": "streams"}
HEADING = "## {}".format
DESCRIPTIONS = {
    TABLE: "569 tumours with 30 measurements each, in a fixed random order",
    "diabetes": "scikit-learn's diabetes data: 442 patients, regression",
    "advice": "ten arms with random losses, and ten experts, each with a fixed arm",
}


def pages() -> dict[str, str]:
    """Return the pages by path."""
    made = {f"{ROOMS[one.room]}/{name}.md": _page(name, one) for name, one in CATALOG.items() if one.room in ROOMS}
    for room in ("adversary", "class", "stream"):
        made[f"{ROOMS[room]}/index.md"] = _index(room)
    return made


def _page(name: str, one: Entry) -> str:
    """Return the page of one entry: arguments, picture, docstring, theorems."""
    arguments = one.arguments()
    parts = [f"# {name}", f"`{name}:{arguments}`" if arguments else f"`{name}`"]
    if one.room == "learner":
        parts += [f"**When to use it.** {paragraph(WHEN[name], '../')}", _picture(name)]
    parts += [markdown(one.doc(), "../", HEADING)]
    if one.room == "learner":
        parts += [_parameters(one), _example(name)]
    if promised := [theorem.name for theorem in getattr(one.load(), "promises", ())]:
        parts += ["## Theorems", _theorems(promised)]
    if one.room == "learner" and (many := for_multiclass(name)) is not None:
        parts += ["## Multiclass", markdown(many.doc(), "../", "### {}".format)]
        parts += [_theorems([theorem.name for theorem in many.load().promises])]  # type: ignore[attr-defined]
    where = "novikoff" if one.room in ("learner", "stream") else f"novikoff.{ROOMS[one.room]}"
    parts += [f"In Python: `{where}.{one.attribute}`. In a terminal: `novikoff explain {name}`."]
    return "\n\n".join(part for part in parts if part) + "\n"


def _parameters(one: Entry) -> str:
    """Return the table of parameters, with the meanings that the docstring of the class gives; "" if there are none."""
    listed = [part.partition("=") for part in re.split(r", (?=[a-z_]+(?:=|,|$))", one.arguments()) if part]
    found = re.search(r"^Args:\n((?:    .*\n?|\n)+)", inspect.getdoc(one.load()) or "", re.MULTILINE)
    meanings = dict(re.findall(r"^    (\w+): (.*(?:\n        .*)*)", found[1], re.MULTILINE)) if found else {}
    rows = [f"| `{name}` | {f'`{default}`' if default else 'required'} | {_cell(meanings[name])} |"
            for name, _, default in listed]  # fmt: skip
    return "\n".join(["## Parameters\n", "| name | default | meaning |", "|---|---|---|", *rows]) if rows else ""


def _cell(text: str) -> str:
    return paragraph(" ".join(text.split()), "../").replace("|", "\\|")


def _theorems(names: list[str]) -> str:
    return "\n".join(f"- [{escape(name)}](../theorems/{name}.md)" for name in names)


def _picture(name: str) -> str:
    """Return a picture of the learner's loss on a stream and of its bound; "" if there is no stream for it."""
    if (played := _played(name)) is None:
        return ""
    spec, source, ledger, _, _ = played
    certificates = ledger.certify()
    drawn = page.pictures(ledger, certificates)[0]
    described = escape(DESCRIPTIONS.get(source, "")) or f"`{source.removeprefix('adversary:')}`"
    lead = escape(summary.lead(ledger, certificates)).rstrip(".")
    if certificates and "guarantee" not in lead:  # no certificate is valid: give the first with its reason
        lead += f". {escape(str(certificates[0]))}"
    return f'<div class="curve">{drawn}</div>\n\n*`{spec}` on {described}: {lead}.*'


def _example(name: str) -> str:
    """Return the program that played the picture, and what it printed; "" without a picture."""
    if (played := _played(name)) is None:
        return ""
    *_, code, printed = played
    return f"## Example\n\n```python\n{code}```\n\n```text\n{printed}```"


@cache
def _played(name: str) -> tuple[str, str, Any, str, str] | None:
    """Return spec, source, ledger, program and output of the game of the picture; None if there is no stream for it."""
    default = "diabetes" if specs.task(specs.parse(name)) == "regression" else TABLE
    spec, source = PLAYED.get(name, (name, default))
    code = f"{_imports(source)}import novikoff as nk\n\n{_game(spec, source)}{PRINTED}"
    printed, scope = io.StringIO(), dict[str, Any]()
    try:
        with redirect_stdout(printed):
            exec(code, scope)  # as the reader would
    except nk.NovikoffError:
        if name in PLAYED:
            raise
        return None
    return spec, source, scope["game"], code, printed.getvalue()


def _imports(source: str) -> str:
    return {"diabetes": "from sklearn.datasets import load_diabetes\n\n", "advice": "import numpy as np\n\n"}.get(
        source, ""
    )


def _game(spec: str, source: str) -> str:
    """Return the lines of a program that play the game."""
    if source == "diabetes":
        return f'data = load_diabetes()\ngame = nk.play("{spec}", nk.RegressionArrays(data.data, data.target))\n'
    if source == "advice":
        return (
            f'bandit = nk.Game(nk.make("{spec}", "learner"))\n'
            "for batch in nk.synthetic.bandit_losses(gap=0.1, rounds=5000).batches():\n"
            "    for losses in batch.y:\n"
            "        arm = bandit.predict_one(np.arange(10))  # the arm that each expert advises\n"
            "        bandit.learn_one(np.arange(10), losses[arm])\ngame = bandit.ledger\n"
        )
    room, _, made = source.partition(":")
    if room == "adversary":
        return f'game = nk.play("{spec}", nk.make("{made}", "adversary"), rounds=60)\n'
    if room == "stream":
        return f'game = nk.play("{spec}", nk.make("{made}", "stream"))\n'
    return f'game = nk.play("{spec}", "{source}")\n'


def _index(room: str) -> str:
    """Return the index of a room, one line per entry."""
    leads = {
        "adversary": "Opponents that force mistakes, which proves lower bounds: `novikoff duel LEARNER ADVERSARY`.",
        "class": "Finite sets of hypotheses, for [halving](../learners/halving.md) and its relatives.",
        "stream": "Synthetic streams, generated from a seed: `novikoff run LEARNER stream:NAME:key=value,…`.",
    }
    listed = [f"- [{name}]({name}.md): {escape(one.summary())}" for name, one in CATALOG.items() if one.room == room]
    return "\n\n".join([f"# {ROOMS[room].capitalize()}", leads[room], "\n".join(listed)]) + "\n"
