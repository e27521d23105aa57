"""The contracts, over the samples of every learner: its test file declares them (samples.py).

A short run plays the first sample of each learner at length, and so the first of each family on each kind of rows; the
others for a while.
"""

import itertools
from functools import partial

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import ModelFileError
from novikoff.core.registry import CATALOG
from novikoff.game import ledger_state
from novikoff.game.specs import make
from novikoff.testing import check_certificate, check_learner
from samples import examples, has_labels, learner_samples

SAMPLES = learner_samples()
CASES = [sample for samples in SAMPLES.values() for sample in samples]
IDS = [f"{k}-{spec}" for k, (spec, _, _) in enumerate(CASES)]
LABELLED = [k for k, (spec, _, _) in enumerate(CASES) if has_labels(spec)]
every = pytest.mark.parametrize(("spec", "stream", "bad"), [CASES[k] for k in LABELLED], ids=[IDS[k] for k in LABELLED])
"""Every sample that pays mistakes; those with another loss: test_every_forecaster.py, and their own files."""
noisy = pytest.mark.parametrize(
    "noise",
    [pytest.param(0.0, marks=pytest.mark.slow, id="realizable"), pytest.param(0.1, id="noisy")],
)
"""Streams that a target explains are played by every learner below, which must keep its promise."""


def chosen():
    """The first sample of each learner, and the first of each family on each kind of rows."""
    seen, found = set(), set()
    kinds = [(name, id(bad)) for name, samples in SAMPLES.items() for _, _, bad in samples]
    for k, (name, rows) in enumerate(kinds):
        family = CATALOG[name].load().__mro__[-2]
        if not {name, (family, rows)} <= seen:
            found.add(k)
        seen |= {name, (family, rows)}
    return found


CHOSEN = chosen()


def samples(which, *noises):
    """Samples with some noise; those that are not chosen, and streams without noise where others have it, are slow."""
    for k in which:
        for noise in noises:
            marks = [] if k in CHOSEN and noise == noises[-1] else pytest.mark.slow
            yield pytest.param(*CASES[k], noise, marks=marks, id=f"{'noisy' if noise else 'realizable'}-{IDS[k]}")


ENOUGH = 140
"""Rounds for the contracts: more than a batch of each size has (novikoff/testing/learners.py), and a saved part."""


def first(rounds, played):
    """The first rounds of arrays or pairs; any other stream as it is."""
    if isinstance(played, tuple):
        return tuple(part[:rounds] for part in played)
    return played[:rounds] if isinstance(played, list) else played


@pytest.mark.parametrize(("spec", "stream", "bad", "noise"), list(samples(range(len(CASES)), 0.0, 0.1)))
def test_every_contract_is_kept(spec, stream, bad, noise):
    check_learner(partial(make, spec, "learner"), first(ENOUGH, examples(stream, noise)), refused=bad)


@every
@noisy
@pytest.mark.parametrize("seeds", [[1], pytest.param(range(2, 8), marks=pytest.mark.slow)], ids=["once", "again"])
def test_no_certificate_is_ever_violated(spec, stream, bad, noise, seeds):
    for seed in seeds:
        for certificate in nk.play(make(spec, "learner"), examples(stream, noise, seed)).certify():
            check_certificate(certificate)
            assert certificate.status != "conditional"


# A target outside the class; or a budget so small, or a kernel so wide, that the bound is vacuous or void.
NOTHING_SAID = {
    "tightest-box:dim=2",
    "rbp:budget=1,kernel=linear,bias=2",
    "rbp:budget=7,kernel=polynomial,normalize_kernel=true",
    "forgetron:budget=7,kernel=polynomial,normalize_kernel=true,bias=1",
    "forgetron:budget=1,gamma=0.5",
    "cks:budget=20,gamma=0.5",
    "cks:budget=none,kernel=linear,distill=true",
    "cks:budget=9,kernel=linear,beta=0.5,distill=true",
    "cks:budget=1,gamma=0.5",
}


@pytest.mark.parametrize(("spec", "stream", "bad", "noise"), list(samples(LABELLED, 0.0)))
def test_a_learner_that_guarantees_something_keeps_it_on_realizable_streams(spec, stream, bad, noise):
    learner, played = make(spec, "learner"), examples(stream, noise, 3)
    if isinstance(played, list):
        again = list(itertools.islice(itertools.cycle(played), 2000))
    else:
        again = tuple(np.resize(part, (2000, *part.shape[1:])) for part in played)
    found = nk.play(learner, again).certify()
    if not learner.promises:
        assert found == []
    elif spec in NOTHING_SAID:
        assert {certificate.status for certificate in found} <= {"vacuous", "void"}
    else:
        assert found[0].status == "valid", f"{found[0]}: name a stream that the theorem covers, or add to NOTHING_SAID"


def without_a_round(state, name):
    """The state of a learner with one round less, wherever it counts them."""
    if isinstance(state, dict):
        return {key: value - 1 if key == name and type(value) is int and value > 0 else without_a_round(value, name)
                for key, value in state.items()}  # fmt: skip
    return state


@every
def test_a_saved_game_that_contradicts_itself_is_refused(spec, stream, bad):
    ledger = nk.play(make(spec, "learner"), examples(stream, 0.1), rounds=40, record=True)
    state, learner = ledger_state.state_of(ledger), ledger.learner
    assert ledger_state.restore(state, learner).rounds == ledger.rounds == 40
    top = ledger.rounds + 1
    for change in (
        {"mistakes": top},
        {"positives": top},
        {"rounds": top},
        {"rounds": ledger.rounds - 1},
        {"passes": top + 1},
        {"seconds": -1.0},
        {"curve": state["curve"][:-1]},
        {"curve": [*state["curve"][:-1], [ledger.rounds, top]]},
        {"curve": [[t, ledger.mistakes + 1] for t, _ in state["curve"]]},
        {"predictions": state["predictions"][1:]},
        {"expected": (float(top), 0.0)},
        {"_next": top + 7},
    ):
        with pytest.raises(ModelFileError):
            ledger_state.restore({**state, **change}, learner)
    if "rounds" in state["before"]:
        shorter = type(learner).restore(without_a_round(learner.state(), "rounds"))
        with pytest.raises(ModelFileError):
            ledger_state.restore(state, shorter)
    for part, whole in (("survivors", "hypotheses"), ("weight", "whole")):
        if part in state["before"] and whole in state["before"]:
            with pytest.raises(ModelFileError):
                ledger_state.restore(
                    {**state, "before": {**state["before"], part: state["before"][whole] + 1}}, learner
                )
