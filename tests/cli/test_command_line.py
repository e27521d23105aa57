"""The command line as a user meets it: real files, exit codes, and real processes where they matter."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.cli.main import main
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.reports.sentences import brief

NOVIKOFF = [sys.executable, "-m", "novikoff"]


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (500, 4))
    path = tmp_path_factory.mktemp("data") / "stream.csv"
    label = np.where((x[:, 0] < x[:, 2]) & (x[:, 1] == 0), "yes", "no")
    rows = "\n".join(",".join([*map(str, row), y]) for row, y in zip(x.tolist(), label, strict=True))
    path.write_text("a,b,c,d,label\n" + rows + "\n")
    return path


def test_run_finds_a_program_in_a_csv_file(csv):
    done = novikoff("run", "halving:[programs:bits=18],prior=length", str(csv))
    assert done.returncode == 0, done.stderr
    assert "no is -1, yes is +1" in done.stderr
    assert "500 rows" in done.stdout
    assert "(halving_mistakes; details: -v)" in " ".join(done.stdout.split())
    assert "valid" in done.stdout


def test_json_is_one_complete_object(csv):
    done = novikoff("run", "halving:[programs:bits=18],prior=length", str(csv), "--json", "--quiet")
    told = json.loads(done.stdout)
    keys = {"learner", "source", "rounds", "mistakes", "mistake_rate", "passes", "seconds", "rounds_per_second", "size"}
    assert keys <= set(told)
    (certificate,) = told["certificates"]
    fields = {
        "theorem",
        "kind",
        "side",
        "observed",
        "bound",
        "trivial",
        "status",
        "reason",
        "assumptions",
        "quantities",
    }
    assert fields <= set(certificate)
    assert certificate["observed"] == told["mistakes"] <= certificate["bound"] <= 16
    assert eval(told["survivor"], {"x": [0, 0, 1, 0]})
    assert not eval(told["survivor"], {"x": [0, 1, 1, 0]})
    assert done.stderr == ""


def test_positive_turns_the_labels_round(csv):
    told = json.loads(novikoff("run", "constant:label=1", str(csv), "--json", "--positive", "no").stdout)
    other = json.loads(novikoff("run", "constant:label=1", str(csv), "--json").stdout)
    assert told["mistakes"] + other["mistakes"] == 500


def test_a_run_can_be_saved_and_loaded(csv, tmp_path):
    assert novikoff("run", "halving:[programs:bits=16]", str(csv), "--save", str(tmp_path / "m.nk")).returncode == 0
    assert nk.load(tmp_path / "m.nk").rounds == 500
    refused = novikoff("run", "halving:[programs:bits=16]", str(csv), "--save", str(tmp_path / "no" / "m.nk"))
    assert refused.returncode == 2
    assert "Create it, or choose another" in refused.stderr


def test_a_duel_shows_both_directions():
    told = json.loads(
        novikoff("duel", "threshold-halving:n=1000", "grid-bisection:n=1000", "--rounds", "50", "--json").stdout
    )
    upper, lower = told["certificates"]
    assert (upper["side"], lower["side"]) == ("upper", "lower")
    assert upper["bound"] == lower["bound"] == told["mistakes"] == 9


@pytest.mark.parametrize("adversary", ["contrarian", "coin-flip", "coin-flip:seed=3"])
@pytest.mark.parametrize(
    "learner",
    ["halving:[thresholds:n=3]", "halving:[halfspaces:n=1,dim=2]", "cover-halving:dim=2", "tightest-box:dim=2,m=4"],
)
def test_oblivious_adversaries_play_every_learner(learner, adversary):
    from novikoff.game.specs import make

    player = make(learner, "learner")
    ledger = nk.play(player, make(adversary, "adversary", domain=player.domain), rounds=64)
    assert all(certificate.status != "violated" for certificate in ledger.certify())


def test_two_values_of_seed_are_two_games():
    spec = ("duel", "consistent:[thresholds:n=300],random=true", "coin-flip", "--rounds", "200", "--json")
    one, same, other = (json.loads(novikoff(*spec, "--seed", seed).stdout)["mistakes"] for seed in ("1", "1", "2"))
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "threshold-halving:n=10", "missing.csv"), "missing.csv"),
        (("run", "threshold-halving:n=10", "demo:nothing"), "demo"),
        (("run", "nonsense", "demo:iris"), "must be one of"),
        (("run", "threshold-halving", "demo:thresholds"), "n is missing"),
        (("run", "threshold-halving:n=10", "demo:iris"), "index[11]"),
        (("run", "threshold-halving:n=10", "demo:thresholds"), "index[1000001]"),
        (("run", "halving:[thresholds:n=10**12]", "demo:thresholds"), "1,000,000,000,002"),
        (("run", "halving:[programs:bits=60]", "demo:iris"), "programs"),
        (("run", "threshold-halving:n=10", "demo:thresholds", "--passes", "0"), "passes"),
        (("duel", "rectangle-halving:m=4,dim=2", "bisection"), "has any"),
        (("duel", "threshold-halving:n=10", "halving"), "the name of an adversary must be one of"),
        (("explain", "nonsense"), "no name or term to explain is called"),
        (("no-such-command",), "no-such-command"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(arguments, says):
    done = novikoff(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_label_column_that_is_not_there_is_named(csv):
    done = novikoff("run", "halving:[programs:bits=10]", str(csv), "--label", "spam")
    assert done.returncode == 2
    assert "spam" in done.stderr
    assert "a, b, c, d, label" in done.stderr


def test_a_violated_certificate_is_exit_code_4(monkeypatch):
    monkeypatch.setattr(ThresholdHalving, "_predict", lambda self, i: -1 if 2 * i + 1 >= self.lo + self.hi else 1)
    monkeypatch.delattr(ThresholdHalving, "learn_many")
    done = novikoff("run", "threshold-halving:n=1000000", "demo:thresholds", "--rounds", "2000")
    assert done.returncode == 4, done.stderr
    assert "violated" in done.stdout


def test_ctrl_c_reports_finished_rounds():
    game = subprocess.Popen(
        [*NOVIKOFF, "duel", "midpoint", "bisection", "--rounds", "100000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert game.stderr.readline().split() == ["rounds", "mistakes", "error", "rate", "latest"]  # it is under way
    game.send_signal(signal.SIGINT)
    out, err = game.communicate(timeout=60)
    assert game.returncode == 130
    assert "stopped by Ctrl-C after round" in err
    said = " ".join(out.split())
    assert (
        "(bisection_forced; details: -v)" in said or "a round was answered and not played" in said
    )  # if it came in a round


def test_progress_renews_one_line_on_a_terminal():
    master, slave = pty.openpty()
    game = subprocess.Popen(
        [*NOVIKOFF, "duel", "midpoint", "bisection", "--rounds", "1000000"], stdout=subprocess.PIPE, stderr=slave
    )
    os.close(slave)
    seen, end = b"", time.monotonic() + 20
    while b"rounds/s" not in seen and time.monotonic() < end:
        seen += os.read(master, 4096)
    game.send_signal(signal.SIGINT)
    game.communicate(timeout=60)
    os.close(master)
    assert b"\r" in seen
    assert b"error rate" in seen
    assert b"rounds/s" in seen


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom novikoff.cli.main import main\n"
        "assert main(['--help']) == 0\n"
        "heavy = {'numpy', 'numba', 'scipy', 'pyarrow', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_run_on_a_file_does_not_import_scikit_learn(csv):
    code = (
        "import sys\nfrom novikoff.cli.main import main\n"
        f"assert main(['run', 'halving:[programs:bits=10]', {str(csv)!r}]) == 0\n"
        "heavy = {'sklearn', 'matplotlib', 'rich'} & set(sys.modules)\nassert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_demo_violates_no_certificate():
    done = novikoff("demo")
    assert done.returncode == 0, done.stderr
    assert "x[2] < x[1]" in done.stdout
    assert "petal length (cm) < sepal width (cm)" in done.stdout
    assert "the adversary guarantees at least 19." in done.stdout
    assert "violated" not in done.stdout
    (page,) = re.findall(r"python -m webbrowser (\S+)", done.stdout)
    assert "log loss" in Path(page).read_text()
    shutil.rmtree(Path(page).parent)


def test_python_m_novikoff_is_novikoff():
    for arguments, code, out, error in (
        (["--version"], 0, f"novikoff {nk.__version__}\n", ""),
        (["explain", "nonsense"], 2, "", novikoff("explain", "nonsense").stderr),
    ):
        done = subprocess.run([*NOVIKOFF, *arguments], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (code, out, error)


def test_version_list_and_explain_print():
    assert novikoff("--version").stdout == f"novikoff {nk.__version__}\n"
    assert "threshold-halving" in novikoff("list").stdout
    assert "demo:iris" in json.loads(novikoff("list", "--json").stdout)["source"]
    told = novikoff("explain", "halving").stdout
    for word in ("Algorithm", "Promise", "Cost", "Reference", "Proof", "Littlestone"):
        assert word in told
    assert "Proof" in novikoff("explain", "halving-mistakes").stdout


def test_default_learner_is_auto_with_log_loss_and_brier_score(csv):
    told = json.loads(novikoff("run", str(csv), "--json").stdout)
    ledger = nk.play(None, nk.read(str(csv)))
    assert (told["learner"], told["mistakes"]) == ("auto", ledger.mistakes)
    assert (told["log_loss"], told["brier"]) == (ledger.log_loss / 500, ledger.brier / 500)
    p = ledger.positives / 500
    lines = [line.split() for line in novikoff("run", "--passes", "1", str(csv)).stdout.splitlines()]
    entropy = brief(-p * np.log(p) - (1 - p) * np.log(1 - p))
    assert ["log", "loss", brief(told["log_loss"]), "best", "constant:", entropy] in lines
    assert ["Brier", "score", brief(told["brier"]), "best", "constant:", brief(p * (1 - p))] in lines
    plain = json.loads(novikoff("run", "perceptron", "--json", str(csv)).stdout)
    assert plain["learner"] == "perceptron:bias=1,scale=standard"
    assert "log_loss" not in plain


def test_default_learner_of_a_numeric_target_is_auto_regression(csv):
    numbers = csv.with_name("many.csv")
    numbers.write_text("a,y\n" + "".join(f"{t % 7},{3 * (t % 7) + t % 3 / 2}\n" for t in range(60)))
    told = json.loads(novikoff("run", str(numbers), "--json").stdout)
    ledger = nk.play(None, str(numbers))
    assert (told["learner"], told["loss"]) == ("auto-regression", ledger.loss)
    result = novikoff("run", str(numbers))
    assert "y of " in result.stderr
    assert "is numeric: regression. For classification pass --positive." in result.stderr


def test_a_game_resumes_with_its_own_learner_where_none_is_named(csv):
    saved = str(csv.with_name("perceptron.nk"))
    novikoff("run", "perceptron", str(csv), "--rounds", "100", "--save", saved)
    told = json.loads(novikoff("run", str(csv), "--resume", saved, "--json").stdout)
    assert (told["learner"].partition(":")[0], told["rounds"]) == ("perceptron", 500)
    refused = novikoff("run", "auto", str(csv), "--resume", saved)
    assert "a resumed game keeps its learner" in refused.stderr


def test_explain_gives_the_reason_for_missing_learners():
    for name in ("diagonal-arow", "passive-aggressive", "PA-I", "coin-betting", "scinol"):
        told = novikoff("explain", name).stdout
        assert "is not included" in told
        assert "Use `" in told


def test_vaw_plays_numbers_or_labels_as_configured(csv):
    numbers, labels = csv.with_name("numbers.csv"), ("run", "vaw:probabilities=true", str(csv), "--json")
    numbers.write_text("a,y\n1,2.5\n2,4.5\n3,7.0\n")
    told = json.loads(novikoff("run", "vaw", str(numbers), "--json").stdout)
    assert [one["quantity"] for one in told["certificates"]] == ["squared loss"]
    assert "log_loss" not in told
    assert [one["quantity"] for one in json.loads(novikoff(*labels).stdout)["certificates"]] == ["Brier score"]


def test_bad_usage_is_reported_in_one_line():
    for arguments, said in (
        (["run"], "novikoff run: the following arguments are required: SOURCE. See: novikoff run --help\n"),
        (["run", "perceptron:bias=1"], "novikoff run: the following arguments are required: SOURCE. See:"),
        (["run", "a", "b", "--pases", "3"], "novikoff run: unknown argument: --pases 3 (did you mean --passes?). See:"),
        (["run", "a", "b", "--passes", "0"], "argument --passes: must be at least 1: got 0"),
        (["run", "a", "b", "--bits", "99"], "argument --bits: must be 1 to 28: got 99"),
        (["run", "a", "b", "--passes", "two"], "argument --passes: must be an integer: got 'two'"),
        (["ran"], "argument VERB: must be one of demo, run,"),
    ):
        done = novikoff(*arguments)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    alone = novikoff()
    assert (alone.returncode, "\nlearn:\n  run " in alone.stdout) == (2, True)


def test_a_reader_that_leaves_early_is_no_error():
    shell = f"{sys.executable} -m novikoff explain perceptron | head -n 1"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == ""


def test_skipped_lines_are_reported_after_the_run(tmp_path):
    path = tmp_path / "bad.svm"
    path.write_text("1 1:1\nx\n-1 2:1\n")
    said = "1 bad line of " + str(path) + " skipped, the first: "
    for arguments in (["run", "perceptron", path], ["convert", path, tmp_path / "a.arrow"]):
        done = novikoff(*map(str, arguments), "--skip-bad", "3")
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(said) == 1
    told = json.loads(novikoff("run", "perceptron", str(path), "--skip-bad", "3", "--json").stdout)
    assert any(said in note for note in told["notes"])


def test_importance_weights_are_refused_or_left_out(tmp_path):
    path = tmp_path / "weighted.vw"
    path.write_text("1 2 | a:1\n-1 | b:2\n")
    assert "--ignore-weights" in novikoff("run", "perceptron", str(path)).stderr
    done = novikoff("run", "perceptron", str(path), "--ignore-weights")
    assert "2 rows" in done.stdout
    assert "1 row of" in done.stderr


def test_hindsight_prints_both_ends_of_each_bound(csv):
    told = json.loads(novikoff("run", "perceptron:bias=1", str(csv), "--hindsight", "--json").stdout)
    low, high = told["hindsight"]["hinge"]
    assert low <= high
    assert told["certificates"][0]["bound"] <= high
    done = novikoff("run", "perceptron:bias=1", str(csv), "--hindsight")
    assert "is the least possible" in done.stdout
    assert "hindsight: hinge bound" in done.stderr
    refused = novikoff("run", "perceptron", "-", "--hindsight", "--format", "svmlight", input="1 1:1\n-1 1:-1\n")
    assert refused.returncode == 2
    assert "read again" in refused.stderr


def test_output_wraps_at_the_width_of_the_terminal(monkeypatch, capsys):
    for width in (60, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["run", "perceptron", "demo:breast-cancer", "-q"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert width - 12 < max(map(len, lines)) <= width
