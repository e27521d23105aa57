"""Proofs made to deceive the checker: each claims what is not so, and none is accepted."""

import base64
import copy
import hashlib
import json
import subprocess
import sys
import zlib

import numpy as np
import pytest

import novikoff as nk
from novikoff.game.specs import make
from novikoff_verify.command import REFUTED, UNCHECKED, VERIFIED, Verification, main, read
from novikoff_verify.exact import RefutedError, number

RNG = np.random.default_rng(5)
VECTORS = np.round(RNG.normal(size=(60, 3)), 2)
SIGNS = np.where(VECTORS @ [1.0, 2.0, -1.0] + 0.2 * RNG.normal(size=60) > 0, 1, -1)
LOSSES = np.round(RNG.random((40, 3)), 3)
POINTS = [(i * 37 % 51, 1 if i * 37 % 51 > 20 else -1) for i in range(30)]
TABLE = [[1, -1, 1, -1], [-1, -1, 1, 1], [1, 1, 1, -1]]


def duel(learner, adversary, **more):
    player = make(learner, "learner")
    return nk.play(player, make(adversary, "adversary", domain=player.domain), rounds=9, **more)


GAMES = {
    "perceptron": lambda **more: nk.play(nk.Perceptron(), (VECTORS, SIGNS), **more),
    "bias": lambda **more: nk.play(nk.Perceptron(bias=1.0), (VECTORS, SIGNS), **more),
    "halving": lambda **more: nk.play(nk.ThresholdHalving(50), POINTS, **more),
    "majority": lambda **more: nk.play(
        nk.WeightedMajority(nk.classes.table(TABLE), beta=0.3),
        [(t % 4, TABLE[t % 3][t % 4]) for t in range(14)],
        **more,
    ),
    "experts": lambda **more: nk.play(nk.ExponentialWeights(3, loss="table"), LOSSES, **more),
    "ada-hedge": lambda **more: nk.play(nk.AdaHedge(3, loss="table"), LOSSES, **more),
    "auto": lambda **more: nk.play("auto", (VECTORS, SIGNS), **more),
    "tree": lambda **more: nk.play("tree", (VECTORS, SIGNS), **more),
    "orthogonal": lambda **more: duel("perceptron", "orthogonal:k=4", **more),
    "contrarian": lambda **more: duel("weighted-majority:[thresholds:n=4]", "contrarian", **more),
}


@pytest.fixture(scope="module")
def proofs(tmp_path_factory):
    """A proof and the lines of its rows, for each game."""
    folder, found = tmp_path_factory.mktemp("forged"), {}
    for name, play in GAMES.items():
        ledger = play(proof=str(folder / "x.rows"))
        ledger.write_proof(folder / "x.json", force=True)
        found[name] = read(str(folder / "x.json")), (folder / "x.rows").read_text().splitlines()
        (folder / "x.rows").unlink()
    return found


def status(proof, lines=None, folder=None, depth=None):
    """Return the exit code for a proof, and for rows whose digest is set to be that of the proof."""
    if lines is None:
        try:
            return Verification(proof, None).status
        except RefutedError:
            return REFUTED
    path = folder / "forged.rows"
    path.write_text("".join(line + "\n" for line in lines))
    proof["data"] |= {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "rows": len(lines)}
    return Verification(proof, str(path), depth).status


def claim_of(proof):
    """Return the claim of the adversary, or the first one."""
    return min(proof["claims"], key=lambda claim: claim["side"])


def set_witness(**more):
    def forge(proof):
        claim_of(proof)["witness"] |= more

    return forge


def set_claim(**more):
    def forge(proof):
        claim_of(proof).update(more)

    return forge


def twice(proof):
    """Repeat a refuted claim as one that holds."""
    false = copy.deepcopy(proof["claims"][0])
    false["bound"] = 1
    proof["claims"].insert(0, false)


def wrong_learner(proof):
    proof["learner"]["rule"] = "consistent"


def almost_one(proof):
    """A beta so close to 1 that the rounding of its logarithm changes a sign."""
    proof["learner"]["beta"] = f"{10**50 - 1}/{10**50}"
    claim_of(proof)["bound"] = claim_of(proof)["observed"]


def failed_assumption(proof):
    claim_of(proof)["assumptions"].append({"claim": "the learner started untrained", "standing": "refuted"})


def negative_part(proof):
    claim = claim_of(proof)
    claim["witness"]["parts"]["price"] = "-1000"
    claim["bound"] = claim["observed"]


ARITHMETIC = {
    "twice one theorem": ("perceptron", twice),
    "upper bound as a lower one": ("perceptron", set_claim(side="lower", observed=31, bound=30)),
    "lower bound as an upper one": ("orthogonal", set_claim(side="upper", bound=9)),
    "another quantity": ("perceptron", set_claim(quantity="mistakes on every stream")),
    "another learner": ("halving", wrong_learner),
    "more mistakes than rounds": ("perceptron", set_claim(observed=61, bound=1000)),
    "negative mistakes": ("perceptron", set_claim(observed=-5, bound=-5)),
    "part of a mistake": ("perceptron", set_claim(observed="1/2")),
    "negative loss": ("perceptron", set_witness(loss="-1000")),
    "negative rate": ("experts", set_witness(rate="-1/100000")),
    "negative gaps": ("ada-hedge", set_witness(gaps="-5", last_gap="0")),
    "last gap above all": ("ada-hedge", set_witness(last_gap="50")),
    "best expert above the named": ("experts", set_witness(best_loss="1000")),
    "no hypothesis": ("halving", set_witness(after=0)),
    "more hypotheses left than there were": ("halving", set_witness(after=10**6)),
    "beta of almost 1": ("majority", almost_one),
    "failed assumption": ("perceptron", failed_assumption),
    "negative part": ("tree", negative_part),
    "another part": ("tree", lambda proof: claim_of(proof)["witness"]["parts"].update(gift="0")),
    "values without end": ("perceptron", set_witness(nonzeros=2**70)),
    "bits without end": ("perceptron", lambda proof: proof["data"].update(bits=10**9)),
    "infinite weight": ("perceptron", set_witness(weights={"0": "inf"})),
    "weight that is no number": ("perceptron", set_witness(weights={"0": "nan"})),
    "budget where there is none": ("orthogonal", lambda proof: (set_witness(budget=10**9)(proof),
                                                                set_claim(bound=9, observed=9)(proof))),
    "rectangles of many dimensions": ("halving", lambda proof: proof["learner"].update(
        {"class": {"class": "rectangles", "m": 1, "dim": 10**9}})),
    "bound without end": ("halving", set_claim(bound=10**30, observed=10**29)),
}  # fmt: skip


@pytest.mark.parametrize("name", ARITHMETIC)
def test_forged_proof_is_refuted_by_arithmetic(proofs, name):
    game, forge = ARITHMETIC[name]
    proof = copy.deepcopy(proofs[game][0])
    assert status(proof) == VERIFIED
    forge(proof)
    assert status(proof) in (REFUTED, UNCHECKED)


def margin_tenfold(proof, lines):
    """Labels of 10 and -10, whose rows would have ten times the margin."""
    return [line.replace("-1 ", "-10 ", 1) if line.startswith("-") else "10" + line[1:] for line in lines]


def bias_as_feature(proof, lines):
    """A place -1, which is that of the bias: two features for one weight."""
    return [line.replace(" 0:", " -1:0x1.0000000000000p+0 0:", 1) for line in lines]


def place_twice(proof, lines):
    """A value as two halves, whose squares sum to less."""
    return [line.replace(" 2:", " 1:0x1.0000000000000p-3 2:", 1) for line in lines]


def not_contradicted(proof, lines):
    """A game in which the adversary agreed once."""
    flip_mistake(proof, 0)
    claim = claim_of(proof)
    claim["observed"] -= 1
    claim["bound"] = min(claim["bound"], claim["observed"])
    return lines


def flip_mistake(proof, t):
    bits = bytearray(zlib.decompress(base64.b64decode(proof["wrong"])))
    bits[t >> 3] ^= 1 << (t & 7)
    proof["wrong"] = packed(bytes(bits))


def packed(bits):
    return base64.b64encode(zlib.compress(bits)).decode()


def after_the_end(proof, lines):
    flip_mistake(proof, 63)
    return lines


def longer(proof, lines):
    proof["wrong"] = packed(zlib.decompress(base64.b64decode(proof["wrong"])) + b"\0")
    return lines


def not_a_number(proof, lines):
    return ["nan" + lines[0][lines[0].index(" ") :], *lines[1:]]


def certain(proof, lines):
    """Forecasts with a probability above 1."""
    return [" ".join(["-0x1.0000000000000p+3"] * len(line.split())) for line in lines]


DATA = {
    "labels of 10": ("perceptron", margin_tenfold),
    "bias as a feature": ("bias", bias_as_feature),
    "one place twice": ("perceptron", place_twice),
    "adversary that agreed": ("orthogonal", not_contradicted),
    "contrarian that agreed": ("contrarian", not_contradicted),
    "mistake after the last round": ("perceptron", after_the_end),
    "mistakes of more rounds": ("perceptron", longer),
    "loss that is no number": ("experts", not_a_number),
    "probability above 1": ("auto", certain),
    "empty line": ("halving", lambda proof, lines: [*lines, ""]),
    "point of two numbers": ("halving", lambda proof, lines: [lines[0] + ",7", *lines[1:]]),
    "point outside of the table": ("majority", lambda proof, lines: ["1 -1", *lines[1:]]),
    "kind of other rows": ("experts", lambda proof, lines: proof["data"].update(kind="numbers") or lines),
}


@pytest.mark.parametrize("name", DATA)
def test_forged_rows_are_refuted_though_their_digest_fits(proofs, name, tmp_path):
    game, forge = DATA[name]
    proof, lines = copy.deepcopy(proofs[game][0]), list(proofs[game][1])
    assert status(proof, lines, tmp_path, "data") == VERIFIED
    lines = forge(proof, lines)
    assert status(proof, lines, tmp_path, "data") == REFUTED


def test_claim_without_its_mistakes_is_not_verified(proofs, tmp_path):
    proof, lines = copy.deepcopy(proofs["perceptron"])
    del proof["wrong"]
    assert status(proof, lines, tmp_path, "data") == REFUTED


def table_proof(tmp_path):
    rows = [f"{x},{y},{'yes' if s > 0 else 'no'}" for (x, y, _), s in zip(VECTORS.tolist(), SIGNS, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,label", *rows]))
    nk.play("perceptron:scale=none,bias=0", str(tmp_path / "t.csv"), proof=True).write_proof(tmp_path / "t.json")
    return read(str(tmp_path / "t.json")), str(tmp_path / "t.csv")


TABLES = {
    "labels merged": lambda data: data.update(labels={"yes": 1, "no": 1}),
    "label as a column": lambda data: data.update(columns=["a", "b", "label"]),
    "column twice": lambda data: data.update(columns=["a", "a", "b"]),
    "column left out": lambda data: data.update(columns=["a"]),
    "label left out": lambda data: data.update(labels={"no": -1}),
    "labels that are no numbers": lambda data: data.update(labels={"no": "-1", "yes": True}),
}


@pytest.mark.parametrize("name", TABLES)
def test_table_read_in_another_way_is_not_verified(name, tmp_path):
    proof, data = table_proof(tmp_path)
    assert Verification(proof, data).status == VERIFIED
    TABLES[name](proof["data"])
    assert Verification(proof, data).status in (REFUTED, UNCHECKED)


def test_points_are_not_truncated(tmp_path):
    (tmp_path / "p.csv").write_text("x,label\n" + "".join(f"{i}.7,{1 if i > 5 else -1}\n" for i in range(9)))
    (tmp_path / "p.rows").write_text("".join(f"{1 if i > 5 else -1} {i}\n" for i in range(9)))
    ledger = nk.play(nk.ThresholdHalving(10), [(i, 1 if i > 5 else -1) for i in range(9)], proof=True)
    ledger.write_proof(tmp_path / "p.json")
    proof = read(str(tmp_path / "p.json"))
    proof["data"] |= {"columns": ["x"], "label": "label", "labels": {"-1": -1, "1": 1}}
    assert Verification(proof, str(tmp_path / "p.rows")).status == VERIFIED
    assert Verification(proof, str(tmp_path / "p.csv")).status == REFUTED


BOMBS = {
    "zlib": lambda proof: proof.update(wrong=packed(bytes(10**8))),
    "rounds": lambda proof: proof["data"].update(rows=10**18),
}


@pytest.mark.parametrize("name", BOMBS)
def test_lists_that_unpack_to_much_memory_are_refused(proofs, name, tmp_path):
    proof, lines = copy.deepcopy(proofs["perceptron"])
    (tmp_path / "b.rows").write_text("".join(line + "\n" for line in lines))
    BOMBS[name](proof)
    (tmp_path / "b.json").write_text(json.dumps(proof))
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (10**8, 10**8)); "
    run = limit + "from novikoff_verify.command import main; sys.exit(main(sys.argv[1:]))"
    found = subprocess.run([sys.executable, "-c", run, str(tmp_path / "b.json"), str(tmp_path / "b.rows")],
                           capture_output=True, text=True, check=False)  # fmt: skip
    assert found.returncode == REFUTED, found
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("text", ["1e999999999", "1_0", " 1", "1/0", "1.5", "nan", "0x1p99999", "٣", "1" * 5000])
def test_number_in_another_form_is_refused(text):
    with pytest.raises(RefutedError):
        number(text)


def changed_text(proof, old, new):
    text = json.dumps(proof)
    assert old in text
    return text.replace(old, new, 1)


TEXTS = {
    "name twice": ('"claims"', '"claims": [], "claims"'),
    "rows twice": ('"rows": 60', '"rows": 1, "rows": 60'),
    "rows that are no number": ('"rows": 60', '"rows": NaN'),
    "rows as a text": ('"rows": 60', '"rows": "60"'),
    "theorem that is a list": ('"theorem": "perceptron_lengths"', '"theorem": ["perceptron_lengths"]'),
    "theorem that is the learner": ('"theorem": "perceptron_lengths"', '"theorem": "the learner"'),
    "witness that is a list": ('"witness": {', '"witness": [], "other": {'),
    "assumptions without a standing": ('"standing": "checked"', '"stands": "checked"'),
}


@pytest.mark.parametrize("name", TEXTS)
def test_other_structure_is_refused(proofs, name, tmp_path, capsys):
    (tmp_path / "p.json").write_text(changed_text(proofs["perceptron"][0], *TEXTS[name]))
    assert main([str(tmp_path / "p.json")]) in (REFUTED, UNCHECKED)


def test_texts_of_a_proof_do_not_imitate_the_report(proofs, tmp_path, capsys):
    proof = copy.deepcopy(proofs["perceptron"][0])
    forged = "x\n  data        verified\x1b[2Kverified"
    proof["claims"][0]["theorem"] = forged
    proof["claims"][1]["assumptions"].append({"claim": forged, "standing": "trusted"})
    (tmp_path / "p.json").write_text(json.dumps(proof))
    assert main([str(tmp_path / "p.json")]) == UNCHECKED
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\n  data" not in printed


def test_data_that_cannot_be_read_are_not_verified(proofs, tmp_path, capsys):
    (tmp_path / "p.json").write_text(json.dumps(proofs["perceptron"][0]))
    assert main([str(tmp_path / "p.json"), str(tmp_path / "absent.rows")]) == UNCHECKED
    assert "NOT VERIFIED beyond arithmetic" in capsys.readouterr().out
    assert main([str(tmp_path / "p.json"), "--depth", "data"]) == UNCHECKED


def test_learner_that_is_not_named_is_not_replayed(proofs, tmp_path):
    proof, lines = copy.deepcopy(proofs["perceptron"])
    proof["learner"]["rule"] = None
    assert status(proof, lines, tmp_path, "data") == VERIFIED
    assert status(proof, lines, tmp_path) == UNCHECKED
