"""`novikoff compare`: a table in the order given, JSON, a plot, and errors before anything is read."""

import json
import re

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.comparison import Request, compare_source, table
from novikoff.cli.games import Output
from novikoff.core.certificate import Bound, theorem
from novikoff.core.errors import InputError, SourceError, SpecError
from novikoff.evaluation.compare import Compared, Comparison, Finished, compare
from novikoff.linear.perceptron import Perceptron

LEARNERS = ["perceptron:bias=1", "constant", "perceptron:bias=0"]
SCALED = ["perceptron:bias=1,scale=standard", "constant", "perceptron:bias=0,scale=standard"]


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    label = np.where(x[:, 0] + x[:, 1] + 0.4 * rng.normal(size=300) >= 0, "yes", "no")
    path = tmp_path_factory.mktemp("data") / "stream.csv"
    rows = "\n".join(",".join([*(f"{value:.3f}" for value in row), y]) for row, y in zip(x, label, strict=True))
    path.write_text("a,b,c,label\n" + rows + "\n")
    return str(path)


def told(capsys, *arguments, **options):
    code = compare_source(*arguments, output=Output(as_json=True), **options)
    return code, json.loads(capsys.readouterr().out)


def test_the_table_has_a_line_for_each_learner_in_the_order_given(csv, capsys):
    assert compare_source(csv, LEARNERS, {}, {}, Request(shuffles=4, seed=2), Output()) == 0
    out, err = capsys.readouterr()
    title, head, *lines, always, verdict = out.splitlines()
    assert verdict.endswith("percentage points of error rate.")
    assert re.fullmatch(r"always predicting (yes|no): [\d.]+ %", always)
    how = "4 shuffles of seed 2, mean ± standard deviation"
    assert title == f"3 learners on {csv}, target: label (by its name): 300 rows, {how}"
    assert head.split("  ")[0] == "learner"
    assert [line.split()[0] for line in lines] == SCALED
    assert "no is -1, yes is +1" in err
    for line, one in zip(lines, compare(LEARNERS, nk.read(csv), shuffles=4, seed=2).learners, strict=True):
        found = re.match(r"\S+ +([\d.]+) ± ([\d.]+) +(?:[\d.]+ ± [\d.]+)? +([\d.]+) ± ([\d.]+) +[\d.e-]+  (.*)", line)
        mean, deviation, updates, give, certified = found.groups()
        assert (mean, deviation) == (f"{100 * one.rate.mean:.2f}", f"{100 * one.rate.deviation:.2f}")
        assert (updates, give) == (f"{one.updates.mean:.1f}", f"{one.updates.deviation:.1f}")
        if one.certificates:
            best = one.certificates[0]
            assert certified == f"mistakes {best.observed} <= {best.bound}, {best.status}"
        else:
            assert certified == "none: no bound is known"


def test_one_order_has_no_deviation(csv, capsys):
    compare_source(csv, ["perceptron"], {}, {}, Request(), Output(quiet=True))
    out, err = capsys.readouterr()
    ledger = nk.play("perceptron", nk.read(csv))
    title, _, line, _ = out.splitlines()
    assert title == f"1 learner on {csv}, target: label (by its name): 300 rows, in the given order"
    assert "±" not in line
    assert line.split()[:4] == [
        "perceptron:bias=1,scale=standard",
        f"{100 * ledger.mistake_rate:.2f}",
        f"{ledger.auc.value:.4g}",
        str(ledger.mistakes),
    ]
    assert err == ""


def test_expected_mistakes_are_reported_where_a_learner_draws():
    pairs = [(t * 37 % 101, 1 if t * 37 % 101 >= 50 else -1) for t in range(60)]
    drawing = compare(["consistent:[thresholds:n=100],random=true", "threshold-halving:n=100"], pairs, shuffles=2)
    head, random, halving = table(drawing)
    assert "expected %" in head
    assert f"{100 * drawing.learners[0].expected.mean:.2f} ±" in random
    assert "expected mistakes" in random
    assert halving.count("±") == random.count("±") - 1
    assert "expected" not in table(compare(["threshold-halving:n=100"], pairs))[0]


def test_json_is_one_complete_object(csv, capsys):
    code, found = told(capsys, csv, LEARNERS, {}, {}, Request(shuffles=3, seed=1, passes=2))
    assert code == 0
    assert (found["rows"], found["passes"], found["shuffles"], found["seed"]) == (300, 2, 3, 1)
    assert [one["learner"] for one in found["learners"]] == SCALED
    comparison = compare(LEARNERS, nk.read(csv), shuffles=3, seed=1, passes=2)
    ledger = nk.play(nk.Perceptron(), nk.read(csv), passes=2)
    best = {"says": ledger.best_constant.says, "mistakes": ledger.best_constant.costs}
    assert found["baselines"]["best_constant"] == best
    assert len(found["baselines"]["last_label"]["mistakes"]) == 3
    for plain, one in zip(found["learners"], comparison.learners, strict=True):
        assert plain["rounds"] == 600
        assert plain["mistakes"] == [game.mistakes for game in one.games]
        assert plain["mistake_rate"] == {"mean": one.rate.mean, "deviation": one.rate.deviation}
        assert [c["bound"] for c in plain["certificates"]] == [c.bound for c in one.certificates]
        assert plain["seconds"] > 0


def test_reading_options_and_defaults_are_passed_on(csv, capsys):
    _, plain = told(capsys, csv, ["constant"], {"positive": "no"}, {}, Request())
    _, other = told(capsys, csv, ["constant"], {}, {}, Request())
    assert plain["learners"][0]["mistakes"][0] + other["learners"][0]["mistakes"][0] == 300
    _, given = told(capsys, csv, ["perceptron"], {}, {"normalize": True, "seed": None}, Request())
    _, spelt = told(capsys, csv, ["perceptron:normalize=true"], {}, {}, Request())
    assert given["learners"][0]["mistakes"] == spelt["learners"][0]["mistakes"]
    _, short = told(capsys, csv, ["perceptron"], {}, {}, Request(rounds=50))
    assert short["rows"] == 50


def test_a_plot_is_written(csv, tmp_path, capsys):
    path = tmp_path / "rates.svg"
    compare_source(csv, LEARNERS, {}, {}, Request(shuffles=2), Output(plot=str(path)))
    assert "perceptron:bias=1" in path.read_text()
    assert f"plot written to {path}" in capsys.readouterr().err


def test_impossible_options_are_refused_before_reading(csv, tmp_path):
    missing = str(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="PNG or an SVG"):
        compare_source(missing, LEARNERS, {}, {}, Request(), Output(plot="rates.pdf"))
    with pytest.raises(SpecError, match="perceptrom"):
        compare_source(csv, ["perceptrom"], {}, {}, Request(), Output(quiet=True))
    with pytest.raises(SourceError):
        compare_source(missing, LEARNERS, {}, {}, Request(), Output(quiet=True))


def test_a_violated_bound_is_exit_code_four(csv, monkeypatch, capsys):
    @theorem("D", "")
    def broken(run):
        return Bound(0)

    monkeypatch.setattr(Perceptron, "promises", (broken,))
    assert compare_source(csv, ["constant", "perceptron"], {}, {}, Request(), Output(quiet=True)) == 4
    assert "> 0, violated" in capsys.readouterr().out


def test_many_rounds_are_reported_to_the_last_mistake():
    for rounds, mistakes, told in [(200, 3, "1.50"), (100_000, 1, "0.001"), (10**7, 2 * 10**6 + 1, "20.00001")]:
        game = Finished(rounds, mistakes, None, mistakes, 0.5, ((rounds, mistakes),), ())
        (_, line) = table(Comparison("it", rounds, 1, 0, 0, (Compared("mine", (game,)),)))
        assert line.split()[1:4] == [told, f"{mistakes:,}", "0.5"]
