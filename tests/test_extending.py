"""A learner and a format from outside the package can do all that ours can: tests/example_package is installed here."""

import json
import math
import os
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest

import novikoff as nk
from novikoff.core import registry
from novikoff.core.errors import ModelFileError, SourceError, SpecError
from novikoff.core.registry import CATALOG, learner_name, names
from novikoff.data.unlabelled import unlabelled
from novikoff.game.specs import make
from novikoff.reports.explanation import explain
from novikoff.testing import check_learner, check_stream

HERE = Path(__file__).parent
PACKAGE = HERE / "example_package"
DOCUMENT = HERE.parent / "docs" / "extending.md"
BAD = [[0, 1], [0] * 13, [2, *[0] * 11], [0.5, *[0] * 11], [math.nan, *[0] * 11], "a", None]


pytestmark = pytest.mark.usefixtures("nothing_else_registered")


@pytest.fixture
def elimination(monkeypatch):
    """The package, installed."""
    monkeypatch.syspath_prepend(PACKAGE)
    import elimination

    return elimination


def bits(rounds=300, width=12, noise=0.0, seed=0):
    """+1 just when feature 2 or 5 is on."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (rounds, width)) * rng.integers(0, 2, (rounds, width))
    y = np.where(x[:, 2] | x[:, 5], 1, -1)
    return x, np.where(rng.random(rounds) < noise, -y, y)


@pytest.fixture
def file(tmp_path):
    """A file of the format that the package brings."""
    x, y = bits()
    path = tmp_path / "rounds.bits"
    path.write_text("".join(f"{'+' if b == 1 else '-'} {''.join(map(str, a))}\n" for a, b in zip(x, y, strict=True)))
    return path


IN_TURN = """
import contextlib, io, json, sys
from novikoff.cli.main import main
for words in json.loads(sys.argv[1]):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(words) == 0
    print(json.dumps(out.getvalue()))
"""


def novikoff(*commands):
    """What each of these commands prints, one after the other in a process that has the package installed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), *sys.path])}
    words = json.dumps([[str(word) for word in command] for command in commands])
    asked = [sys.executable, "-c", IN_TURN, words]
    done = subprocess.run(asked, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


# A learner


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_it_keeps_every_contract(elimination, noise):
    check_learner(lambda: elimination.Elimination(12), bits(noise=noise), refused=BAD)


def test_it_plays_and_its_theorem_is_evaluated(elimination):
    ledger = nk.play(elimination.Elimination(12), bits())
    (certificate,) = ledger.certify()
    assert (certificate.theorem, certificate.status) == ("elimination_mistakes", "valid")
    assert ledger.mistakes <= certificate.bound <= 10
    (certificate,) = nk.play(elimination.Elimination(12), bits(noise=0.1)).certify()
    assert certificate.status == "void"
    assert "no round labelled +1 is missed" in certificate.reason


def test_its_theorem_is_tight_and_violated_by_a_learner_that_forgets_to_eliminate(elimination):
    rounds = [([int(i == t) for i in range(5)], -1) for t in range(5)] * 2
    (certificate,) = nk.play(elimination.Elimination(5), rounds).certify()
    assert (certificate.observed, certificate.bound, certificate.status) == (5, 5, "valid")

    class Forgetful(elimination.Elimination):
        def learn_one(self, x, y):
            pass

    (certificate,) = nk.play(Forgetful(5), rounds).certify()
    assert certificate.status == "violated"


@pytest.mark.parametrize("how", ["best", "voted", "random", "last"])
def test_finalized_classifier_is_saved(elimination, tmp_path, how):
    ledger = nk.play(elimination.Elimination(12), bits(), candidates=20)
    kept = nk.finalize(ledger, how, stream=bits())
    nk.save(kept, tmp_path / "kept.nk")
    again = nk.load(tmp_path / "kept.nk")
    x, _ = bits(seed=1)
    assert [again.predict_one(row) for row in x] == [kept.predict_one(row) for row in x]
    assert again.certificates == kept.certificates


def test_it_plays_in_a_team_and_is_saved_within_it(elimination, tmp_path):
    team = make("hedge:learners=[elimination,[perceptron:bias=1]]", "learner", domain=nk.Domain("point", 12))
    x, y = bits()
    ledger = nk.play(team, (x, y), rounds=100)
    nk.save(ledger, tmp_path / "team.nk")
    again = nk.load(tmp_path / "team.nk")
    assert type(again.learner.learners[0].original) is elimination.Elimination
    nk.play(again.learner, (x, y), ledger=again, resume=True)
    nk.play(team, (x, y), ledger=ledger, resume=True)
    assert again.mistakes == ledger.mistakes
    assert [str(one) for one in again.certify()] == [str(one) for one in ledger.certify()]
    assert again.members[0].certify()[0].theorem == "elimination_mistakes"


def test_a_learner_that_asks_for_comparators_is_tracked(tmp_path):
    @nk.register("my-perceptron")
    class Mine(nk.Perceptron):
        pass

    x, y = np.random.default_rng(0).normal(size=(2, 200, 3))
    y = np.where(x[:, 0] > 0, 1, -1)
    ledger = nk.play(Mine(bias=1.0), (x, y), candidates=10)
    ours = nk.play(nk.Perceptron(bias=1.0), (x, y))
    assert ledger.tracker is not None
    assert [str(one) for one in ledger.certify()] == [str(one) for one in ours.certify()]
    nk.save(ledger, tmp_path / "mine.nk")
    assert nk.load(tmp_path / "mine.nk").certify() == ledger.certify()
    assert nk.finalize(ledger, "averaged", stream=(x, y)).classifier.bias == 1.0


# Names


def test_an_entry_point_makes_it_known(elimination):
    assert names("learner")[-1] == "elimination"
    assert learner_name(elimination.Elimination) == "elimination"
    assert type(make("elimination:width=4", "learner")) is elimination.Elimination
    assert registry.entry("elimination").arguments() == "width"


def test_unregistered_learner_cannot_be_saved_and_the_error_explains_how(elimination, tmp_path):
    class Mine(elimination.Elimination):
        pass

    ledger = nk.play(Mine(12), bits())
    with pytest.raises(SpecError, match='must be registered: Mine of .* Call novikoff.register\\("name", Mine\\)'):
        nk.save(ledger, tmp_path / "model.nk")
    nk.register("mine", Mine)
    nk.save(ledger, tmp_path / "model.nk")
    assert type(nk.load(tmp_path / "model.nk").learner) is Mine


def test_registered_name_cannot_be_reassigned(elimination):
    with pytest.raises(SpecError, match="perceptron is the learner Perceptron"):
        nk.register("perceptron", elimination.Elimination)
    nk.register("mine", elimination.Elimination)
    nk.register("mine", elimination.Elimination)
    with pytest.raises(SpecError, match="mine is the learner Elimination"):
        nk.register("mine", type("Other", (elimination.Elimination,), {}))


@pytest.mark.parametrize(
    ("name", "what", "says"),
    [
        ("two words", object, "of letters, digits and hyphens"),
        ("", object, "of letters, digits and hyphens"),
        ("mine", object, "mine has no predict_one, learn_one"),
        ("mine", nk.Constant(), "mine is a Constant"),
    ],
)
def test_registered_objects_must_be_learners_with_a_name(name, what, says):
    with pytest.raises(SpecError, match=says):
        nk.register(name, what)


def install(folder, name, points, code=""):
    """A package that brings something."""
    (folder / f"{name}-1.0.dist-info").mkdir(parents=True)
    (folder / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(textwrap.dedent(points))
    (folder / f"{name}.py").write_text(code)


def test_a_package_cannot_take_a_built_in_name(elimination, tmp_path, monkeypatch):
    install(tmp_path, "taker", "[novikoff.learners]\nperceptron = elimination:Elimination\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert type(make("perceptron", "learner")) is nk.Perceptron
    assert names("learner").count("perceptron") == 1
    assert learner_name(elimination.Elimination) == "elimination"


def test_a_package_that_is_broken_is_reported_and_disturbs_nothing_else(elimination, tmp_path, monkeypatch, capsys):
    points = "[novikoff.learners]\nbroken = broken:Learner\n[novikoff.sources]\nbroken = broken:FORMAT\n"
    install(tmp_path, "broken", points, "import nothing_there")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SpecError, match="broken:Learner of broken is not .*nothing_there"):
        make("broken", "learner")
    from novikoff.cli.names import list_all

    list_all(as_json=False)
    told = capsys.readouterr().out
    assert "the learner broken must be importable" in told
    assert "elimination" in told
    (tmp_path / "a.bits").write_text("+ 01\n- 10\n")
    assert len(nk.read(tmp_path / "a.bits")) == 2


def test_two_packages_with_one_name_are_an_error(elimination, tmp_path, monkeypatch):
    install(tmp_path, "second", "[novikoff.learners]\nelimination = second:Elimination\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SpecError, match="second:Elimination of second"):
        make("elimination:width=2", "learner")


def test_model_of_an_unknown_learner_is_refused_without_imports(elimination, tmp_path, monkeypatch):
    nk.save(nk.play(elimination.Elimination(12), bits()), tmp_path / "model.nk")
    team = nk.Hedge([elimination.Elimination(12), nk.Perceptron()])
    nk.save(nk.play(team, bits()), tmp_path / "team.nk")
    kept = nk.finalize(nk.play(elimination.Elimination(12), bits(), candidates=5), "random")
    nk.save(kept, tmp_path / "kept.nk")
    monkeypatch.setattr(registry, "_points", lambda room: [])
    registry._registered["learner"].clear()
    with pytest.raises(ModelFileError, match=r"must be registered here: .*model.nk holds 'elimination'. Install"):
        nk.load(tmp_path / "model.nk")
    with pytest.raises(ModelFileError, match="must be registered here: the file has 'elimination'"):
        nk.load(tmp_path / "team.nk")
    with pytest.raises(ModelFileError, match="got 'elimination'"):
        nk.load(tmp_path / "kept.nk")


@pytest.mark.parametrize("name", ["os:system", "os", "novikoff.linear.perceptron:Perceptron", "../x", ["os"], {}, 3])
def test_model_file_can_only_name_registered_learners(name, tmp_path, monkeypatch):
    nk.save(nk.play(nk.Constant(), [(0, 1)]), tmp_path / "model.nk")
    with zipfile.ZipFile(tmp_path / "model.nk") as archive:
        meta = json.loads(archive.read("meta.json"))
    with zipfile.ZipFile(tmp_path / "other.nk", "w") as archive:
        archive.writestr("meta.json", json.dumps({**meta, "learner": name}))
    load = nk.load
    monkeypatch.setattr("importlib.import_module", lambda *_: pytest.fail("something was imported"))
    with pytest.raises(ModelFileError):
        load(tmp_path / "other.nk")


def test_entry_points_are_not_read_for_built_in_names_and_formats(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    code = f"""
        import importlib.metadata, novikoff as nk
        from novikoff.core import registry
        registry._points = lambda room: 1 / 0
        nk.play(nk.make("perceptron", "learner"), nk.read({str(tmp_path / "a.svm")!r}))
        nk.save(nk.play(nk.Hedge([nk.Perceptron()]), nk.read({str(tmp_path / "a.csv")!r})), {str(tmp_path / "m")!r})
        nk.load({str(tmp_path / "m")!r})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


# Types of arguments


class Team:
    """Says what its first learner says."""

    promises, labels, domain = (), None, nk.Domain("any")

    def __init__(self, learners):
        self.team = learners

    def predict_one(self, x):
        return self.team[0].predict_one(x)

    def learn_one(self, x, y):
        pass

    facts = state = restore = None


@pytest.mark.parametrize(
    "written",
    ["list[Learner]", "Sequence[Learner]", "tuple[Learner, ...]", "Iterable['Learner']", "None | list[Learner]",
     "typing.List['Learner']", "list[Constant]"],
)  # fmt: skip
@pytest.mark.parametrize("later", [True, False])
def test_a_team_is_one_however_its_type_is_written(written, later):
    text = "from __future__ import annotations\n" if later else "from novikoff.core.learner import Learner\n"
    text += "import typing; from collections.abc import Iterable, Sequence; from novikoff import Constant\n"
    scope = {"__name__": "somewhere", "Team": Team}
    body = f"class Mine(Team):\n    def __init__(self, learners: {written}): self.team = learners\n"
    exec(text + body, scope)
    nk.register("mine", scope["Mine"])
    team = make("mine:[constant,[constant:label=-1]]", "learner")
    assert [type(one) for one in team.team] == [nk.Constant, nk.Constant]


def test_a_type_that_only_type_checkers_know_is_not_checked():
    scope = {"__name__": "somewhere", "Team": Team}
    exec("class Mine(Team):\n    def __init__(self, n: 'Frame' = 3, m: int = 2): self.n, self.m = n, m", scope)
    nk.register("mine", scope["Mine"])
    assert make("mine:n=word", "learner").n == "word"
    with pytest.raises(SpecError, match="m of mine must be an integer"):
        make("mine:m=word", "learner")


# A format


def test_the_format_keeps_every_contract(elimination, file):
    check_stream(lambda: nk.read(file))


def test_format_follows_suffix_content_or_option(elimination, file, tmp_path):
    other = tmp_path / "rounds"
    other.write_bytes(b"".join(line.replace(b" ", b"  ") for line in file.read_bytes().splitlines(keepends=True)))
    for stream in (nk.read(file), nk.read(file, format="bits"), nk.read(other)):
        assert stream.labels == nk.Labels("-", "+")
        assert len(stream) == 300
        assert stream.domain == nk.Domain("point", 12)
    with pytest.raises(SourceError, match="a format must be one of arff, .*, bits: got 'bytes'"):
        nk.read(file, format="bytes")
    with pytest.raises(SourceError, match=r"bits \(requested\) takes nothing; got bits"):
        nk.read(file, format="bits", bits=3)


def test_a_format_is_registered_by_a_program(tmp_path):
    nk.register("ones", nk.Format(lambda source: nk.Arrays([[1.0], [2.0]], [1, -1]), (".ones",)))
    (tmp_path / "a.ones").write_bytes(b"1,2,3\n")
    assert len(nk.read(tmp_path / "a.ones")) == 2
    with pytest.raises(SpecError, match="ones is the format"):
        nk.register("ones", nk.Format(nk.Arrays))
    with pytest.raises(SpecError, match="csv is the format CSV"):
        nk.register("csv", nk.Format(nk.Arrays))


def test_format_with_unlabelled_reader_reads_rows_without_labels(tmp_path):
    (tmp_path / "a.ones").write_bytes(b"1\n2\n")
    nk.register("ones", nk.Format(nk.Svmlight))
    with pytest.raises(SourceError, match="examples of the format ones must have labels"):
        unlabelled(tmp_path / "a.ones", format="ones")
    nk.register("twos", nk.Format(nk.Svmlight, unlabelled=lambda source, numbers: nk.Arrays([[1.0], [2.0]], [1, -1])))
    assert len(unlabelled(tmp_path / "a.ones", format="twos")) == 2


# The command line


def test_the_command_line_lists_explains_and_runs_it(file, tmp_path):
    model = tmp_path / "model.nk"
    listed, explained, played, why, other, resumed, predicted = novikoff(
        ("list", "--json"),
        ("explain", "elimination"),
        ("run", "elimination", file, "--format", "bits", "--save", model, "--json"),
        ("run", "elimination", file, "-v"),
        ("run", "perceptron", file, "--json"),
        ("run", "elimination", file, "--resume", model, "--again", "--json"),
        ("predict", model, file),
    )
    listed = json.loads(listed)
    assert listed["learner"]["elimination"] == "width"
    assert listed["format"]["bits"] == ""
    assert set(listed["learner"]) - set(CATALOG) == {"elimination"}
    for part in ("elimination:width", "Learner of a disjunction", "Theorem elimination_mistakes", "Proof"):
        assert part in explained
    (certificate,) = json.loads(played)["certificates"]
    assert (certificate["theorem"], certificate["status"]) == ("elimination_mistakes", "valid")
    assert "words" not in certificate
    assert "Why: each mistake eliminates at least one of the 12 remaining features." in " ".join(why.split())
    assert json.loads(other)["rounds"] == 300
    assert json.loads(resumed)["rounds"] == 600
    assert set(predicted.split()) == {"+", "-"}


def test_its_theorem_is_explained(elimination):
    assert "Every mistake is a round labelled -1" in explain("elimination-mistakes")
    with pytest.raises(SpecError, match="Did you mean elimination_mistakes"):
        explain("eliminate_mistakes")


# The document


def test_the_document_shows_this_very_code():
    blocks = re.findall(r"```(\w+)\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    code = [text for language, text in blocks if language == "python"]
    assert code[0] == (PACKAGE / "elimination.py").read_text()
    points = (PACKAGE / "elimination-1.0.dist-info" / "entry_points.txt").read_text()
    listed = re.findall(r'^(\w+) = "([\w:]+)"$', next(text for kind, text in blocks if kind == "toml"), re.MULTILINE)
    assert listed == re.findall(r"^(\w+) = ([\w:]+)$", points, re.MULTILINE)


def test_the_test_that_the_document_shows_passes(elimination):
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    scope = {}
    exec(blocks[-1], scope)
    (test,) = [value for name, value in scope.items() if name.startswith("test_")]
    test()
