"""Sentences: every theorem has one for each status, with numbers that are rounded outward; and what comes first."""

import dataclasses
import importlib.util
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.certificate import DECLARED, Assumption, Bound, Certificate, Words, theorem
from novikoff.core.registry import CATALOG
from novikoff.online_to_batch.theorems.best_risk import best_risk
from novikoff.reports import plain, sentences, summary
from novikoff.reports.explanation import theorems
from novikoff.reports.terminal import drift

STATUSES = ("valid", "conditional", "vacuous", "void", "violated")


@pytest.fixture(scope="module")
def every():
    """The theorems, and games that they cover."""
    path = Path(__file__).parents[1] / "test_every_theorem.py"
    found = importlib.util.spec_from_file_location("every_theorem", path)
    module = importlib.util.module_from_spec(found)
    sys.modules["every_theorem"] = module
    found.loader.exec_module(module)
    yield {
        name: (lambda name=name: module.EVERY[name](module.CASES[name].game(module.CASES[name].sample)))
        for name in module.CASES
    }
    del sys.modules["every_theorem"]


def made(status="valid", quantity="mistakes", side="upper", kind="D", **more):
    given = {"theorem": "new_theorem", "kind": kind, "side": side, "quantity": quantity, "observed": 3, "bound": 7,
             "trivial": 10, "status": status, "reason": "" if status == "valid" else "the reason"}  # fmt: skip
    return Certificate(**{**given, **more})


HERE = Path(__file__).parent
PLAIN = set((HERE / "plain_words.txt").read_text().split())
"""What any reader knows. A word that is not here must be in the glossary, or be the name of a learner."""
SIGNS = {"ln", "sqrt", "novikoff", "theta"}


def forms(word):
    """The word, and what it may be made of."""
    made = {word} | ({word[:-2] + "is"} if word.endswith("es") else set())
    for end in ("s", "es", "ed", "d", "ing", "ly", "'s", "'", "ies", "er", "est"):
        made |= {word.removesuffix(end) + more for more in ("", "e", "y")} if word.endswith(end) else set()
    return made


def jargon(text):
    """Words of the text that are neither plain, nor in the glossary."""
    table = (HERE.parents[1] / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [line for line in table.splitlines() if line.startswith("| **")]
    terms = " ".join(term for row in rows for term in re.findall(r"\*{1,2}([^*]+)\*{1,2}", row))
    names = " ".join(CATALOG).replace("-", " ")
    known = PLAIN | SIGNS | set(re.findall(r"[a-z']+", f"{terms} {names}".lower()))
    words = re.findall(r"[a-z][a-z']+", re.sub(r"\b\w*[_\d=:]\S*|\binf\b", "", text.lower()))
    return {word for word in words if not forms(word) & known}


def test_jargon_is_found():
    assert jargon("Its regret is 3; the eigenvalues of the Hessian are small.") == {"eigenvalues", "hessian"}


@pytest.mark.parametrize("name", theorems())
def test_every_theorem_has_a_sentence_for_each_status(name, every):
    found = every[name]()
    told = " ".join([found.reason, *(one.claim for one in found.assumptions)])
    assert not jargon(told), "say it in plain words, or explain the word in docs/glossary.md"
    for status in STATUSES:
        bound = None if status == "void" else found.bound
        said = sentences.sentence(dataclasses.replace(found, status=status, bound=bound, reason="the reason"))
        assert said.endswith(".")
        assert not re.search(r"[{}]|None|nan|\.\.|  ", said), said
        assert not jargon(said), "say it in plain words, or explain the word in docs/glossary.md"
    words = DECLARED[name].words
    if words is not None and words.why:
        assert sentences.why(found), "a quantity has another name"


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("side", "kind"), [("upper", "D"), ("lower", "D"), ("upper", "E"), ("upper", "P")])
@pytest.mark.parametrize("quantity", ["mistakes", "expected mistakes", "regret", "risk", "anything new"])
def test_a_theorem_without_words_is_told_by_what_it_says(status, side, kind, quantity):
    bound = None if status == "void" else 7
    said = sentences.sentence(made(status, quantity, side, kind, bound=bound))
    assert said.endswith(".")
    assert ("the reason" in said) == (status == "void")
    assert ("report" in said) == (status == "violated")


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
    assert sentences.sentence(void) == "This promise is for rounds with a moon. It does not apply here: it was day."
    del DECLARED["moonlit_mistakes"]


def test_certificates_of_a_file_have_their_words_in_a_new_process(tmp_path):
    ledger = nk.play(nk.Perceptron(bias=1.0), spam(), keep=50)
    mixed = nk.mix(spam(), shards=2, epochs=2, held=1, threads=1)
    nk.save(nk.keep(ledger, "best", stream=spam()), tmp_path / "kept.nk")
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
    assert all("Why: " in line or line.startswith("This promise is for ") for line in told), told


@pytest.mark.parametrize("status", ["valid", "vacuous"])
def test_one_mistake_is_one_mistake(status):
    said = sentences.sentence(made(status, observed=1, bound=11, trivial=1, theorem=best_risk.name,
                                   quantities={"first": 1, "trials": 21, "errors": 1}))  # fmt: skip
    assert "1 mistake" in said
    assert not re.search(r"\b1 (mistakes|examples|errors)", said)
    assert "21 that followed: 1 error" in said or status == "vacuous"


def test_what_is_trusted_is_an_if():
    assumed = (Assumption("the moon is full", "trusted"), Assumption("it is night", "checked"))
    said = sentences.sentence(made("conditional", assumptions=assumed))
    assert said.startswith("If the moon is full: it made 3 mistakes; the theorem allows at most 7.")
    assert "What it needs was checked." in said
    assert "nothing is assumed" not in said


@given(st.floats(1e-9, 1e9), st.integers(2, 6))
def test_numbers_are_rounded_outward(value, figures):
    up, down = (float(sentences.rounded(value, side, figures).replace(",", "")) for side in ("upper", "lower"))
    assert down <= value <= up
    assert math.isclose(up, down, rel_tol=10.0 ** (1 - figures))


@given(st.floats(1e-6, 1.0))
def test_a_promised_share_is_never_less_than_it_is(share):
    assert float(sentences.percent(share).removesuffix(" %")) >= 100 * share * (1 - 1e-15)


def test_shares_read_as_people_write_them():
    assert [sentences.about(share) for share in (0.03785, 0.19, 0.367, 1.0, 0.0)] == [
        "3.8 %",
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


def test_the_first_sentence_names_the_constant_and_the_bound():
    ledger = nk.play(nk.Perceptron(bias=1.0), spam(), rounds=200)
    certificates = ledger.certify()
    best = summary.tightest(certificates)
    rate = sentences.about(ledger.mistake_rate)
    assert summary.lead(ledger, certificates) == (
        f"{ledger.mistakes} mistakes in 200 rounds ({rate}); always saying ham makes {ledger.best_constant.costs}, "
        f"repeating the previous label {ledger.last_label}; on exactly these rows the theorem allows at most "
        f"{best.bound}."
    )
    assert summary.named(ledger) == "Labels: spam is +1, ham is -1."
    assert summary.rates(ledger).startswith("For spam: precision ")


def test_who_is_worse_than_a_constant_is_told_so():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.1, 1, -1)
    ledger = nk.play(nk.Perceptron(), (rng.normal(size=(300, 5)), y))
    first, *_ = summary.worse(ledger, ledger.certify())
    assert ledger.mistakes > ledger.best_constant.costs
    assert first == "It did worse than always saying -1, which learns nothing."


def test_labels_are_written_as_the_user_writes_them():
    rows = np.array([[1.0], [2.0], [-1.0]])
    for y, says in (([0, 1, 1], "1"), ([-1, 1, 1], "+1"), (["no", "yes", "yes"], "yes")):
        ledger = nk.play(nk.Perceptron(), (rows, np.array(y)))
        assert f"; always saying {says} makes 1" in summary.lead(ledger, [])
        assert summary.rates(ledger).startswith(f"For {says}: ")
    many = nk.play(nk.Halving(nk.classes.table([[0, 1, 2, 2], [2, 1, 1, 1]])), [(1, 1), (3, 1)])
    assert "; always saying 1 makes 0" in summary.lead(many, [])
    assert summary.rates(many) == summary.named(many) == ""


def test_a_bound_that_is_worse_than_a_constant_is_told_so_and_no_other():
    ledger = nk.play(nk.Constant(1), [(0, 1)] * 90 + [(0, -1)] * 10)
    assert list(summary.worse(ledger, [made(bound=11)])) == [
        "The bound says less than a constant does: it allows 11, and always saying +1 makes 10."
    ]
    assert list(summary.worse(ledger, [made(bound=10)])) == []


def test_losses_are_told_beside_that_of_the_mean():
    ledger = nk.play(nk.OnlineGradient(), (np.array([[0.1], [0.2], [0.4]]), np.array([0.0, 0.5, 1.0])))
    assert "; always saying 0.5 loses 0.5; the theorem allows a regret" in summary.lead(ledger, ledger.certify())


def test_a_loss_and_a_bound_on_it_that_are_worse_than_the_mean_are_told_so():
    ledger = nk.play(nk.OnlineGradient(), (np.full((50, 1), 0.1), np.full(50, 0.9)))
    first, second = summary.worse(ledger, ledger.certify())
    assert first == "It did worse than always saying 0.9, which learns nothing."
    best = ledger.certify()[0]
    allowed = summary.allowed(ledger, best)
    assert ledger.loss <= best.bound + best.quantities["comparator_loss"] <= allowed
    assert second.startswith("The bound says less than a constant does: it allows ")


def test_an_adversary_says_what_it_forced():
    ledger = nk.play(nk.ThresholdHalving(100), nk.adversaries.GridBisection(100), rounds=10)
    said = summary.lead(ledger, ledger.certify())
    assert said.startswith(
        "6 mistakes in 10 rounds (60 %); the adversary promised to force at least 6 mistakes, and forced 6;"
    )
    assert "always" not in said
    assert list(summary.worse(ledger, ledger.certify())) == []


def test_drift_is_told_in_words():
    assert "no sign" in drift(4.99)
    assert "may not be independent" in drift(5.0)
    assert "are not independent" in drift(20.0)
    assert "1 of 33.3333 runs" in drift(100 / 3)


def test_a_share_too_small_to_be_told_is_none():
    assert [sentences.about(share) for share in (1.1e-203, 2e-6, 0.038, 0.367, 0.0)] == [
        "0 %", "0.0002 %", "3.8 %", "36.7 %", "0 %",
    ]  # fmt: skip


def test_errors_of_numbers_are_told_beside_those_of_the_best_constant():
    x = np.random.default_rng(5).normal(size=(200, 2))
    y = 3.0 * x[:, 0] + 1.0
    ledger = nk.play("vaw", (x, y))
    told = float(np.sqrt(ledger.loss / 200))
    share = 1.0 - ledger.loss / float(np.square(y - y.mean()).sum())
    mae = float(np.abs(nk.play("vaw", (x, y), record=True).said() - y).mean())
    own = f"RMSE {told:,.6g}, mean absolute error {mae:,.6g}"
    assert summary.errors(ledger) == f"{own}; the best constant: RMSE {np.std(y):,.6g} (R^2 {share:.3g})."
    plainly = plain.game(ledger, ledger.certify(), "vaw")
    assert [plainly[name] for name in ("rmse", "mae", "r2")] == pytest.approx([told, mae, share], rel=1e-12)
    absolute = nk.play("online-gradient:loss=absolute", (x, y))
    assert absolute.mae == pytest.approx(absolute.loss_rate, rel=1e-12)
    assert summary.errors(absolute) == f"Mean absolute error {absolute.mae:,.6g}."
    labelled = nk.play("perceptron", (x, np.sign(y)))
    assert summary.errors(labelled) == ""
    assert not {"rmse", "mae", "r2"} & plain.game(labelled, [], "perceptron").keys()
