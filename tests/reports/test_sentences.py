"""Sentences: every theorem has one for each status, with numbers that are rounded outward; and what comes first."""

import dataclasses
import importlib
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
import samples
from novikoff.core.certificate import DECLARED, Assumption, Bound, Certificate, Words, theorem
from novikoff.online_to_batch.theorems.best_risk import best_risk
from novikoff.reports import page as report_page
from novikoff.reports import plain, sentences, summary, terminal
from novikoff.reports.explanation import theorems
from novikoff.reports.terminal import drift

STATUSES = ("valid", "conditional", "vacuous", "void", "violated")


@pytest.fixture(scope="module")
def every():
    """The theorems, and games that they cover."""
    found = {name: getattr(importlib.import_module(module), name) for name, module in theorems().items()}
    return {
        name: (lambda name=name, case=case: found[name](case.game(case.sample)))
        for name, case in samples.collected("CASES").items()
    }


def made(status="valid", quantity="mistakes", side="upper", kind="D", **more):
    given = {"theorem": "new_theorem", "kind": kind, "side": side, "quantity": quantity, "observed": 3, "bound": 7,
             "trivial": 10, "status": status, "reason": "" if status == "valid" else "the reason"}  # fmt: skip
    return Certificate(**{**given, **more})


@pytest.mark.parametrize("name", theorems())
def test_every_theorem_has_a_sentence_for_each_status(name, every):
    found = every[name]()
    for status in STATUSES:
        bound = None if status == "void" else found.bound
        said = sentences.sentence(dataclasses.replace(found, status=status, bound=bound, reason="the reason"))
        assert said.endswith(".")
        assert not re.search(r"[{}]|None|nan|\.\.|  ", said), said
    words = DECLARED[name].words
    if words is not None and words.why:
        assert sentences.why(found), "a quantity has another name"


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("side", "kind"), [("upper", "D"), ("lower", "D"), ("upper", "E"), ("upper", "P")])
@pytest.mark.parametrize("quantity", ["mistakes", "expected mistakes", "regret", "risk", "anything new"])
def test_theorem_without_words_is_described_by_its_quantity(status, side, kind, quantity):
    bound = None if status == "void" else 7
    observed = 9 if status == "violated" and side == "upper" else 3
    said = sentences.sentence(made(status, quantity, side, kind, bound=bound, observed=observed))
    assert said.endswith(".")
    assert ("the reason" in said.lower()) == (status == "void")
    assert ("report" in said) == (status == "violated")


def test_violation_within_the_bound_states_its_reason():
    said = sentences.sentence(made("violated", observed=3, bound=7))
    assert said.startswith("A proven bound was violated (the reason): this is a bug")


def test_a_theorem_brings_its_own_words():
    words = Words("rounds with a moon", "the moon was {share:down} full", "there was a moon")

    @theorem("D", "valiant1984", words=words)
    def moonlit_mistakes(moon):
        return Bound(7, quantities=moon, observed=3, trivial=10)

    assert moonlit_mistakes.words is DECLARED["moonlit_mistakes"].words is words
    said = sentences.sentence(moonlit_mistakes({"share": 0.12345}))
    assert "Why: the moon was 0.1234 full." in said
    assert "Why: there was a moon." in sentences.sentence(moonlit_mistakes({}))
    void = dataclasses.replace(moonlit_mistakes({}), status="void", bound=None, reason="it was day")
    assert sentences.sentence(void) == "It was day. The theorem covers rounds with a moon."
    del DECLARED["moonlit_mistakes"]


def test_certificates_of_a_file_have_their_words_in_a_new_process(tmp_path):
    ledger = nk.play(nk.Perceptron(bias=1.0), spam(), candidates=50)
    mixed = nk.parallel_perceptron(spam(), shards=2, epochs=2, held=1, threads=1)
    nk.save(nk.finalize(ledger, "best", stream=spam()), tmp_path / "kept.nk")
    nk.save(mixed.kept, tmp_path / "held.nk")
    nk.save(ledger, tmp_path / "game.nk", without_rows=True)
    script = """if True:
        import sys, novikoff as nk
        from novikoff.reports.sentences import sentence
        kept, held, game = map(nk.load, sys.argv[1:])
        print(*map(sentence, [kept.certificate, held.certificate, *game.certify()]), sep="\\n")
    """
    files = [str(tmp_path / name) for name in ("kept.nk", "held.nk", "game.nk")]
    done = subprocess.run([sys.executable, "-c", script, *files], capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    assert len(told) == 2 + len(ledger.certify())
    known = ("Why: ", "The theorem covers ", "is no better than the number of rounds.")
    assert all(any(words in line for words in known) for line in told), told


@pytest.mark.parametrize("status", ["valid", "vacuous"])
def test_one_mistake_is_one_mistake(status):
    said = sentences.sentence(made(status, observed=1, bound=11, trivial=1, theorem=best_risk.name,
                                   quantities={"first": 1, "trials": 21, "errors": 1}))  # fmt: skip
    assert "1 mistake" in said
    assert not re.search(r"\b1 (mistakes|examples|errors)", said)
    assert "made 1 error on the 21 that followed" in said or status == "vacuous"


def test_trusted_assumption_is_stated():
    assumed = (Assumption("the moon is full", "trusted"), Assumption("it is night", "checked"))
    said = sentences.sentence(made("conditional", assumptions=assumed))
    assert said.startswith("3 mistakes; guaranteed at most 7. Assumes that the moon is full.")
    assert "The precondition was checked." in said
    assert "no assumption" not in said


@given(st.floats(1e-9, 1e9), st.integers(2, 6))
def test_numbers_are_rounded_outward(value, figures):
    up, down = (float(sentences.rounded(value, side, figures).replace(",", "")) for side in ("upper", "lower"))
    assert down <= value <= up
    assert math.isclose(up, down, rel_tol=10.0 ** (1 - figures))


@given(st.floats(1e-6, 1.0))
def test_a_guaranteed_share_is_never_less_than_it_is(share):
    assert float(sentences.percent(share).removesuffix(" %")) >= 100 * share * (1 - 1e-15)


def test_shares_read_as_people_write_them():
    assert [sentences.about(share) for share in (0.03785, 0.19, 0.367, 1.0, 0.0)] == [
        "3.79 %",
        "19 %",
        "36.7 %",
        "100 %",
        "0 %",
    ]
    assert sentences.percent(0.14338) == "14.4 %"
    assert sentences.percent(0.05) == "5 %"


def spam(rounds=200, flips=0):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rounds, 2)) + 0.2
    truth = x[:, 0] + x[:, 1] > 1.0
    truth[:flips] = ~truth[:flips]
    return x, np.where(truth, "spam", "ham")


def values(ledger):
    return {metric.name: metric for metric in summary.metrics(ledger)}


def test_first_sentence_names_the_baselines_and_the_bound():
    ledger = nk.play(nk.Perceptron(bias=1.0), spam(), rounds=200)
    certificates = ledger.certify()
    best = summary.tightest(certificates)
    rate, constant = (sentences.about(one) for one in (ledger.mistake_rate, ledger.best_constant.costs / 200))
    assert summary.lead(ledger, certificates) == (
        f'{ledger.mistakes} mistakes in 200 rows ({rate}); always "ham": {constant}; '
        f"repeating the previous label: {sentences.about(ledger.last_label / 200)}; "
        f"guaranteed at most {sentences.percent_of(best.bound, 200)} on these rows."
    )
    assert [sentences.percent_of(*one) for one in ((31, 569), (1, 3), (2, 3), (1, 1000), (0, 5), (7, 5))] == [
        "5.45 %", "33.4 %", "66.7 %", "0.1 %", "0 %", "100 %",
    ]  # fmt: skip
    assert summary.named(ledger) == "Labels: spam is +1, ham is -1."


def test_metrics_have_the_values_of_the_ledger_and_their_baselines():
    ledger = nk.play("logistic", spam())
    found, own = values(ledger), ledger.metrics
    assert [*found] == ["accuracy", "log loss", "Brier score", "AUC", "F1"]
    assert float(found["accuracy"].value) == pytest.approx(1 - ledger.mistake_rate, abs=5e-4)
    assert float(found["log loss"].value) == pytest.approx(own.log_loss / 200, rel=5e-3)
    assert float(found["Brier score"].value) == pytest.approx(own.brier / 200, rel=5e-3)
    assert float(found["AUC"].value) == pytest.approx(ledger.auc.value, abs=5e-4)
    assert float(found["F1"].value) == pytest.approx(ledger.f1, abs=5e-4)
    p = own.positives / 200
    entropy = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert found["log loss"].note == f"best constant: {sentences.brief(entropy)}"
    assert found["Brier score"].note == f"best constant: {sentences.brief(p * (1 - p))}"
    accuracy = sentences.share(1 - ledger.best_constant.costs / 200)
    assert f'{ledger.mistakes} mistakes in 200 rows; always "ham": {accuracy};' in found["accuracy"].note
    assert f'for "spam"; always "spam": {sentences.share(2 * p / (1 + p))}' in found["F1"].note


def test_guarantee_is_per_row_next_to_its_baseline():
    ledger = nk.play(nk.Perceptron(bias=1.0), spam(), rounds=200)
    best = summary.tightest(ledger.certify())
    per_row = sentences.per(best.bound, 200)
    assert summary.guarantee(ledger, best) == (
        f"{sentences.brief(ledger.mistakes / 200)} mistakes per row ({ledger.mistakes} in 200); guaranteed at most "
        f'{per_row} ({best.bound}); always "ham": {sentences.brief(ledger.best_constant.costs / 200)} '
        f"({ledger.best_constant.costs})"
    )
    assert float(per_row) >= best.bound / 200


@given(st.floats(0.0, 1.0))
def test_share_is_rounded_to_three_decimals_or_better(value):
    assert float(sentences.share(value)) == pytest.approx(value, abs=5.1e-4)
    assert (sentences.share(value) in ("0", "1")) == (value in (0.0, 1.0))


@given(st.floats(1e-12, 1e12))
def test_brief_numbers_have_three_significant_digits(value):
    assert float(sentences.brief(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)


def test_learner_worse_than_a_constant_is_reported():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.1, 1, -1)
    ledger = nk.play(nk.Perceptron(), (rng.normal(size=(300, 5)), y))
    first, *_ = summary.warnings(ledger, ledger.certify())
    assert ledger.mistakes > ledger.best_constant.costs
    assert first == "Worse than always predicting -1, which learns nothing."


def test_labels_are_written_as_the_user_writes_them():
    rows = np.array([[1.0], [2.0], [-1.0]])
    for y, says in (([0, 1, 1], "1"), ([-1, 1, 1], "+1"), (["no", "yes", "yes"], '"yes"')):
        ledger = nk.play(nk.Perceptron(), (rows, np.array(y)))
        assert f"; always {says}: 33.3 %" in summary.lead(ledger, [])
        assert f" for {says}; always {says}: " in summary.rates(ledger).note
    many = nk.play(nk.Halving(nk.classes.table([[0, 1, 2, 2], [2, 1, 1, 1]])), [(1, 1), (3, 1)])
    assert "; always 1: 0 %" in summary.lead(many, [])
    assert summary.rates(many) is None
    assert summary.named(many) == ""


def test_only_a_bound_worse_than_a_constant_is_reported_as_such():
    ledger = nk.play(nk.Constant(1), [(0, 1)] * 90 + [(0, -1)] * 10)
    assert list(summary.warnings(ledger, [made(bound=11)])) == [
        "The guarantee (11) is weaker than what always predicting +1 achieves (10)."
    ]
    assert list(summary.warnings(ledger, [made(bound=10)])) == []


def test_losses_are_reported_next_to_that_of_the_mean():
    ledger = nk.play(nk.OnlineGradient(), (np.array([[0.1], [0.2], [0.4]]), np.array([0.0, 0.5, 1.0])))
    assert "; always 0.500: 0.167; regret against" in summary.lead(ledger, ledger.certify())


def test_loss_and_bound_worse_than_the_mean_are_reported_as_such():
    ledger = nk.play(nk.OnlineGradient(), (np.full((50, 1), 0.1), np.full(50, 0.9)))
    first, previous, second = summary.warnings(ledger, ledger.certify())
    assert first == "Worse than always predicting 0.900, which learns nothing."
    assert previous.startswith("Worse than repeating the previous number: mean absolute error ")
    assert previous.endswith(" against 0.")
    best = ledger.certify()[0]
    allowed = summary.allowed(ledger, best)
    assert ledger.loss <= best.bound + best.quantities["comparator_loss"] <= allowed
    assert second.startswith("The guarantee (")


def test_lead_of_a_duel_has_the_forced_mistakes():
    ledger = nk.play(nk.ThresholdHalving(100), nk.adversaries.GridBisection(100), rounds=10)
    said = summary.lead(ledger, ledger.certify())
    assert said.startswith("6 mistakes in 10 rounds (60 %); 6 mistakes forced; the adversary guarantees at least 6;")
    assert "always" not in said
    assert list(summary.warnings(ledger, ledger.certify())) == []


def test_drift_is_reported_in_words():
    assert "no evidence" in drift(4.99)
    assert "may not be independent" in drift(5.0)
    assert "are not independent" in drift(20.0)
    assert "1 of 33.3333 runs" in drift(100 / 3)


def test_negligible_share_is_printed_as_zero():
    assert [sentences.about(share) for share in (1.1e-203, 2e-6, 0.038, 0.367, 0.0)] == [
        "0 %", "0.0002 %", "3.8 %", "36.7 %", "0 %",
    ]  # fmt: skip


def test_errors_of_numbers_are_reported_next_to_those_of_the_best_constant():
    x = np.random.default_rng(5).normal(size=(200, 2))
    y = 3.0 * x[:, 0] + 1.0
    ledger = nk.play("vaw", (x, y))
    told = float(np.sqrt(ledger.loss / 200))
    share = 1.0 - ledger.loss / float(np.square(y - y.mean()).sum())
    mae = float(np.abs(nk.play("vaw", (x, y), record=True).recorded() - y).mean())
    means = np.cumsum(y)[:-1] / np.arange(1, 200)
    before = float(np.abs(y[1:] - means).sum() / 200)  # no error in the first row
    best = f"best constant: {sentences.brief(np.std(y))}; R^2 {share:.3g}"
    assert [*summary.errors(ledger)] == [
        ("RMSE", sentences.brief(told), best),
        ("MAE", sentences.brief(mae), f"mean of the rows before: {sentences.brief(before)}"),
    ]
    plainly = plain.game(ledger, ledger.certify(), "vaw")
    assert [plainly[name] for name in ("rmse", "mae", "r2")] == pytest.approx([told, mae, share], rel=1e-12)
    absolute = nk.play("online-gradient:loss=absolute", (x, y))
    assert absolute.mae == pytest.approx(absolute.loss_rate, rel=1e-12)
    assert [one.name for one in summary.errors(absolute)] == ["MAE"]
    walk = np.cumsum(np.random.default_rng(1).normal(size=200))
    ledger = nk.play("vaw", (x, walk))
    again = ledger.metrics.baselines.by_previous()
    assert again.mae == pytest.approx(np.abs(np.diff(walk)).sum() / 200)
    assert again.rmse == pytest.approx(np.sqrt(np.square(np.diff(walk)).sum() / 200))
    assert all(one.note.count("repeating the previous number: ") == 1 for one in summary.errors(ledger))
    assert any("Worse than repeating the previous number: " in one for one in summary.warnings(ledger, []))
    labelled = nk.play("perceptron", (x, np.sign(y)))
    assert [*summary.errors(labelled)] == []
    assert not {"rmse", "mae", "r2"} & plain.game(labelled, [], "perceptron").keys()


@pytest.mark.parametrize(
    ("learner", "stream", "bound"),
    [
        (nk.Halving(nk.classes.thresholds(1000)), [(3, -1), (900, 1)],
         "at most 9 mistakes on any stream whose labels a hypothesis fits (log2 of 1,002 hypotheses)"),
        (nk.Halving(nk.classes.thresholds(1000)), [(3, -1), (3, 1)],  # void, and still known before the game
         "at most 9 mistakes on any stream whose labels a hypothesis fits (log2 of 1,002 hypotheses)"),
        (nk.Consistent(nk.classes.thresholds(1000)), [(3, -1), (900, 1)],
         "at most 1,001 mistakes on any stream whose labels a hypothesis fits (one less than the 1,002 hypotheses)"),
        (nk.CoverHalving(2), [((1.0, 0.1), 1), ((0.1, 1.0), -1)],
         "at most 2 mistakes on any stream separated with a margin above 0.5 R, R being the length of the longest row "
         "(log2 of 7 directions, and the bounds of the coarser covers)"),
        (nk.Perceptron(), [((1.0, 0.1), 1), ((0.1, 1.0), -1)], ""),
    ],
)  # fmt: skip
def test_reports_have_the_bound_known_before_the_game(capsys, learner, stream, bound):
    ledger = nk.play(learner, stream)
    certificates = ledger.certify()
    assert summary.a_priori(certificates) == bound
    terminal.game(terminal.Out(), ledger, certificates, "learner")
    printed = " ".join(capsys.readouterr().out.split())
    assert (f"a priori {bound}." in printed) if bound else ("a priori" not in printed)
    page = "".join(report_page.promised(ledger, certificates))
    assert (f"A priori: {bound}." in page) if bound else ("A priori" not in page)


def test_reports_have_the_mistakes_of_the_comparator_next_to_its_hinge_loss():
    rows = [((1.0, 0.0), 1), ((0.0, 1.0), -1)] * 20 + [((1.0, 0.0), -1)]
    found = {one.theorem: one for one in nk.play(nk.Perceptron(), rows).certify()}
    for name in ("perceptron_lengths", "perceptron_hinge"):
        assert found[name].quantities["comparator_mistakes"] == 1
        assert sentences.why(found[name]).endswith("; that classifier makes at most 1 mistake itself")
    assert plain.certificate(found["perceptron_hinge"])["quantities"]["comparator_mistakes"] == 1
    separable = {one.theorem: one for one in nk.play(nk.Perceptron(), rows[:-1]).certify()}
    assert separable["perceptron_hinge"].quantities["comparator_mistakes"] == 0
    assert "itself" not in sentences.why(separable["perceptron_hinge"])


@pytest.mark.parametrize("passes", [1, 3])
def test_mistakes_of_the_comparator_in_hindsight_count_every_pass(passes):
    rows = np.array([[1.0, 0.0], [0.0, 1.0]] * 20 + [[1.0, 0.0]])
    labels = np.array([1, -1] * 20 + [-1])
    ledger = nk.play(nk.Perceptron(), nk.Arrays(rows, labels), passes=passes, hindsight=True)
    facts = ledger.hindsight.facts
    wrong = {u.direction: u.mistakes for u in (*facts.comparators, *facts.penalized)}
    for number, u in enumerate(ledger.hindsight.directions, 1):
        if number in wrong and np.any(u):
            assert wrong[number] == passes * np.count_nonzero(labels * (rows @ u[:2]) <= 0) == passes
