"""`novikoff bandit`: a log, a simulation, saving and going on, and what is refused."""

import json

import pytest

from helpers import novikoff

GAME = ("stream:bandit-losses:arms=4,gap=0.2,rounds=3000", "-q")


@pytest.fixture
def log(tmp_path):
    """Four arms with their chances in turn; `safe` always plays a."""
    rows = [f"{'abcd'[t % 4]},{(t * 7) % 3 / 2},0.25,{int(t % 4 == 0)}" for t in range(2000)]
    (tmp_path / "log.csv").write_text("arm,loss,probability,safe\n" + "\n".join(rows) + "\n")
    return tmp_path / "log.csv"


def test_log_prints_limits_and_certificate(log):
    done = novikoff("bandit", log, "--policy", "safe")
    assert done.returncode == 0, done.stderr
    assert "2,000 rounds, 4 arms, loss 999.5 (0.4998 per round)" in done.stdout
    for name in ("always a", "always d", "\n  safe"):
        assert name in done.stdout
    assert "All of these limits hold at once, with probability at least 0.95." in done.stdout
    assert "Assumes that the losses of a round were fixed before its draw" in " ".join(done.stdout.split())


def test_a_log_as_json_and_as_a_plot(log, tmp_path):
    done = novikoff("bandit", log, "--json", "--plot", tmp_path / "limits.svg", "--delta", "0.01")
    told = json.loads(done.stdout)
    assert (told["rounds"], told["arms"], told["mean"]) == (2000, 4, pytest.approx(0.5, abs=1e-3))
    assert told["plays"] == dict.fromkeys("abcd", 500)
    assert [one["policy"] for one in told["limits"]] == list("abcd")
    assert told["certificates"][0]["theorem"] == "observable_regret"
    assert told["certificates"][0]["quantities"]["delta"] == 0.01
    assert "always a" in (tmp_path / "limits.svg").read_text()


def test_rewards_with_their_range(log):
    text = log.read_text().replace("arm,loss", "arm,reward")
    log.write_text(text)
    told = json.loads(novikoff("bandit", log, "--json", "--range", "0,2").stdout)
    assert told["rewards"]
    assert novikoff("bandit", log, "--range", "2").returncode == 2


def test_a_log_without_probabilities_is_refused_with_the_reason(log):
    log.write_text(log.read_text().replace("probability", "weather"))
    done = novikoff("bandit", log)
    assert done.returncode == 2
    assert "must have the probability with which each arm was drawn" in done.stderr
    assert "Pass --probability COLUMN. Without it there is no guarantee." in done.stderr


def test_losses_out_of_range_are_refused_with_a_remedy(log):
    log.write_text(log.read_text().replace("1.0,0.25", "9,0.25", 1))
    done = novikoff("bandit", log)
    assert done.returncode == 2
    assert "losses must be from 0 to 1: line" in done.stderr
    assert "Pass --range LEAST,MOST." in done.stderr


@pytest.mark.parametrize("learner", ["exp3-ix", "exp3-ix:horizon=3000,seed=3", "tsallis-inf"])
def test_simulation_prints_the_true_regret_and_the_certificate(learner):
    done = novikoff("bandit", learner, "-v", *GAME)
    assert done.returncode == 0, done.stderr
    assert "; regret " in done.stdout
    assert "observable_regret: regret" in done.stdout
    told = json.loads(novikoff("bandit", learner, *GAME, "--json").stdout)
    observable = next(one for one in told["certificates"] if one["theorem"] == "observable_regret")
    assert told["regret"] == observable["observed"] <= observable["bound"]
    assert told["best"]["loss"] == pytest.approx(told["loss"] - told["regret"])
    assert len(told["costs_at_least"]) == 4


def test_a_table_of_losses_is_played(tmp_path):
    (tmp_path / "losses.csv").write_text("a,b\n" + "0,1\n0.5,1\n" * 200)
    done = novikoff("bandit", "exp3-ix", tmp_path / "losses.csv", "-q")
    assert done.returncode == 0, done.stderr
    assert "best arm: a, loss 100 (0.25 per round)" in done.stdout


def test_a_game_that_was_saved_resumes(tmp_path):
    whole = json.loads(novikoff("bandit", "exp3-ix", *GAME, "--json").stdout)
    model = tmp_path / "game.nk"
    assert novikoff("bandit", "exp3-ix", *GAME, "--rounds", "1000", "--save", model).returncode == 0
    done = novikoff("bandit", "--resume", model, GAME[0], "--json")
    rest = json.loads(done.stdout)
    for name in ("rounds", "loss", "regret", "best", "costs_at_least"):
        assert rest[name] == whole[name]
    refused = novikoff("bandit", "tsallis-inf", GAME[0], "--resume", model)
    assert "a resumed game keeps its learner" in refused.stderr


def test_a_plot_of_a_game(tmp_path):
    done = novikoff("bandit", "exp3-ix", *GAME, "--plot", tmp_path / "arms.svg")
    assert done.returncode == 0, done.stderr
    assert "arm 0" in (tmp_path / "arms.svg").read_text()


@pytest.mark.parametrize(("words", "why"), [
    (("perceptron", GAME[0]), "the learner must be a bandit on losses, such as"),
    (("exponential-weights:experts=4,loss=table", GAME[0]), "the learner must be a bandit on losses, such as"),
    (("exp3-ix", "stream:noisy"), "a stream for bandits must have losses, as bandit-losses does"),
    (("exp3-ix:arms=3", GAME[0]), "needs examples of domain losses[3]"),
    (("exp3-ix", "one", "more"), "unknown argument: more"),
    (("exp3-ix", GAME[0], "--policy", "q"), "--policy is for a log"),
    (("log.csv", "--rounds", "5"), "--rounds is for a learner that is played"),
    (("nowhere.csv",), "nowhere.csv"),
])  # fmt: skip
def test_invalid_input_is_refused(words, why):
    done = novikoff("bandit", *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_experts_command_refuses_bandits_and_names_theirs():
    done = novikoff("experts", GAME[0], "-l", "exp3-ix:arms=4")
    assert "Use it with `novikoff bandit`" in done.stderr
