"""The search of the built site: every term of the lectures is in the title of a section."""

import json
import re
from pathlib import Path

import pytest

from reports.test_glossary import FOUND

INDEX = Path(__file__).parents[1] / "site/search/search_index.json"

pytestmark = pytest.mark.skipif(not INDEX.exists(), reason="needs make docs")


def sections():
    return json.loads(INDEX.read_text(encoding="utf-8"))["docs"]


@pytest.mark.parametrize("term", FOUND)
def test_term_is_in_the_title_of_a_section(term):
    words = [word.rstrip("s") for word in re.split("[ -]", term.lower()) if word not in ("the", "learner", "algorithm")]
    by_name = term in ("Weston Bordes Bottou", "axis-aligned rectangles")  # in texts, not in titles
    titles = [(one["title"] + one["text"] * by_name).lower().replace("-", " ") for one in sections()]
    assert any(all(word in title for word in words) for title in titles), term


@pytest.mark.parametrize(
    ("term", "place"),
    [
        ("multiclass", "glossary.html#term-multiclass"),
        ("papaya", "glossary.html#term-papaya"),
        ("margin", "glossary.html#term-margin"),
        ("getting started", "start.html"),
        ("tutorial", "tutorial.html"),
        ("save", "glossary.html#term-save"),
        ("probability", "glossary.html#term-probability"),
        ("rectangles", "classes/rectangles.html"),
    ],
)
def test_page_that_a_reader_expects_weighs_most(term, place):
    weights = {one["location"]: one.get("boost", 1.0) for one in sections() if term in one["title"].lower()}
    assert weights[place] == max(weights.values())


def test_inner_products_are_in_the_text_of_the_site():
    margin = next(one["text"] for one in sections() if one["location"] == "glossary.html#term-margin")
    assert "y&lt;u,x&gt;" in margin


def test_decisions_are_not_found():
    assert not [one["location"] for one in sections() if one["location"].startswith("decisions/")]
