"""Proof files are verified at every depth that covers them, and refuted once claim, data or mistakes change."""

import ast
import base64
import copy
import hashlib
import json
import random
import re
import shlex
import subprocess
import sys
import zlib
from decimal import localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import novikoff as nk
import novikoff_verify
from helpers import novikoff
from novikoff.core.errors import InputError
from novikoff.game.proof_file import bits_of, packed
from novikoff.game.specs import make
from novikoff_verify.command import REFUTED, UNCHECKED, VERIFIED, Verification, read, verify
from novikoff_verify.exact import DIGITS, RefutedError, binomial_enough

RNG = np.random.default_rng(5)
LOSSES = np.round(RNG.random((40, 3)) * [1.0, 0.8, 0.9], 3)
VECTORS = np.round(RNG.normal(size=(60, 3)), 2)
SIGNS = np.where(VECTORS @ [1.0, 2.0, -1.0] + 0.2 * RNG.normal(size=60) > 0, 1, -1)
POINTS = [((a, b), 1 if 2 <= a <= 5 and 1 <= b <= 4 else -1) for a in range(6) for b in range(6)]
TABLE = [[1, -1, 1, -1], [-1, -1, 1, 1], [1, 1, 1, -1]]
GAMES = {
    "perceptron": (nk.Perceptron, (VECTORS, SIGNS)),
    "perceptron with bias": (lambda: nk.Perceptron(bias=1.0), (np.round(4 * VECTORS), SIGNS)),
    "separable": (nk.Perceptron, (VECTORS, np.where(VECTORS[:, 0] > 0.0, 1, -1))),
    "thresholds": (lambda: nk.ThresholdHalving(50), [(i * 37 % 51, 1 if i * 37 % 51 > 20 else -1) for i in range(30)]),
    "conservative": (
        lambda: nk.ThresholdHalving(50, conservative=True),
        [(i * 11 % 51, 1 if i * 11 % 51 > 33 else -1) for i in range(20)],
    ),
    "rectangles": (lambda: nk.RectangleHalving(6, 2), POINTS),
    "listed rectangles": (lambda: nk.Halving(nk.classes.rectangles(6, 2)), POINTS),
    "prior": (
        lambda: nk.Halving(nk.classes.table(TABLE), prior=[1, 5, 2]),
        [(t % 4, TABLE[1][t % 4]) for t in range(8)],
    ),
    "consistent": (lambda: nk.Consistent(nk.classes.thresholds(20)), [(i * 8 % 21, 1 if i * 8 % 21 > 8 else -1)
                                                                      for i in range(20)]),
    "restarts": (lambda: nk.ThresholdHalving(9), [(5, 1), (2, -1), (2, 1), (7, -1), (4, 1), (6, 1), (3, -1)]),
    "weighted majority": (
        lambda: nk.WeightedMajority(nk.classes.table(TABLE), beta=0.3, prior=[1, 2, 1]),
        [(t % 4, TABLE[t % 3][t % 4]) for t in range(14)],
    ),
    "conservative majority": (
        lambda: nk.WeightedMajority(nk.classes.thresholds(6), conservative=True),
        [(t * 5 % 7, 1 if (t * 5 % 7 > 3) != (t == 6) else -1) for t in range(14)],
    ),
    "tightest box": (lambda: nk.TightestBox(2, m=6), POINTS),
    "anytime": (lambda: nk.ExponentialWeights(3, loss="table"), LOSSES),
    "fixed rate": (lambda: nk.ExponentialWeights(3, loss="table", eta=0.3), LOSSES),
    "prior of experts": (lambda: nk.ExponentialWeights(3, loss="table", prior=[3.0, 1.0, 0.5]), LOSSES),
    "ada-hedge": (lambda: nk.AdaHedge(3, loss="table"), LOSSES),
}  # fmt: skip
CLAIMED = {
    "perceptron": {"perceptron_lengths", "perceptron_hinge", "perceptron_squared_hinge"},
    "separable": {"perceptron_lengths", "perceptron_hinge", "perceptron_squared_hinge", "perceptron_margin"},
    "consistent": {"consistent_mistakes"},
    "anytime": {"anytime_regret", "mixability_gaps"},
    "fixed rate": {"fixed_rate_regret", "mixability_gaps"},
    "prior of experts": {"anytime_regret", "mixability_gaps"},
    "ada-hedge": {"ada_hedge_regret"},
}


@pytest.fixture(scope="module")
def proofs(tmp_path_factory):
    """The proof and the rows of each game, written once."""
    folder = tmp_path_factory.mktemp("proofs")
    found = {}
    for number, (name, (new, rows)) in enumerate(GAMES.items()):
        data = str(folder / f"{number}.rows")
        ledger = nk.play(new(), rows, proof=data)
        ledger.write_proof(folder / f"{number}.json")
        found[name] = read(str(folder / f"{number}.json")), data
    return found


def depths(proof, data):
    return Verification(proof, data).results


@pytest.mark.parametrize("name", GAMES)
def test_proof_is_verified_at_every_depth(proofs, name):
    proof, data = proofs[name]
    found = depths(proof, data)
    claimed = {claim["theorem"] for claim in proof["claims"]}
    assert claimed == CLAIMED.get(name, claimed)
    assert found == {(one, depth): "verified" for one in claimed for depth in ("arithmetic", "data", "replay")}


@pytest.mark.parametrize("name", ["perceptron", "rectangles", "anytime"])
def test_changed_data_is_refuted(proofs, name, tmp_path):
    proof, data = proofs[name]
    lines = Path(data).read_text().splitlines()
    rng = random.Random(3)
    for _ in range(12):
        other = list(lines)
        at = rng.randrange(len(lines) - 1)
        way = rng.choice(["swap", "drop", "repeat", "digit"])
        if way == "swap":
            other[at], other[at + 1] = other[at + 1], other[at]
        elif way == "drop":
            del other[at]
        elif way == "repeat":
            other.insert(at, other[at])
        else:
            other[at] = other[at][:-1] + ("1" if other[at][-1] != "1" else "2")
        if other == lines:
            continue
        (tmp_path / "changed.rows").write_text("\n".join(other) + "\n")
        assert Verification(proof, str(tmp_path / "changed.rows")).status == REFUTED, (way, at)


def test_learner_that_plays_otherwise_is_refuted(proofs):
    proof, data = copy.deepcopy(proofs["perceptron"][0]), proofs["perceptron"][1]
    proof["learner"]["bias"] = (1.0).hex()
    assert depths(proof, data)["perceptron_hinge", "replay"].startswith("REFUTED")


def test_rows_of_a_file_are_verified_as_they_stand(tmp_path):
    table = "\n".join(["a,b,label", *(f"{x},{y},{'yes' if s > 0 else 'no'}" for (x, y, _), s in zip(VECTORS.tolist(),
                       SIGNS, strict=True))])  # fmt: skip
    (tmp_path / "table.csv").write_text(table)
    ledger = nk.play("perceptron:scale=none,bias=0", str(tmp_path / "table.csv"), proof=True)
    ledger.write_proof(tmp_path / "table.json")
    assert set(depths(read(str(tmp_path / "table.json")), str(tmp_path / "table.csv")).values()) == {"verified"}
    sparse = "\n".join(f"{s} 1:{x} 4:{y}" for (x, y, _), s in zip(VECTORS.tolist(), SIGNS, strict=True))
    (tmp_path / "rows.svm").write_text(sparse)
    ledger = nk.play("perceptron:scale=none,bias=0", str(tmp_path / "rows.svm"), proof=True)
    ledger.write_proof(tmp_path / "rows.json")
    assert set(depths(read(str(tmp_path / "rows.json")), str(tmp_path / "rows.svm")).values()) == {"verified"}


DUELS = {
    "orthogonal_forced": ("perceptron", "orthogonal:k=8"),
    "grid_bisection_forced": ("threshold-halving:n=30", "grid-bisection:n=30"),
    "bisection_forced": ("perceptron:bias=1", "bisection"),
    "budget_forced": ("rbp:budget=3,kernel=linear", "budget-ruin:budget=3"),
    "majority_flip_forced": ("halving:[cube:4]", "majority-flip:k=4"),
    "contrarian_regret": ("weighted-majority:[thresholds:n=4]", "contrarian"),
}


def duelled(learner, adversary, data):
    """Return the ledger of a duel, with its rows written."""
    player = make(learner, "learner")
    return nk.play(player, make(adversary, "adversary", domain=player.domain), rounds=9, proof=data)


@pytest.mark.parametrize("name", DUELS)
def test_proof_of_a_duel_covers_the_adversary(name, tmp_path):
    ledger = duelled(*DUELS[name], str(tmp_path / "d.rows"))
    ledger.write_proof(tmp_path / "d.json")
    proof = read(str(tmp_path / "d.json"))
    found = depths(proof, str(tmp_path / "d.rows"))
    assert found[name, "arithmetic"] == found[name, "data"] == "verified"
    assert not any(text.startswith("REFUTED") for text in found.values())
    (claim,) = (claim for claim in proof["claims"] if claim["theorem"] == name)
    claim["bound"] += 1
    claim["observed"] += 1
    assert Verification(proof, str(tmp_path / "d.rows")).status == REFUTED


PARTS = {"ftrl": "ftrl_regret", "logistic": "logistic_regret", "tree": "tree_pruning"}


@pytest.mark.parametrize("name", PARTS)
def test_sum_of_parts_is_verified_by_arithmetic(name, tmp_path):
    ledger = nk.play(name, (VECTORS, SIGNS), proof=True)
    ledger.write_proof(tmp_path / "p.json")
    proof = read(str(tmp_path / "p.json"))
    assert Verification(proof, None).results[PARTS[name], "arithmetic"] == "verified"
    (claim,) = (claim for claim in proof["claims"] if claim["theorem"] == PARTS[name])
    claim["bound"] = (float.fromhex(claim["bound"]) * 0.999).hex()
    assert Verification(proof, None).results[PARTS[name], "arithmetic"].startswith("REFUTED")


MIXTURES = {
    "auto": SIGNS,
    "auto:drift=false": SIGNS,
    "auto of many labels": (np.arange(60) * 7 % 11 > 4) * 1 + (SIGNS > 0),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_mixture_is_replayed_on_its_forecasts(name, tmp_path):
    data = tmp_path / "m.rows"
    labels = "multiclass" if "many" in name else None
    ledger = nk.play(name.partition(" ")[0], (VECTORS, MIXTURES[name]), proof=str(data), labels=labels)
    ledger.write_proof(tmp_path / "m.json")
    proof = read(str(tmp_path / "m.json"))
    assert proof["data"]["kind"] == "forecasts"
    assert proof["learner"]["rule"] == ("bayes" if "drift" in name else "fixed-share")
    assert set(depths(proof, str(data)).values()) == {"verified"}
    (claim,) = proof["claims"]
    bound = float.fromhex(claim["bound"])
    cut = (bound - float.fromhex(claim["observed"])) / 2
    price = str(Fraction(claim["witness"]["price"]) - Fraction(cut))
    less = {**proof, "claims": [{**claim, "bound": (bound - cut * 0.999).hex(),
                                 "witness": {**claim["witness"], "price": price}}]}  # fmt: skip
    found = depths(less, str(data))
    assert found[claim["theorem"], "arithmetic"] == "verified"
    assert found[claim["theorem"], "data"].startswith("REFUTED: every path costs more")
    lines = data.read_text().splitlines()
    words = lines[40].split()
    lines[40] = " ".join([*words[:-1], (float.fromhex(words[-1]) + 1e-6).hex()])
    data.write_text("\n".join(lines) + "\n")
    other = copy.deepcopy(proof)
    other["data"]["sha256"] = hashlib.sha256(data.read_bytes()).hexdigest()
    assert depths(other, str(data))[claim["theorem"], "replay"].startswith("REFUTED: the forecast played is not")


def test_mixture_for_numbers_is_replayed_on_its_forecasts(tmp_path):
    y = np.round(VECTORS @ [1.0, 2.0, -1.0] + 0.2 * np.sin(np.arange(60)), 2)
    ledger = nk.play("auto-regression", (VECTORS, y), proof=str(tmp_path / "n.rows"))
    ledger.write_proof(tmp_path / "n.json")
    proof = read(str(tmp_path / "n.json"))
    assert (proof["data"]["kind"], proof["learner"]["rule"]) == ("numbers", "ada-hedge")
    assert set(depths(proof, str(tmp_path / "n.rows")).values()) == {"verified"}
    (claim,) = proof["claims"]
    for name in ("loss", "gaps"):
        other = copy.deepcopy(proof)
        other["claims"][0]["witness"][name] = str(Fraction(claim["witness"][name]) * Fraction(99, 100))
        assert Verification(other, str(tmp_path / "n.rows")).status == REFUTED


RING = np.where(np.sum(VECTORS[:, :2] ** 2, axis=1) > 1.2, 1, -1)
KERNELS = {
    "rbf": lambda: nk.KernelPerceptron(gamma=0.5),
    "polynomial": lambda: nk.KernelPerceptron("polynomial", degree=3, constant=0.5, bias=0.5),
    "normalised": lambda: nk.KernelPerceptron("polynomial", normalize_kernel=True),
    "linear": lambda: nk.KernelPerceptron("linear", bias=1.0),
    "budget": lambda: nk.RandomizedBudgetPerceptron(budget=50, gamma=0.7),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_perceptron_is_verified_at_every_depth(name, sparse, tmp_path):
    rows = (VECTORS, RING)
    if sparse:
        rows = [
            ({i: v for i, v in enumerate(x) if v > 0.0}, y)
            for x, y in zip(VECTORS.tolist(), RING.tolist(), strict=True)
        ]
    ledger = nk.play(KERNELS[name](), rows, proof=str(tmp_path / "k.rows"))
    ledger.write_proof(tmp_path / "k.json")
    proof, data = read(str(tmp_path / "k.json")), str(tmp_path / "k.rows")
    found = depths(proof, data)
    assert set(found.values()) == {"verified"}
    assert len(found) >= (3 if name == "budget" else 9)
    for claim in proof["claims"]:
        other = copy.deepcopy({**proof, "claims": [claim]})
        other["claims"][0]["bound"] -= 1 + other["claims"][0]["bound"] // 100
        assert depths(other, data)[claim["theorem"], "arithmetic"].startswith("REFUTED")
        for name in ("loss", "square", "longest"):
            other = copy.deepcopy({**proof, "claims": [claim]})
            other["claims"][0]["witness"][name] = str(
                Fraction(claim["witness"][name]) * Fraction(999, 1000) - Fraction(1, 100)
            )
            assert Verification(other, data).status == REFUTED
    proof["learner"]["gamma" if name in ("rbf", "budget") else "bias"] = (3.0).hex()
    assert Verification(proof, data).status == REFUTED


COVERED = {
    "one threshold": lambda: nk.Conformal(nk.Logistic(), alpha=0.2),
    "late outcomes": lambda: nk.Conformal(nk.Logistic(), alpha=0.3, step=0.4, delay=3),
    "groups": lambda: nk.Conformal(nk.Perceptron(), alpha=0.2, step=0.3, groups=lambda x: x[0] > 0.5),
    "numbers": lambda: nk.Conformal(nk.VAW(), alpha=0.1, step=0.3),
    "large step": lambda: nk.Conformal(nk.Logistic(), alpha=0.1, step=20.0),
}


@pytest.mark.parametrize("name", COVERED)
def test_misses_of_sets_are_replayed(name, tmp_path):
    y = np.round(VECTORS @ [1.0, 2.0, -1.0], 2) if name == "numbers" else SIGNS
    ledger = nk.play(COVERED[name](), (VECTORS, y), proof=str(tmp_path / "c.rows"))
    ledger.write_proof(tmp_path / "c.json")
    proof, data = read(str(tmp_path / "c.json")), str(tmp_path / "c.rows")
    found = depths(proof, data)
    assert {found["coverage_deviation", depth] for depth in ("arithmetic", "data", "replay")} == {"verified"}
    (claim,) = (claim for claim in proof["claims"] if claim["theorem"] == "coverage_deviation")
    proof["claims"] = [claim]
    bound, missed = claim["bound"], proof["missed"]
    claim["bound"] = (float.fromhex(bound) * 0.99).hex()
    assert "does not follow from step" in depths(proof, data)["coverage_deviation", "arithmetic"]
    claim["bound"], proof["missed"] = bound, packed(np.arange(60) % 7 == 1)
    assert depths(proof, data)["coverage_deviation", "data"].startswith("REFUTED")
    proof["missed"] = missed
    assert depths(proof, data)["coverage_deviation", "data"] == "verified"


def test_misses_of_an_empty_set_and_of_a_set_of_everything_are_checked(tmp_path):
    ledger = nk.play(COVERED["large step"](), (VECTORS, SIGNS), proof=str(tmp_path / "c.rows"))
    ledger.write_proof(tmp_path / "c.json")
    proof = read(str(tmp_path / "c.json"))
    proof["claims"] = [claim for claim in proof["claims"] if claim["theorem"] == "coverage_deviation"]
    for flags, why in ((np.zeros(60, bool), "an empty set has no hit"), (np.ones(60, bool), "everything has no miss")):
        proof["missed"] = packed(flags)
        assert why in depths(proof, str(tmp_path / "c.rows"))["coverage_deviation", "data"]


RIDGES = {
    "numbers": lambda: nk.VAW(ridge=0.5),
    "clipped": lambda: nk.VAW(low=-2.0, high=3.0, scale_free=False, bias=0.0),
    "labels": lambda: nk.VAW(probabilities=True),
    "sparse": lambda: nk.VAW(bias=2.0),
}


@pytest.mark.parametrize("name", RIDGES)
def test_ridge_regression_is_verified_at_every_depth(name, tmp_path):
    y = SIGNS if name == "labels" else np.clip(np.round(VECTORS @ [1.0, 2.0, -1.0], 2), -2.0, 3.0)
    rows = [
        ({k: v for k, v in enumerate(x) if v > 0}, one) for x, one in zip(VECTORS.tolist(), y.tolist(), strict=True)
    ]
    ledger = nk.play(RIDGES[name](), rows if name == "sparse" else (VECTORS, y), proof=str(tmp_path / "v.rows"))
    ledger.write_proof(tmp_path / "v.json")
    proof, data = read(str(tmp_path / "v.json")), str(tmp_path / "v.rows")
    assert proof["data"]["kind"] == ("vectors" if name == "labels" else "outcomes")
    assert set(depths(proof, data).values()) == {"verified"}
    for part in ("best_in_hindsight", "chi"):
        other = copy.deepcopy(proof)
        parts = other["claims"][0]["witness"]["parts"]
        parts[part] = str(Fraction(parts[part]) - Fraction(1, 10**5))
        assert depths(other, data)["vaw_regret", "data"].startswith(f"REFUTED: {part} is larger")
    proof["learner"]["ridge"] = "2"
    assert depths(proof, data)["vaw_regret", "replay"].startswith("REFUTED")


LEADERS = {
    "sqrt": lambda: nk.FTRL(),
    "newton": lambda: nk.FTRL(metric="newton", rate=0.5, bias=0.0),
    "sparse": lambda: nk.FTRL(bias=2.0),
    "second order": lambda: nk.Logistic(),
    "small radius": lambda: nk.Logistic(ridge=0.5, radius=0.5, scale_free=False, bias=0.0),
}


@pytest.mark.parametrize("name", LEADERS)
def test_regularised_leader_is_verified_at_every_depth(name, tmp_path):
    used = [{k: v for k, v in enumerate(x) if v > 0} for x in VECTORS.tolist()]
    rows = list(zip(used, SIGNS.tolist(), strict=True))
    ledger = nk.play(LEADERS[name](), rows if name == "sparse" else (VECTORS, SIGNS), proof=str(tmp_path / "v.rows"))
    ledger.write_proof(tmp_path / "v.json")
    proof, data = read(str(tmp_path / "v.json")), str(tmp_path / "v.rows")
    assert set(depths(proof, data).values()) == {"verified"}
    assert proof["claims"][0]["witness"]["weights"]
    for part in ("comparator", "penalty", "delta"):
        other = copy.deepcopy(proof)
        parts = other["claims"][0]["witness"]["parts"]
        parts[part] = str(Fraction(parts[part]) - Fraction(1, 10**6))
        assert f"REFUTED: {part} is larger on these rows" in depths(other, data).values()
    proof["learner"] |= {"rate": "2", "ridge": "2"}
    assert "REFUTED: the loss is another one" in depths(proof, data).values()


def test_limits_on_the_risk_are_verified_by_arithmetic(tmp_path):
    x = np.tile(VECTORS, (4, 1))
    y = np.tile(SIGNS, 4)
    ledger = nk.play(nk.Perceptron(), (x, y), candidates=20, proof=str(tmp_path / "r.rows"))
    risks = [one for how in ("best", "random") for one in nk.finalize(ledger, how, stream=(x, y)).certificates]
    ledger.write_proof(tmp_path / "r.json", risks=risks)
    proof, data = read(str(tmp_path / "r.json")), str(tmp_path / "r.rows")
    found = depths(proof, data)
    assert {found[name, "arithmetic"] for name in ("ensemble_risk", "best_risk")} == {"verified"}
    assert found["ensemble_risk", "replay"] == found["ensemble_risk", "data"] == "verified"
    assert "not sums of rows" in found["best_risk", "data"]
    for claim in proof["claims"]:
        if claim["theorem"] in ("ensemble_risk", "best_risk"):
            claim["bound"] = (float.fromhex(claim["bound"]) * (1 - 1e-12)).hex()
    found = depths(proof, data)
    assert {found[name, "arithmetic"][:7] for name in ("ensemble_risk", "best_risk")} == {"REFUTED"}


@pytest.mark.parametrize(("errors", "trials", "p", "level"), [(0, 10, "1/2", "1/1024"), (1, 10, "1/2", "11/1024"),
                                                             (3, 5, "1/10", "99954/100000")])  # fmt: skip
def test_tail_of_a_binomial(errors, trials, p, level):
    with localcontext(DIGITS):
        level, little = Fraction(level), Fraction(1, 10**30)
        assert binomial_enough(errors, trials, Fraction(p), level + little)
        assert not binomial_enough(errors, trials, Fraction(p), level - little)


def test_adaptive_rate_before_the_first_gap(tmp_path):
    rows = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.5, 0.5, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    first = nk.play(nk.AdaHedge(3, loss="table"), rows, proof=str(tmp_path / "a.rows"))
    first.proof_record.close()  # its rows may be written again
    ledger = nk.play(nk.AdaHedge(3, loss="table"), rows, proof=str(tmp_path / "a.rows"))
    ledger.write_proof(tmp_path / "a.json")
    assert set(depths(read(str(tmp_path / "a.json")), str(tmp_path / "a.rows")).values()) == {"verified"}


def test_member_of_auto_is_verified_by_arithmetic(tmp_path, capsys):
    ledger = nk.play("auto", (VECTORS, SIGNS), proof=True)
    ledger.write_proof(tmp_path / "auto.json")
    assert verify(str(tmp_path / "auto.json")) == VERIFIED
    assert "only the arithmetic" in capsys.readouterr().out
    proof = json.loads((tmp_path / "auto.json").read_text())
    price = float.fromhex(proof["claims"][0]["bound"]) - 0.01
    proof["claims"][0]["bound"] = price.hex()
    (tmp_path / "auto.json").write_text(json.dumps(proof))
    assert verify(str(tmp_path / "auto.json")) == REFUTED


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "novikoff-proof", "version": 1}', "null", '"a"',
                                  '{"format": "novikoff-proof", "version": 1, "claims": []}'])  # fmt: skip
def test_file_that_is_no_proof_is_refuted(text, tmp_path, capsys):
    (tmp_path / "p.json").write_text(text)
    assert verify(str(tmp_path / "p.json")) == REFUTED
    error = capsys.readouterr().err
    assert "is not a proof" in error or "claims nothing" in error


def test_unknown_theorem_or_version_is_not_verified(proofs, tmp_path):
    proof, data = copy.deepcopy(proofs["consistent"])
    proof["claims"][0]["theorem"] = "all_is_well"
    assert Verification(proof, data).status == UNCHECKED
    (tmp_path / "p.json").write_text(json.dumps({**proof, "version": 2}))
    assert verify(str(tmp_path / "p.json")) == UNCHECKED
    assert verify(str(tmp_path / "absent.json")) == UNCHECKED


def test_game_that_was_not_recorded_has_no_proof(tmp_path):
    ledger = nk.play(nk.Perceptron(), (VECTORS, SIGNS))
    with pytest.raises(InputError, match="recorded while the game is played"):
        ledger.write_proof(tmp_path / "p.json")
    with pytest.raises(InputError, match="from the first round"):
        nk.play(ledger.learner, (VECTORS, SIGNS), ledger=ledger, proof=True)


def test_rows_and_batches_have_one_digest():
    one = nk.play(nk.Perceptron(), (VECTORS, SIGNS), proof=True)
    other = nk.play(nk.Perceptron(), [(dict(enumerate(x)), y) for x, y in zip(VECTORS.tolist(), SIGNS.tolist(),
                                                                             strict=True)], proof=True)  # fmt: skip
    assert one.proof_record.data(one)["sha256"] == other.proof_record.data(other)["sha256"]


@pytest.mark.parametrize(("value", "bits"), [(1.0, 0), (0.5, 1), (0.1, 55), (-6.0, 0), (5e-324, 1074), (2.0**60, 0)])
def test_bits_of_a_double(value, bits):
    assert bits_of(np.array([value])) == bits
    assert (Fraction(value) * 2**bits).denominator == 1


def test_page_do_not_trust_us_leads_the_whole_way(tmp_path, monkeypatch):
    """Run its commands, except the last."""
    page = (Path(__file__).parents[2] / "docs" / "do-not-trust-us.md").read_text()
    commands = [shlex.split(line) for line in re.findall(r"^\$ (.*)", page, re.MULTILINE)]
    assert commands.pop() == ["make", "proofs"]
    monkeypatch.chdir(tmp_path)
    codes, printed = [], []
    for words in commands:
        if words[0] == "novikoff":
            code, out, _ = novikoff(*words[1:])
        else:
            found = subprocess.run(words, capture_output=True, text=True, check=True)
            code, out = found.returncode, found.stdout
        codes.append(code)
        printed.append(out)
    assert codes == [0, 0, VERIFIED, 0, REFUTED]
    assert printed[1].split()[0] == json.loads((tmp_path / "cancer.json").read_text())["data"]["sha256"]
    assert printed[2].splitlines()[-1].startswith("verified")
    assert printed[4].splitlines()[-1].startswith("REFUTED")


def test_checker_imports_the_standard_library_only():
    for path in Path(novikoff_verify.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                first = name.partition(".")[0]
                assert first == "novikoff_verify" or first in sys.stdlib_module_names, (path.name, name)


def value_of(number):
    return Fraction(float.fromhex(number)) if isinstance(number, str) and "0x" in number else Fraction(number)


def weaker(claim, rng):
    """Change the bound so that it claims a little more than before."""
    if isinstance(claim["bound"], int):
        claim["bound"] += 1 if claim["side"] == "lower" else -1
        if claim["side"] == "lower":
            claim["observed"] += 1
    else:
        claim["bound"] = str(value_of(claim["bound"]) * Fraction(rng.choice(["99/100", "999999/1000000"])))


def changed(proof, lines, rng):
    """Change a proof or its rows so that what is claimed is not so; return how, and the depths that must see it."""
    claim = rng.choice(proof["claims"])
    sums = sorted(LESS.keys() & claim["witness"].keys())
    own = ["mistake"] if claim["quantity"] in FLAGS else []
    own += ["price"] if "price" in claim["witness"] else ["sum"] if sums else []
    way = rng.choice(["bound", "observed", "rows", "swap", "drop", "repeat", "letter", *own, *own])
    if way == "bound":
        weaker(claim, rng)
        return way, ("arithmetic", "data")
    if way == "observed":
        less = 1 if isinstance(claim["observed"], int) else Fraction(rng.choice(["1/100", "1/10000"]))
        claim["observed"] = str(value_of(claim["observed"]) - less)
        return way, ("arithmetic", "data", "replay")
    if way == "mistake":
        flags = FLAGS[claim["quantity"]]
        bits = bytearray(zlib.decompress(base64.b64decode(proof[flags])))
        t = rng.randrange(proof["data"]["rows"])
        if flags == "missed" and "group" in proof:
            t = next(t for t in range(t, 200) if zlib.decompress(base64.b64decode(proof["group"]))[t % 60 >> 3]
                     >> (t % 60 & 7) & 1) % 60  # fmt: skip
        bits[t >> 3] ^= 1 << (t & 7)
        proof[flags] = base64.b64encode(zlib.compress(bytes(bits))).decode()
        return way, ("data", "replay")
    if way == "price":  # the bound follows, but no path is so cheap
        cut = (value_of(claim["bound"]) - value_of(claim["observed"])) * Fraction(rng.randint(1, 99), 100)
        claim["bound"] = str(value_of(claim["bound"]) - cut)
        claim["witness"]["price"] = str(value_of(claim["witness"]["price"]) - cut)
        return way, ("data",)
    if way == "sum":  # smaller, so that a smaller bound would follow
        name = rng.choice(sums)
        claim["witness"][name] = LESS[name](claim["witness"][name])
        if rng.random() < 0.3 and value_of(claim["bound"]) - value_of(claim["observed"]) > 2:
            weaker(claim, rng)
        return way, ("data", "replay", "arithmetic")
    if way == "rows":
        proof["data"]["rows"] += rng.choice([-1, 1])
        return way, ("data", "arithmetic")
    at = rng.randrange(len(lines) - 1)
    before = list(lines)
    if way == "swap":
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif way == "drop":
        del lines[at]
    elif way == "repeat":
        lines.insert(at, lines[at])
    else:
        place = rng.randrange(len(lines[at]))
        letter = rng.choice("0123456789abcdef.-: ")
        lines[at] = lines[at][:place] + letter + lines[at][place + 1 :]
    return way, ("data",) if lines != before and not same_rows(lines, before) else ()


def same_rows(lines, others):
    """Return whether two texts are of the same rows, written in other ways."""
    return [words_of(line) for line in lines] == [words_of(line) for line in others]


def words_of(line):
    """Return the numbers of a row; a value may be written without 0x."""
    try:
        return [[float.fromhex(part) for part in re.split("[:,]", word)] for word in line.split()]
    except ValueError:
        return line


def less(number):
    return str(Fraction(number) * Fraction(99, 100) - Fraction(1, 1000))


FLAGS = {"mistakes": "wrong", "regret": "wrong", "deviation of coverage": "missed"}
"""Rounds that a claim about this quantity counts."""
LESS = dict.fromkeys(("square", "longest", "best_loss", "gaps", "rates"), less) | {
    "loss": lambda number: less(number) if Fraction(number) else "-1",
    "nonzeros": lambda number: number - 1,
    "rate": lambda number: str(Fraction(number) * 2),
    "before": lambda number: number - 1,
    "after": lambda number: number + 1,
    "restarts": lambda number: number - 1,
    "errors": lambda number: number - 1,
    "grown": lambda number: number - 1,
    "misses": lambda number: number - 1,
}


@pytest.fixture(scope="module")
def every_proof(proofs, tmp_path_factory):
    """The proofs of all kinds of games, with their rows as lines."""
    folder = tmp_path_factory.mktemp("more")
    played = {
        **{name: lambda data, new=new: nk.play(new(), (VECTORS, RING), proof=data) for name, new in KERNELS.items()},
        **{
            f"{name} leader": lambda data, new=new: nk.play(new(), (VECTORS, SIGNS), proof=data)
            for name, new in LEADERS.items()
        },
        "ridge": lambda data: nk.play(nk.VAW(probabilities=True), (VECTORS, SIGNS), proof=data),
        **{name: lambda data, duel=duel: duelled(*duel, data) for name, duel in DUELS.items()},
        **{name: lambda data, new=COVERED[name]: nk.play(new(), (VECTORS, SIGNS), proof=data)
           for name in ("late outcomes", "groups", "large step")},
        "auto": lambda data: nk.play("auto", (VECTORS, SIGNS), proof=data),
        "auto without drift": lambda data: nk.play("auto:drift=false", (VECTORS, SIGNS), proof=data),
    }  # fmt: skip
    found = {name: (proof, Path(data).read_text().splitlines()) for name, (proof, data) in proofs.items()}
    for name, play in played.items():
        play(str(folder / "x.rows")).write_proof(folder / "x.json", force=True)
        proof = read(str(folder / "x.json"))
        if name in COVERED:  # the other claims are checked by arithmetic only
            proof["claims"] = [claim for claim in proof["claims"] if claim["theorem"] == "coverage_deviation"]
        found[name] = proof, (folder / "x.rows").read_text().splitlines()
        (folder / "x.rows").unlink()
    return found


@pytest.mark.parametrize("times", [2, pytest.param(350, marks=pytest.mark.slow)])
@pytest.mark.every_combination
def test_changed_proof_or_data_is_refuted(every_proof, times, tmp_path):
    """37 games: with 350 changes of each, more than 10,000."""
    data, missed, made = tmp_path / "m.rows", [], 0
    for name, (proof, lines) in every_proof.items():
        rng = random.Random(name)
        for number in range(times):
            other, rows = copy.deepcopy(proof), list(lines)
            way, seen_at = changed(other, rows, rng)
            if not seen_at:
                continue
            made += 1
            data.write_text("".join(line + "\n" for line in rows))
            try:
                found = depths(other, str(data))
            except RefutedError:
                continue
            if not any(text.startswith("REFUTED") and depth in seen_at for (_, depth), text in found.items()):
                missed.append((name, number, way))
    assert not missed
    assert made > 0.9 * times * len(every_proof)
