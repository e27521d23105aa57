"""Terms of lectures: each is found by `explain`, leads to the right entry, and is in the documentation."""

import re
import shlex
from pathlib import Path

import pytest

import novikoff as nk
from novikoff.cli.parser import parser
from novikoff.core.errors import SpecError
from novikoff.core.registry import CATALOG
from novikoff.reports import glossary
from novikoff.reports.explanation import theorems

FOUND = {
    "online binary prediction game": "online prediction game",
    "binary prediction": "online prediction game",
    "snow": "snow",
    "feature vector": "feature vector",
    "binary classifier": "hypothesis",
    "hypothesis": "hypothesis",
    "mistake": "mistake",
    "individual sequence prediction": "online prediction game",
    "mistake bound": "mistake bound",
    "halving": "halving",
    "Halving": "halving",
    "the halving algorithm": "halving",
    "experts": "expert",
    "realizability": "realizability",
    "agnostic": "agnostic",
    "version space": "version space",
    "mode": "majority vote",
    "majority vote": "majority vote",
    "perceptron": "perceptron",
    "Perceptron": "perceptron",
    "linear binary classifier": "linear classifier",
    "perpendicular hyperplane": "perpendicular hyperplane",
    "margin": "margin",
    "Novikoff": "Novikoff",
    "potential function": "potential",
    "online convex optimization": "oco",
    "online optimization": "online optimization",
    "papayas": "papaya",
    "papaya": "papaya",
    "rectangle": "rectangles",
    "axis-aligned rectangles": "rectangles",
    "rectangles": "rectangles",
    "domain set": "domain set",
    "prior knowledge": "prior knowledge",
    "mission impossible": "mission impossible",
    "memorize": "memorize",
    "thresholds": "thresholds",
    "threshold": "thresholds",
    "bisection": "bisection",
    "finite class": "hypothesis class",
    "python programs": "python programs",
    "programs": "programs",
    "consistent": "consistent",
    "Consistent learner": "consistent",
    "Halving learner": "halving",
    "runtime": "runtime",
    "efficient halving": "efficient halving",
    "halfspaces": "halfspaces",
    "halfspace": "halfspaces",
    "grid": "grid",
    "ellipsoid": "ellipsoid",
    "Ellipsoid learner": "ellipsoid",
    "volume": "volume",
    "Sylvester": "Sylvester's determinant theorem",
    "bias": "bias",
    "linear classifier": "linear classifier",
    "stream": "stream",
    "dual perceptron": "dual perceptron",
    "dual": "dual perceptron",
    "supports": "support",
    "hinge": "hinge loss",
    "hinge loss": "hinge loss",
    "Block": "Block",
    "SVM": "Block",
    "linearly separable": "linearly separable",
    "best linear classifier": "comparator",
    "budget": "budget",
    "memory bounded": "budget",
    "Crammer Kandola Singer": "cks",
    "cks": "cks",
    "Weston Bordes Bottou": "tighter",
    "tighter": "tighter",
    "Forgetron": "forgetron",
    "forgetron": "forgetron",
    "randomized budget perceptron": "rbp",
    "rbp": "rbp",
    "RBP": "rbp",
    "contraction": "contraction",
    "Wald": "Wald's lemma",
    "random ensemble": "random ensemble",
    "ensemble": "ensemble",
    "risk": "risk",
    "martingale": "martingale",
    "Bernstein": "Bernstein's inequality",
    "online-to-batch": "online-to-batch",
    "online to batch": "online-to-batch",
    "average": "average",
    "Jensen": "Jensen's inequality",
    "homogeneous": "homogeneous",
    "homogenous linear separators": "homogeneous",
    "sgn": "sgn",
    "separable": "linearly separable",
    "cover": "cover",
    "epsilon-cover": "cover",
    "covering number": "covering number",
    "C_gamma": "cover",
    "corollary": "corollary",
    "cover-halving": "cover-halving",
    "discretization": "discretization",
    "distribution shift": "distribution shift",
    "drift": "distribution shift",
    "price": "price",
    "spam": "spam filtering",
    "spam filtering": "spam filtering",
    "protocol": "online prediction game",
    "full history": "full history",
    "batch": "batch",
    "zero-one loss": "zero-one loss",
    "regret": "regret",
    "cumulative loss": "cumulative loss",
    "negative result": "deterministic",
    "deterministic": "deterministic",
    "contrarian": "contrarian",
    "best expert": "best expert",
    "separable assumption": "linearly separable",
    "adaptive conformal prediction": "adaptive conformal prediction",
    "conformal": "conformal",
    "exponential weighting": "exponential-weights",
    "exponential weighting algorithm": "exponential-weights",
    "exponential-weights": "exponential-weights",
    "exponential weights": "exponential-weights",
    "hedge": "hedge",
    "potential": "potential",
    "Hoeffding": "Hoeffding's lemma",
    "OCO": "oco",
    "stochastic bandits": "stochastic bandits",
    "adversarial bandits": "adversarial bandits",
    "bandit": "bandit",
    "bandits": "bandit",
    "EXP3": "exp3-ix",
    "UCB": "stochastic bandits",
}
"""What each term of the five lectures leads to: a name, or an entry of the glossary."""
FRAMES = {"oco": "Online convex optimisation"}
DOCS = Path(__file__).parents[2] / "docs"


def heading(name):
    """The first word or words of an explanation."""
    return FRAMES.get(name, name)


@pytest.mark.parametrize("term", FOUND)
def test_term_of_the_lectures_leads_to_its_entry(term):
    first = nk.explain(term).splitlines()[0]
    assert re.split(r":", first)[0] == heading(FOUND[term])


@pytest.mark.parametrize(("query", "entry"), [
    ("VERSION SPACE", "version space"), ("version-space", "version space"), ("the version space", "version space"),
    ("version spaces", "version space"), ("Follow the Regularized Leader", "ftrl"), ("Perceptron_Margin", None),
])  # fmt: skip
def test_case_hyphens_articles_and_plurals_do_not_matter(query, entry):
    first = nk.explain(query).splitlines()[0]
    assert first.startswith(entry or nk.explain("perceptron_margin").splitlines()[0])


@pytest.mark.parametrize(("query", "entry"), [
    ("tutorial", "getting started"), ("Getting Started", "getting started"), ("save", "save"), ("resume", "save"),
    ("predict_proba", "probability"), ("report", "report"), ("exercises", "lecture notes"), ("accuracy", "accuracy"),
])  # fmt: skip
def test_words_of_the_documentation_lead_to_a_command_and_a_page_that_exists(query, entry):
    term = glossary.find(query)
    assert nk.explain(query).splitlines()[0] == term.name == entry
    assert not term.page or (f"docs/{term.page}" in nk.explain(query) and (DOCS / term.page).is_file())
    assert term.run or entry == "accuracy"


@pytest.mark.parametrize(("query", "near"), [
    ("perceptrn", "perceptron"), ("halvng", "halving"), ("verson space", "version space"), ("nonsense xyz", None),
])  # fmt: skip
def test_unknown_term_suggests_close_ones(query, near):
    with pytest.raises(SpecError, match=f"Did you mean {near}" if near else "`novikoff list` prints all names"):
        nk.explain(query)


def test_registered_learner_hides_a_term_of_its_name(nothing_else_registered):
    class Potential(nk.Constant):
        """Learner with the name of a term."""

    nk.register("potential", Potential)
    assert nk.explain("potential").startswith("potential:")


def test_terms_are_distinct_and_refer_to_names_that_exist():
    words = [glossary.normal(word) for term in glossary.terms() for word in (term.name, *term.also)]
    assert len(words) == len(set(words))
    for term in glossary.terms():
        for name in term.see:
            assert name in CATALOG or name in theorems() or name == "oco", (term.name, name)
        assert term.meaning.endswith(".")


@pytest.mark.parametrize("term", [term for term in glossary.terms() if term.run], ids=lambda term: term.name)
def test_command_of_a_term_is_accepted(term):
    program, *words = shlex.split(term.run)
    assert program == "novikoff"
    parser().parse_args(words)


def test_page_of_the_glossary_is_current_and_has_every_term():
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert page == glossary.page()  # renew it with `make names`
    plain = glossary.normal(page)
    pages = plain + "".join(glossary.normal(file.read_text(encoding="utf-8")) for file in DOCS.glob("learners/*.md"))
    for term, name in FOUND.items():
        assert glossary.normal(term).removesuffix("s") in pages or name in CATALOG, term


def test_list_has_every_name_with_a_line():
    everything = nk.list()
    assert set(everything) == set(CATALOG)
    assert all(everything.values())
    assert set(nk.list("adversary")) == {name for name, entry in CATALOG.items() if entry.room == "adversary"}
    with pytest.raises(SpecError, match="a kind must be one of learner"):
        nk.list("theorem")
