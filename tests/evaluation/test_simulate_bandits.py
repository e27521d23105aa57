"""Simulated bandit games: agreement with single games, refusals, the command and its plot."""

import json

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import InputError, NovikoffError

STREAM = "bandit-losses:means=[0.2,0.5,0.7],rounds=400,seed=5"


@pytest.mark.parametrize("spec", ["ucb1", "thompson", "explore-then-commit:each=9", "tsallis-inf", "exp3-ix"])
def test_pseudo_regret_is_that_of_single_games(spec):
    (found,) = nk.simulate_bandits(spec, STREAM, games=4, threads=1).learners
    means, regrets = np.array([0.2, 0.5, 0.7]), []
    for seed in range(5, 9):
        learner = nk.make(spec, "learner", arms=3, seed=seed)
        table = nk.synthetic.bandit_losses(means=means.tolist(), rounds=400, seed=seed)
        played = nk.play(learner, table, record=True).recorded()
        regrets.append(np.cumsum(means[played] - 0.2))
    assert found.pseudo_regret.mean == pytest.approx(np.mean([one[-1] for one in regrets]))
    curve = dict(found.curve)
    assert curve[1] == pytest.approx(np.mean([one[0] for one in regrets]))
    assert curve[400] == pytest.approx(found.pseudo_regret.mean)


def test_bound_of_each_learner_is_that_of_its_theorem():
    found = nk.simulate_bandits(["ucb1", "exp3-ix", "tsallis-inf"], STREAM, games=30)
    ucb1, exp3, tsallis = found.learners
    assert (ucb1.verdict.theorem, tsallis.verdict.theorem) == ("ucb1_regret", "tsallis_regret")
    assert exp3.verdict is None  # its theorem holds with high probability, not in expectation
    assert ucb1.bounds[-1] == (400, pytest.approx(ucb1.verdict.bound))
    assert [t for t, _ in ucb1.bounds] == [t for t, _ in ucb1.curve]
    assert all(low <= high for (_, low), (_, high) in zip(ucb1.bounds, ucb1.bounds[1:], strict=False))


def test_given_means_void_the_theorem_of_the_prior():
    (found,) = nk.simulate_bandits("thompson", STREAM, games=30).learners
    assert (found.verdict.status, found.verdict.bound) == ("void", None)
    assert "uniform prior" in found.verdict.reason


@pytest.mark.parametrize(
    ("learner", "stream", "games"),
    [
        ("ucb1", "bandit-losses:switches=1,rounds=50", 3),
        ("ucb1", "random-losses:experts=2", 3),
        ("perceptron", STREAM, 3),
        ("ucb1", STREAM, 0),
        ("no-such-bandit", STREAM, 3),
    ],
)
def test_wrong_arguments_are_refused(learner, stream, games):
    with pytest.raises((InputError, NovikoffError)):
        nk.simulate_bandits(learner, stream, games=games)


def test_command_prints_the_table_and_draws_the_chart(tmp_path, capsys):
    plot = tmp_path / "regret.svg"
    given = ["bandit", "ucb1", f"stream:{STREAM}", "--games", "30", "--against", "tsallis-inf", "--rounds", "200"]
    assert main([*given, "--plot", str(plot)]) == 0
    printed = capsys.readouterr().out
    assert "30 games of 200 rounds" in printed
    assert "ucb1_regret: " in printed
    assert "tsallis_regret: " in printed
    assert "mean pseudo-regret" in plot.read_text()
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["learner"] for one in found["learners"]] == ["ucb1", "tsallis-inf"]
    assert found["learners"][0]["curve"][-1][0] == 200


@pytest.mark.parametrize(
    "given", [["log.csv", "--games", "3"], ["ucb1", "table.csv", "--games", "3"],
              ["ucb1", f"stream:{STREAM}", "--against", "exp3-ix"],
              ["ucb1", f"stream:{STREAM}", "--games", "3", "--save", "x"]]
)  # fmt: skip
def test_command_refuses_options_without_effect(given, capsys):
    assert main(["bandit", *given]) == 2
    assert "novikoff" in capsys.readouterr().err
