"""`novikoff experts` as a user meets it: real files, exit codes."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import novikoff

WORDS = np.array(["sun", "rain", "snow"])


def experts(*arguments, **options):
    return novikoff("experts", *arguments, **options)


def told(*arguments, **options):
    done = experts(*arguments, "--json", "-q", **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def made():
    """Forecasts of a coin: anna is good at first, ben later, carla always says 1/2."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    noise = rng.uniform(0.0, 0.45, (600, 2))
    good, bad = np.abs(y - noise[:, 0]), np.clip(np.abs(y - 0.2 - noise[:, 1]), 0, 1)
    late = np.arange(600) >= 300
    x = np.stack((np.where(late, bad, good), np.where(late, good, bad), np.full(600, 0.5)), axis=1)
    return np.round(x, 4), y


@pytest.fixture(scope="module")
def table(made, tmp_path_factory):
    x, y = made
    path = tmp_path_factory.mktemp("tables") / "forecasts.csv"
    rows = [",".join([*(f"{value:.4f}" for value in row), str(outcome)]) for row, outcome in zip(x, y, strict=True)]
    path.write_text("anna,ben,carla,outcome\n" + "\n".join(rows) + "\n")
    return path


def test_output_has_loss_best_expert_regret_weights_and_certificates(table):
    done = experts(table, "-v")
    assert done.returncode == 0, done.stderr
    first, happened, best, constant, mixture, weights, *rest = done.stdout.splitlines()
    assert first == f"exponential-weights on {table}"
    assert re.match(r"600 rounds, 3 experts, squared loss [\d.]+ \([\d.]+ per round\), ", happened)
    assert re.fullmatch(r"best expert: (anna|ben), loss [\d.]+; regret -?[\d.]+", best)
    assert re.fullmatch(r"always [\d.]+: loss [\d.]+", constant)
    assert re.fullmatch(r"best mixture: (\w+ [\d.]+ %, )+loss [\d.]+; regret -?[\d.]+", mixture)
    assert re.fullmatch(r"weights: (anna|ben) [\d.]+ %, \w+ (under )?[\d.]+ %, \w+ (under )?[\d.]+ %", weights)
    assert any("exp_concave_regret: regret" in line and "valid" in line for line in rest)
    assert "loss: squared (the first rows have numbers from 0 to 1 with decimals); --loss changes it" in done.stderr


def test_json_holds_the_numbers_of_the_game(table, made):
    x, y = made
    found = told(table)
    losses = ((x - y[:, None]) ** 2).sum(axis=0)
    assert found["rounds"] == 600
    assert found["experts"] == 3
    assert found["loss_name"] == "squared"
    assert found["best_expert"]["name"] == ("anna", "ben", "carla")[losses.argmin()]
    assert found["best_expert"]["loss"] == pytest.approx(losses.min(), rel=1e-12)
    assert found["regret"] == pytest.approx(found["expected_loss"] - losses.min(), abs=1e-9)
    assert found["loss"] == found["expected_loss"]
    weights = np.exp(-0.5 * (losses - losses.min()))
    weights /= weights.sum()
    assert found["weights"] == pytest.approx(dict(zip(("anna", "ben", "carla"), weights, strict=True)), rel=1e-9)
    assert found["others"] == 0
    assert found["certificates"][0]["status"] == "valid"
    assert "mistakes" not in found
    by_name = {one["theorem"]: one for one in found["certificates"]}
    assert by_name["exp_concave_regret"]["bound"] == pytest.approx(2 * np.log(3), rel=1e-6)


def test_every_format_and_a_pipe_play_the_same_game(table, made, tmp_path):
    x, y = made
    wanted = told(table)
    columns = {"anna": x[:, 0], "ben": x[:, 1], "carla": x[:, 2], "outcome": y.astype(np.int64)}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    lines = [json.dumps({name: column[t].item() for name, column in columns.items()}) for t in range(600)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    for source in (tmp_path / "t.parquet", tmp_path / "t.jsonl"):
        found = told(source)
        assert (found["loss"], found["weights"]) == (wanted["loss"], wanted["weights"])
    found = told("-", input=table.read_bytes())
    assert (found["loss"], found["weights"]) == (wanted["loss"], wanted["weights"])


def test_text_is_compared_with_text(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    right = rng.random((200, 2)) < (0.9, 0.4)
    said = np.where(right, y[:, None], (y[:, None] + 1) % 3)
    path = tmp_path / "weather.csv"
    path.write_text(
        "anna,ben,outcome\n" + "".join(",".join(WORDS[[*row, o]]) + "\n" for row, o in zip(said, y, strict=True))
    )
    found = told(path, "--seed", "3")
    assert found["loss_name"] == "zero-one"
    assert found["play"] == "draw"
    assert found["best_expert"] == {"name": "anna", "loss": int((~right[:, 0]).sum())}
    assert found["mistakes"] == found["loss"]
    assert found["loss"] == told(path, "--seed", "3")["loss"]
    assert found["expected_loss"] == told(path, "--seed", "4")["expected_loss"]


def test_a_table_of_losses_has_no_outcome(tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text("a,b,c\n0,1,0.5\n1,0,0.5\n0,1,1\n0,0,1\n")
    found = told(path, "--loss", "table", "--learner", "exponential-weights:eta=0.5")
    assert found["expected_loss"] == pytest.approx(2.023212155, abs=1e-9)
    assert found["best_expert"] == {"name": "a", "loss": 1.0}
    assert found["regret"] == pytest.approx(1.023212155, abs=1e-9)


def test_switches_follow_the_best_sequence(table):
    found = told(table, "--switches", "1")
    assert found["learner"] == "fixed-share"
    assert found["best_sequence"]["switches"] == 1
    assert found["best_sequence"]["loss"] < found["best_expert"]["loss"] - 20
    assert found["loss"] < told(table)["loss"]
    assert any(one["theorem"] == "fixed_share_regret" and one["status"] == "valid" for one in found["certificates"])
    done = experts(table, "--switches", "1")
    assert "best sequence with at most 1 switch: loss" in done.stdout


def test_a_pipe_needs_a_horizon_to_follow_switches(table):
    done = experts("-", "--switches", "1", input=table.read_bytes())
    assert done.returncode == 2
    assert "Pass --horizon N." in done.stderr
    found = told("-", "--switches", "1", "--horizon", "600", input=table.read_bytes())
    assert found["loss"] == told(table, "--switches", "1")["loss"]


def test_experts_may_sleep(table, tmp_path):
    lines = table.read_text().splitlines()
    for t in range(1, 300):
        anna, _, carla, y = lines[t].split(",")
        lines[t] = f"{anna},,{carla},{y}"
    path = tmp_path / "sleepy.csv"
    path.write_text("\n".join(lines))
    refused = experts(path)
    assert refused.returncode == 2
    assert 'line 2, column "ben"' in refused.stderr
    assert "--sleeping" in refused.stderr
    found = told(path, "--sleeping")
    assert found["learner"] == "sleeping-experts"
    assert found["against"]["name"] in ("anna", "ben", "carla")
    assert found["certificates"][0]["theorem"] == "sleeping_regret"
    assert found["certificates"][0]["status"] == "valid"
    assert "rounds it was active" in experts(path, "--sleeping").stdout


def test_resumed_game_matches_uninterrupted_game(table, tmp_path):
    kept = tmp_path / "game.nk"
    told(table, "--rounds", "250", "--save", kept)
    found, wanted = told(table, "--resume", kept), told(table)
    for key in ("rounds", "loss", "expected_loss", "weights", "regret", "best_expert"):
        assert found[key] == wanted[key]
    assert [one["bound"] for one in found["certificates"]] == [one["bound"] for one in wanted["certificates"]]
    other = tmp_path / "other.nk"
    told(table, "--learner", "ada-hedge", "--loss", "absolute", "--rounds", "100", "--save", other)
    found = told(table, "--resume", other)  # learner and loss are those of the file
    assert (found["learner"], found["loss_name"], found["rounds"]) == ("ada-hedge", "absolute", 600)
    refused = experts(table, "--resume", kept, "--learner", "ada-hedge")
    assert refused.returncode == 2
    assert "a resumed game keeps its learner" in refused.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--outcome", "rain"], "the outcome must be one of anna, ben, carla, outcome: 'rain' is not a column"),
        (["--without", "dan"], "a column to leave out must be one of anna, ben, carla, outcome"),
        (["--learner", "perceptron"], "the learner must be for expert advice, such as"),
        (["--learner", "nobody"], "the name of a learner must be one of"),
        (["--learner", "ada-hedge", "--switches", "2"], "--switches is for fixed-share: got the learner ada-hedge"),
        (["--sleeping", "--switches", "2"], "switches and --sleeping cannot be combined"),
        (["--loss", "hinge"], "must be one of zero-one, absolute, squared, log, table: got 'hinge'"),
        (["--plot", "regret.pdf"], "a plot must be a PNG or an SVG file"),
        (["--loss", "table", "--outcome", "anna"], "a table of losses must have no outcome"),
    ],
)
def test_invalid_usage_is_one_line_and_exit_code_2(table, options, said):
    done = experts(table, *options, "-q")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_loss_that_is_not_certain_is_requested(tmp_path):
    path = tmp_path / "degrees.csv"
    path.write_text("anna,ben,outcome\n50,60,55\n52,58,56\n")
    done = experts(path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "the loss is ambiguous and must be named" in done.stderr
    assert told(path, "--loss", "zero-one")["loss"] == 2


def test_resumed_game_with_inferred_loss_refuses_third_value(tmp_path):
    path, later, model = tmp_path / "t.csv", tmp_path / "later.csv", tmp_path / "t.nk"
    path.write_text("anna,ben,outcome\n0,1,1\n1,0,1\n")
    later.write_text("anna,ben,outcome\n0,1,1\n0.7,0,1\n")
    assert told(path, "--save", model)["loss_name"] == "zero-one"
    done = experts(later, "--resume", model, "-q")
    assert done.returncode == 2
    assert "predictions must be 0 or 1" in done.stderr
    assert told(later, "--resume", model, "--loss", "zero-one")["rounds"] == 4


def test_out_of_range_values_name_round_and_expert(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("anna,ben,outcome\n0.5,0.5,1\n0.5,1.5,0\n")
    done = experts(path, "-q", "--loss", "squared")
    assert done.returncode == 2
    assert 'expert "ben" has 1.5 in round 2' in done.stderr
    assert "--loss" in done.stderr
    missing = experts(tmp_path / "nothing.csv")
    assert missing.returncode == 2
    assert "file not found" in missing.stderr


def test_ctrl_c_ends_the_game_with_a_report(table, tmp_path):
    saved = tmp_path / "m.nk"
    command = [sys.executable, "-m", "novikoff", "experts", "-", "--save", saved, "--save-every", "600"]
    game = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    game.stdin.write(table.read_bytes())
    game.stdin.flush()
    end = time.monotonic() + 60
    while not saved.exists():  # it has played what there is
        assert game.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    game.send_signal(signal.SIGINT)
    out, err = game.communicate(timeout=60)  # it does not wait for the silent pipe
    assert game.returncode == 130
    assert b"600 rounds" in out
    assert b"stopped by Ctrl-C after round 600" in err


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_plot_is_written(table, tmp_path, ending):
    path = tmp_path / f"regret.{ending}"
    done = experts(table, "--plot", path)
    assert done.returncode == 0, done.stderr
    assert f"plot written to {path}" in done.stderr
    assert path.stat().st_size > 10_000
    if ending == "svg":
        drawn = path.read_text()
        for text in ("exponential-weights on forecasts.csv", "rounds", "weights", "anna", "ben"):
            assert text in drawn


@pytest.mark.parametrize("more", [(), ("--plot", "regret.svg"), ("--learner", "ada-hedge"), ("--switches", "1")])
@pytest.mark.parametrize("rounds", [600, 250])
def test_the_best_mixture_of_the_rounds_played_is_reported_with_its_limits(table, made, tmp_path, more, rounds):
    found = told(table, "--rounds", str(rounds), *(str(tmp_path / one) if "." in one else one for one in more))
    x, y = made[0][:rounds], made[1][:rounds]
    best = found["best_mixture"]
    weights = np.array([best["weights"].get(name, 0.0) for name in ("anna", "ben", "carla")])
    assert weights.sum() == pytest.approx(1.0)
    assert best["loss_at_least"] <= best["loss"] <= best["loss_at_least"] + 1e-6
    assert ((x @ weights - y) ** 2).sum() == pytest.approx(best["loss"], abs=1e-6)
    assert best["loss"] <= found["best_expert"]["loss"] + 1e-6
    for other in np.random.default_rng(0).dirichlet((1, 1, 1), 200):
        assert ((x @ other - y) ** 2).sum() >= best["loss_at_least"]


def test_no_mixture_is_reported_of_another_loss_or_of_a_resumed_game(table, tmp_path):
    saved = tmp_path / "half.nk"
    assert "best_mixture" not in told(table, "--loss", "absolute")
    assert "best_mixture" in told(table, "--rounds", "250", "--save", str(saved))
    assert "best_mixture" not in told(table, "--resume", str(saved))


def test_one_round_and_one_expert_are_reported_in_the_singular(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("anna,outcome\n0.25,1\n")
    assert experts(path, "-q").stdout.splitlines()[1].startswith("1 round, 1 expert, squared loss 0.5625 (")


def test_a_game_resumes_with_its_experts_in_any_order(table, made, tmp_path):
    saved, turned, more = tmp_path / "game.nk", tmp_path / "turned.csv", tmp_path / "more.csv"
    x, y = made
    rows = [
        ",".join([*(f"{value:.4f}" for value in row[::-1]), str(outcome)]) for row, outcome in zip(x, y, strict=True)
    ]
    turned.write_text("carla,ben,anna,outcome\n" + "\n".join(rows) + "\n")
    more.write_text(table.read_text())
    told(table, "--save", saved)
    again, also = told(more, "--resume", saved, "--again"), told(turned, "--resume", saved)
    assert again["rounds"] == 1200
    same = [key for key in again if key not in ("source", "seconds", "rounds_per_second", "notes")]
    assert {key: also[key] for key in same} == {key: again[key] for key in same}
    assert f"the columns of {turned} are in another order: they are matched by name" in also["notes"]
    turned.write_text(turned.read_text().replace("ben", "dora"))
    done = experts(turned, "--resume", saved)
    assert done.returncode == 2
    assert f'{saved} was trained on: {turned} has no "ben" and a new "dora"' in done.stderr


@pytest.mark.parametrize(
    ("learner", "option", "value"),
    [("exponential-weights:horizon=100", "--horizon", 5), ("fixed-share:switches=2", "--switches", 3),
     ("ada-hedge:seed=1", "--seed", 2)],
)  # fmt: skip
def test_values_given_twice_must_agree(table, learner, option, value):
    done = experts(table, "-l", learner, option, value)
    assert done.returncode == 2
    assert f"{option[2:]} is given twice: {option} {value} and {learner}" in done.stderr
    assert experts(table, "-l", learner, option, learner.rpartition("=")[2], "-q").returncode == 0


def test_generated_losses_are_a_table():
    game = told("stream:random-losses:experts=3,rounds=100", "--switches", "2")
    assert game["rounds"] == 100
    assert {c["theorem"]: c["status"] for c in game["certificates"]}["fixed_share_regret"] in ("valid", "vacuous")
