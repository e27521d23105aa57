"""Two checks written again from docs/proofs.md alone: they agree with the checker on proofs and on changed ones."""

import base64
import copy
import hashlib
import json
import math
import zlib
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from novikoff_verify.command import VERIFIED, Verification

RNG = np.random.default_rng(8)
VECTORS = np.round(RNG.normal(size=(50, 3)), 1)
SIGNS = np.where(VECTORS @ [1.0, -2.0, 1.0] + 0.3 * RNG.normal(size=50) > 0, 1, -1)
POINTS = [(i * 37 % 51, 1 if i * 37 % 51 > 20 else -1) for i in range(30)]


def number(text):
    return Fraction(float.fromhex(text)) if "0x" in str(text) else Fraction(text)


def rows_and_mistakes(proof, text):
    """Return the words of each line and whether the round was a mistake; None if the rows are other ones."""
    lines = text.decode().splitlines()
    if hashlib.sha256(text).hexdigest() != proof["data"]["sha256"] or len(lines) != proof["data"]["rows"]:
        return None
    bits = zlib.decompress(base64.b64decode(proof["wrong"]))
    return [(line.split(), bits[t // 8] >> t % 8 & 1) for t, line in enumerate(lines)]


def lengths_to_depth_data(proof, text):
    """Check perceptron_lengths."""
    (claim,) = (claim for claim in proof["claims"] if claim["theorem"] == "perceptron_lengths")
    given, u0, mistakes = claim["witness"], Fraction(1, 2**53), claim["observed"]
    found = rows_and_mistakes(proof, text)
    if found is None or mistakes > claim["bound"] or sum(wrong for _, wrong in found) != mistakes:
        return False
    u = {int(place): number(weight) / number(given["scale"]) for place, weight in given["weights"].items()}
    kappa, bias, loss, most = number(given["kappa"]), number(proof["learner"]["bias"]), Fraction(0), 0
    for (label, *words), _ in found:
        x = {int(place): number(value) for place, value in (word.split(":") for word in words)}
        x |= {-1: bias} if bias else {}
        margin = int(label) * sum(u.get(place, 0) * value for place, value in x.items())
        loss += max(Fraction(0), 1 + kappa * sum(value**2 for value in x.values()) - margin)
        most = max(most, len(x))
    square = number(given["square"])
    if loss > number(given["loss"]) or sum(w**2 for w in u.values()) > square or most > given["nonzeros"]:
        return False
    g = given["nonzeros"] * u0 / (1 - given["nonzeros"] * u0)
    growth = (1 + u0 * mistakes) / (1 - u0 * mistakes) * (1 + g * (math.isqrt(mistakes) + 1))
    return math.floor(number(given["loss"]) + growth**2 * square / (4 * kappa)) <= claim["bound"]


def halving_with_replay(proof, text):
    """Check halving_mistakes on thresholds, and that Halving makes these mistakes."""
    (claim,) = proof["claims"]
    found, known = rows_and_mistakes(proof, text), proof["learner"]["class"]
    if found is None or known["class"] != "thresholds" or claim["observed"] > claim["bound"]:
        return False
    left = set(range(known["n"] + 2))
    before, mistakes = len(left), 0
    for (label, point), wrong in found:
        ahead = {k for k in left if int(point) >= k}
        predicted = 1 if 2 * len(ahead) >= len(left) else -1
        if (predicted != int(label)) != bool(wrong):
            return False
        mistakes += wrong
        if wrong or not proof["learner"].get("conservative"):
            left = ahead if int(label) == 1 else left - ahead
    same = (before, len(left), mistakes) == (claim["witness"]["before"], claim["witness"]["after"], claim["observed"])
    return same and bool(left) and before < len(left) * 2 ** (claim["bound"] + 1)


CHANGES = {
    "nothing": lambda proof, claim: None,
    "bound": lambda proof, claim: claim.update(bound=claim["bound"] - 1),
    "loss": lambda proof, claim: claim["witness"].update(loss="3", after=claim["witness"].get("after", 0) + 1),
    "mistakes": lambda proof, claim: claim.update(observed=claim["observed"] - 1),
    "digest": lambda proof, claim: proof["data"].update(sha256="0" * 64),
    "learner": lambda proof, claim: proof["learner"].update(bias=(2.0).hex(), conservative=True),
}


@pytest.mark.every_combination
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("learner", "rows", "check", "depth"), [
    (lambda: nk.Perceptron(), (VECTORS, SIGNS), lengths_to_depth_data, "data"),
    (lambda: nk.Perceptron(bias=1.0), (VECTORS, SIGNS), lengths_to_depth_data, "data"),
    (lambda: nk.ThresholdHalving(50), POINTS, halving_with_replay, "replay"),
])  # fmt: skip
def test_check_written_from_the_page_agrees(learner, rows, check, depth, change, tmp_path):
    data = tmp_path / "x.rows"
    nk.play(learner(), rows, proof=str(data)).write_proof(tmp_path / "x.json")
    proof = json.loads((tmp_path / "x.json").read_text())
    proof["claims"] = proof["claims"][:1]
    other = copy.deepcopy(proof)
    CHANGES[change](other, other["claims"][0])
    found = check(other, data.read_bytes())
    assert found == (Verification(other, str(data), depth).status == VERIFIED)
    assert found == (change == "nothing")
