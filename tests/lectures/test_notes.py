"""The lectures: every command runs, every erratum fails as printed, and exercises tell right from wrong solutions."""

import shlex
from pathlib import Path

import pytest

import novikoff as nk
from novikoff.arena import replay
from novikoff.arena.scenes import SCENES
from novikoff.cli.main import main
from novikoff.core.errors import InputError
from novikoff.lectures import contents, errata
from novikoff.lectures.contents import LECTURES
from novikoff.lectures.errata import ERRATA
from novikoff.lectures.exercises import EXERCISES, check
from novikoff.reports.explanation import explain

ITEMS = [item for lecture in LECTURES for item in lecture.items]
COMMANDS = sorted({item.run for item in ITEMS if item.run})
DOCS = Path(__file__).parents[2] / "docs"


def script_of(link):
    """Return the script of a link, as arena/page/link.js reads it."""
    given = dict(part.split("=", 1) for part in link.removeprefix("#").split("&"))
    options = {name: int(value) for name, value in (part.split(":") for part in given["o"].split(",") if part)}
    assert set(given["m"]) == {"A"}
    assert int(given["t"]) == len(given["m"])
    moves = ["a"] * len(given["m"])
    return {"v": int(given["v"]), "game": given["g"], "options": options, "seed": int(given["s"]), "rival": given["r"],
            "moves": moves}  # fmt: skip


@pytest.mark.parametrize("link", contents.ARENA)
def test_link_of_the_arena_opens_its_game(link):
    script = script_of(link)
    frames = replay.replay(script)["frames"]
    assert len(frames) == len(script["moves"]) + 1
    assert set(SCENES[script["game"]].options) == set(script["options"])


def test_every_game_of_the_arena_is_linked_and_every_linked_term_is_explained(capsys):
    assert {script_of(link)["game"] for link in contents.ARENA} == set(SCENES)
    for terms in contents.ARENA.values():
        for term in terms:
            assert explain(term)  # raises an error for an unknown one
    assert main(["notes", "1"]) == 0
    assert "      novikoff arena '#v=1&g=ellipsoid&o=&s=0&r=builtin&m=" in capsys.readouterr().out


RIGHT = {
    "rectangles": """
from fractions import Fraction

class Adversary:
    def __init__(self):
        self.low, self.high = Fraction(0), Fraction(1)
    def next_point(self):
        return ((self.low + self.high) / 2, 0)
    def label(self, prediction):
        middle = (self.low + self.high) / 2
        if prediction == -1:
            self.low = middle  # middle is in the rectangle [0, threshold] x {0}
        else:
            self.high = middle
        return -prediction
""",
    "thresholds": """
class ThresholdLearner:
    def __init__(self, n):
        self.low, self.high = 0, n + 1
    def predict_one(self, x):
        below = min(max(x, self.low - 1), self.high) - self.low + 1  # thresholds that predict +1
        return 1 if 2 * below >= self.high - self.low + 1 else -1
    def learn_one(self, x, y):
        if y == 1:
            self.high = min(self.high, x)
        else:
            self.low = max(self.low, x + 1)
""",
    "ellipsoid": """
import numpy as np

def inside(M, v, x):
    inverse = np.linalg.inv(M)
    return (x - v) @ inverse @ inverse @ (x - v) <= 1
""",
    "symmetric": """
import numpy as np

def symmetric(M):
    U, D, _ = np.linalg.svd(M)
    return U @ np.diag(D) @ U.T
""",
    "negative-result": """
hypotheses = [lambda day: 1, lambda day: -1]
""",
    "cover": """
import numpy as np

def cover(d, epsilon):
    if d == 2:
        angle = 4 * np.arcsin(epsilon / 2)
        turns = 2 * np.pi * np.arange(int(np.ceil(2 * np.pi / angle))) / np.ceil(2 * np.pi / angle)
        return np.stack([np.cos(turns), np.sin(turns)], axis=1)
    step = epsilon / np.sqrt(d - 1)  # a grid on the faces of the cube; projecting to the sphere shortens distances
    ticks = np.linspace(-1, 1, int(np.ceil(2 / step)) + 1)
    points = []
    for axis in range(d):
        for sign in (-1.0, 1.0):
            for other in np.stack(np.meshgrid(*[ticks] * (d - 1)), axis=-1).reshape(-1, d - 1):
                points.append(np.insert(other, axis, sign))
    points = np.array(points)
    return points / np.linalg.norm(points, axis=1)[:, None]
""",
}
"""A right solution of each exercise."""

WRONG = {
    "rectangles": [
        (("return -prediction", "return prediction"), "is not the opposite of the prediction"),
        (("self.low = middle  #", "self.low, self.high = middle - 1, middle + 1  #"), "no rectangle has these labels"),
        (("Fraction(0), Fraction(1)", "0.0, 1.0"), None),  # doubles run out after 53 rounds
        (("self.high = middle", "self.high -= Fraction(1, 9)"), "no rectangle has these labels"),
        (("return -prediction", "return -float(prediction)"), "is not the opposite of the prediction"),
        (("return -prediction", "raise SystemExit(0)"), "It raised SystemExit"),
    ],
    "thresholds": [
        (("self.high = min(self.high, x)", "self.high = min(self.high, x + 1)"), "Halving predicts"),
        (("below = min(", "len([i for i in range(self.high)]); below = min("), "not O(log n)"),
        (("2 * below >=", "2 * below >"), "Halving predicts"),
        (("return 1 if", "return 1 if self.high > 50 or"), "Halving predicts"),  # right on small grids only
        (("self.low, self.high = 0, n + 1", "self.low, self.high, self.all = 0, n + 1, bytes(n)"), "bytes at n = 10^6"),
        (("below = min(", "sum(range(self.high)); below = min("), "more than"),
    ],
    "ellipsoid": [
        (("inverse @ inverse", "inverse"), "but the answer is"),
        (("(x - v)", "x"), "but the answer is"),
        (("inverse @ inverse", "np.diag(1 / np.diag(M) ** 2)"), "but the answer is"),
        (("<= 1", "<= np.linalg.det(M)"), "but the answer is"),
        (("<= 1", "<= 1.1"), "but the answer is"),
    ],
    "symmetric": [
        (("U @ np.diag(D) @ U.T", "M"), "It is not symmetric"),
        (("U @ np.diag(D) @ U.T", "-U @ np.diag(D) @ U.T"), "It is not positive definite"),
        (("U @ np.diag(D) @ U.T", "M @ M.T"), "the ellipsoids differ"),
        (("U, D, _ = np.linalg.svd(M)", "_, D, V = np.linalg.svd(M); U = V.T"), "the ellipsoids differ"),
        (("return ", "return np.nan * "), "must be a finite matrix"),
    ],
    "negative-result": [
        ((", lambda day: -1", ""), "errs 12 times"),
        (("lambda day: -1", "lambda day: 1 - 2 * (day % 2)"), "the best of 2 functions errs"),
        (("lambda day: -1", "lambda day: 1 if day > 40 else -1"), "the best of 2 functions errs"),
        (("lambda day: -1", "lambda day: 0"), "to -1 or +1"),
        (("[lambda day: 1, lambda day: -1]", "[lambda day, k=k: 1 if day >= k else -1 for k in range(9)]"), "errs"),
    ],
    "cover": [
        (("4 * np.arcsin", "6 * np.arcsin"), "from every point"),
        (("step = epsilon", "step = 3 * epsilon"), "from every point"),
        (("/ np.linalg.norm(points, axis=1)[:, None]", ""), "is not on the unit sphere"),
        (("4 * np.arcsin(epsilon / 2)", "epsilon / 100"), "(4/epsilon + 1)^d"),
        (("return np.stack(", "return np.nan * np.stack("), "is not on the unit sphere"),
        (("for sign in (-1.0, 1.0)", "for sign in (1.0,)"), "from every point"),
    ],
}
"""Changes that make a solution wrong, and the words that refute it."""


@pytest.mark.parametrize("command", COMMANDS)
def test_command_of_a_lecture_runs(command, capsys):
    assert main(shlex.split(command)) == 0
    assert "violated" not in capsys.readouterr().out


def test_items_name_errata_exercises_and_terms_that_exist():
    assert {name for item in ITEMS for name in item.errata} == {one.name for one in ERRATA}
    assert {item.exercise for item in ITEMS} - {""} == {one.name for one in EXERCISES}
    for item in ITEMS:
        assert item.run or item.explain
        if item.explain:
            assert nk.explain(item.explain)


@pytest.mark.parametrize("one", ERRATA, ids=lambda one: one.name)
def test_printed_statement_fails_on_its_counterexample(one):
    shown = one.show()
    assert shown.wrong, shown.text


def test_pages_are_current():
    assert (DOCS / "errata.md").read_text(encoding="utf-8") == errata.page()  # renew them with `make names`
    assert (DOCS / "lectures.md").read_text(encoding="utf-8") == contents.page()


def solved(tmp_path, text):
    file = tmp_path / "solution.py"
    file.write_text(text)
    return check(str(file))


@pytest.mark.parametrize("name", RIGHT)
def test_right_solution_is_certified(name, tmp_path):
    exercise, verdict = solved(tmp_path, RIGHT[name])
    assert exercise.name == name
    assert verdict.solved, verdict.text


@pytest.mark.parametrize(
    ("name", "change", "words"), [(name, *wrong) for name, some in WRONG.items() for wrong in some]
)
def test_wrong_solution_is_refuted_with_a_counterexample(name, change, words, tmp_path):
    assert change[0] in RIGHT[name]
    _, verdict = solved(tmp_path, RIGHT[name].replace(*change))
    assert not verdict.solved
    assert words is None or words in verdict.text, verdict.text


def test_files_that_solve_nothing_are_refused_with_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"solves no exercise: define one of Adversary"):
        solved(tmp_path, "x = 1")
    with pytest.raises(InputError, match="cannot be run: ZeroDivisionError"):
        solved(tmp_path, "1 / 0")
    with pytest.raises(InputError, match="a solution must be a Python file"):
        check(str(tmp_path / "none.py"))
    assert not solved(tmp_path, "def inside(M, v, x): raise ValueError('no')")[1].solved


def test_notes_on_the_command_line(capsys, tmp_path):
    assert main(["notes"]) == 0
    assert "0  Introduction and Mistake Bound Analysis" in capsys.readouterr().out
    assert main(["notes", "3"]) == 0
    printed = capsys.readouterr().out
    assert "theorem: Theorem 1. At most R^2/gamma^2 mistakes" in printed
    assert "novikoff notes errata strict" in printed
    assert main(["notes", "errata", "rate-without-root"]) == 0
    assert "regret 124.5" in capsys.readouterr().out
    assert main(["notes", "check"]) == 0
    file = tmp_path / "mine.py"
    file.write_text(RIGHT["ellipsoid"])
    assert main(["notes", "check", str(file)]) == 0
    assert "ellipsoid: certified" in capsys.readouterr().out
    file.write_text(RIGHT["ellipsoid"].replace("<= 1", "<= 2"))
    assert main(["notes", "check", str(file)]) == 1
    for words in (["notes", "7"], ["notes", "errata", "none"], ["notes", "x", "y"]):
        assert main(words) == 2
