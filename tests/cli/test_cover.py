"""`run --cover` and `predict` of what it saved: sets, told and printed."""

import json
import re

import numpy as np
import pytest

from helpers import novikoff


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("cover"), np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    y = np.where(x @ [1.0, 2.0] + rng.normal(size=600) > 0, "spam", "ham")
    lines = [f"{a},{b},{c},{label}" for (a, b), c, label in zip(x, rng.choice(["red", "blue"], 600), y, strict=True)]
    (folder / "mail.csv").write_text("size,links,colour,label\n" + "\n".join(lines) + "\n")
    return folder


def run(folder, *words):
    done = novikoff("run", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_coverage_is_printed_next_to_its_target_and_guarantee(tables):
    told = run(tables, "ftrl", "mail.csv", "--cover", "0.9", "-q")
    assert told.startswith("conformal:[ftrl],alpha=0.1 on mail.csv")
    told = " ".join(told.split())
    assert re.search(r"coverage \d+\.?\d* % \d+ of 600 sets contain the label; target 90 %, guaranteed ", told)
    assert re.search(r"set size [\d.]+ labels on average; \d+ contain all 2 labels \(.*\); \d+ empty", told)
    assert "(coverage_deviation; details: -v)" in told


def test_json_has_the_sets(tables):
    told = json.loads(run(tables, "conformal:[ftrl],alpha=0.2,groups=colour", "mail.csv", "--json"))
    sets = told["sets"]
    assert sets["asked"] == 0.8
    assert sets["coverage"] == 1 - sets["misses"] / 600
    assert {group["group"] for group in sets["groups"]} == {"red", "blue"}
    assert sum(group["misses"] for group in sets["groups"]) == sets["misses"]
    assert {"coverage_deviation", "coverage_pinball"} <= {one["theorem"] for one in told["certificates"]}


def test_a_saved_game_resumes_to_the_bit_and_predicts_sets(tables):
    whole = json.loads(run(tables, "perceptron", "mail.csv", "--cover", "0.9", "--json", "--save", "whole.nk"))
    run(tables, "perceptron", "mail.csv", "--cover", "0.9", "--rounds", "250", "--save", "part.nk", "-q")
    again = run(
        tables, "perceptron", "mail.csv", "--cover", "0.9", "--resume", "part.nk", "--save", "part.nk", "--json"
    )
    assert json.loads(again)["sets"] == whole["sets"]
    assert json.loads(again)["rounds"] == 600
    said = novikoff("predict", "whole.nk", "mail.csv", cwd=tables)
    assert set(said.stdout.split()) <= {"ham", "spam", "ham|spam", "nothing"}
    assert re.search(r"coverage .* %: \d+ of 600 sets contain the label; no guarantee", said.stderr)
    assert said.stdout == novikoff("predict", "part.nk", "mail.csv", cwd=tables).stdout


def test_other_coverage_cannot_be_requested_in_the_middle(tables):
    run(tables, "ftrl", "mail.csv", "--cover", "0.9", "--rounds", "50", "--save", "nine.nk", "-q")
    done = novikoff("run", "ftrl", "mail.csv", "--cover", "0.8", "--resume", "nine.nk", cwd=tables)
    assert done.returncode == 2
    assert "has a cover of 0.9. Leave out --cover." in done.stderr


def test_intervals_have_ends_and_null_in_json(tables):
    run(tables, "vaw", "mail.csv", "--label", "size", "--cover", "0.8", "--save", "size.nk", "-q")
    said = novikoff("predict", "size.nk", "mail.csv", "--label", "size", cwd=tables).stdout.split()
    low, high = map(float, said[0].split(".."))
    assert low < high
    told = json.loads(novikoff("predict", "size.nk", "mail.csv", "--label", "size", "--json", cwd=tables).stdout)
    assert told["predictions"][0] == [low, high]
    run(tables, "vaw", "mail.csv", "--label", "size", "--cover", "0.8", "--rounds", "0", "--save", "none.nk", "-q")
    assert novikoff("predict", "none.nk", "mail.csv", "--label", "size", cwd=tables).stdout.split()[0] == "everything"


def test_a_plot_has_coverage_and_sizes(tables):
    run(tables, "ftrl", "mail.csv", "--cover", "0.9", "-q", "--plot", "sets.svg")
    drawn = (tables / "sets.svg").read_text()
    assert all(word in drawn for word in ("coverage, %", "labels in a set", "target", "guaranteed up to this row"))


def test_a_classifier_that_is_kept_has_no_sets(tables):
    done = novikoff("run", "perceptron", "mail.csv", "--cover", "0.9", "--finalize", "best", cwd=tables)
    assert done.returncode == 2
    assert "leave one of them out" in done.stderr
