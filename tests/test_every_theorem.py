"""Every theorem: holds on arbitrary streams, is met where it is said to be, violated, void; and cites its own source.

A case is declared in the test file of the theorem, `CASES = {name: Case(...)}` (cases.py): how to play a game that the
theorem covers, which game meets it, how to break who promises it, and how to break what it assumes. What is special to
one theorem (golden values, exact expectations, hostile floats) is in that file too.
"""

import dataclasses
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cases
import samples
from novikoff.core.certificate import DeclaredTheorem
from novikoff.reports.explanation import read_references, theorems

STATUS = (Path(__file__).parents[1] / "docs" / "status.md").read_text()
TIGHT = {name: cells[3] for cells in (line.split(" | ") for line in STATUS.splitlines() if line.startswith("| `"))
         for name in re.findall(r"`(\w+)`", cells[0])}  # fmt: skip
"""What docs/status.md says of each theorem's tightness."""


EVERY = {name: getattr(importlib.import_module(module), name) for name, module in theorems().items()}
CASES = samples.collected("CASES")
every = pytest.mark.parametrize("name", EVERY)


@every
def test_a_theorem_has_a_case(name):
    where = EVERY[name].__module__.replace("novikoff", "tests", 1).replace(".", "/").replace(name, f"test_{name}.py")
    assert name in CASES, f'{name} has no case: add CASES = {{"{name}": Case(...)}} to {where} (tests/cases.py)'


@every
def test_theorem_is_declared_once_with_the_citations_of_its_docstring(name):
    theorem = EVERY[name]
    assert isinstance(theorem, DeclaredTheorem)
    assert (theorem.name, theorem.__module__) == (name, theorems()[name])
    told = importlib.import_module(theorem.__module__).__doc__
    assert re.search(rf"^Theorem \({theorem.side}", told, re.MULTILINE)
    assert f"[{theorem.reference}]" in told[told.index("\nReference") :]
    assert theorem.reference in read_references()


def own(name, found):
    """The certificate, which says what was declared."""
    theorem = EVERY[name]
    assert (found.theorem, found.kind, found.side) == (name, theorem.kind, theorem.side)
    assert found.reference == theorem.reference
    assert theorem.quantity in found.quantity or name in ("online_gradient_regret", "voted_risk")
    return found


@every
@settings(max_examples=10 if settings.default.max_examples < 100 else 100)
@given(data=st.data())
def test_it_holds_on_arbitrary_streams(name, data):
    case = CASES[name]
    found = EVERY[name](case.game(data.draw(case.streams)))
    if found is not None:
        assert own(name, found).status in ("valid", "vacuous", "conditional", "void"), str(found)
        assert found.status != "void" or case.unless in found.reason, str(found)


@every
def test_certificate_is_informative_and_needs_its_comparators(name):
    run = CASES[name].game(CASES[name].sample)
    found = own(name, EVERY[name](run))
    seldom = name == "cks_cache"  # no more than were put in: where nothing had to leave that says nothing
    assert found.status in ("valid", "conditional") or (seldom and found.status == "vacuous"), str(found)
    if getattr(run, "tracked", None) is not None:
        assert EVERY[name](dataclasses.replace(run, tracked=None)) is None


@every
def test_bound_is_met_where_the_status_page_claims_it(name):
    assert name in TIGHT, f"docs/status.md has no row for {name}: run make names"
    said, meets = TIGHT[name], CASES[name].tight
    assert (meets is not None) == said.startswith(("yes", "to ", "for ")), said
    if meets is not None:
        found = own(name, EVERY[name](meets()))
        part = re.match(r"to ([\d.]+) %", said)
        share = float(part[1]) / 100 if part else 1.0 - 1e-7
        assert found.status != "violated"
        least, most = sorted((found.observed, found.bound))
        assert share * most <= least, str(found)


@every
def test_exceeded_bound_is_detected(name):
    cheat = CASES[name].broken
    assert (cheat is not None) == (EVERY[name].kind == "D")
    if cheat is not None:
        found = own(name, EVERY[name](cheat()))
        assert found.status == "violated", str(found)


@every
def test_it_is_void_where_an_assumption_fails(name):
    needed = own(name, EVERY[name](CASES[name].game(CASES[name].sample))).assumptions
    assert CASES[name].void or not needed, "test each broken assumption: CASES has none with status void"
    for run, why in CASES[name].void:
        found = own(name, EVERY[name](run()))
        assert (found.status, found.bound) == ("void", None), str(found)
        assert why in found.reason


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.streams is cases.TABLES])
def test_against_one_expert_there_is_nothing_to_lose(name):
    found = EVERY[name](CASES[name].game(np.full((10, 1), 0.25)))
    if name in ("observable_regret", "ix_regret", "tsallis_regret", "ix_pathwise", "tsallis_pathwise"):
        assert found.observed <= found.bound
    elif name == "drawn_loss":
        assert found.observed == 2.5 < found.bound
    else:
        least = 2.5 if name == "small_losses" else 0.0
        assert found.status == "valid"
        assert abs(found.observed - least) < 1e-15
        assert least <= found.bound < least + 1e-8
