"""Games of learners in a metric that were saved, left and resumed end with the same bits, certificates among them."""

import numpy as np
import pytest

import novikoff as nk
from helpers import bits
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.game.specs import make

SPECS = [
    "ftrl", "ftrl:newton,rate=4", "logistic", "arow", "arow:diagonal=true", "second-order-perceptron", "vaw",
    "vaw:probabilities=true", "linear-mixture:fast=true", "linear-mixture",
]  # fmt: skip


def rows(spec):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4)) * [1.0, 100.0, 1e-3, 1.0] * (rng.random((300, 4)) < 0.8)
    score = x @ [1.0, -0.01, 500.0, 0.0] + rng.normal(size=300)
    return x, score if spec == "vaw" else np.where(score < 0.0, -1, 1)


@pytest.mark.parametrize("keep", [16_000_000, 8_000])
@pytest.mark.parametrize("spec", SPECS)
def test_resume_matches_uninterrupted_run_to_the_bit(spec, keep, tmp_path, monkeypatch):
    monkeypatch.setattr(MetricTracker.__init__, "__defaults__", ((0.0,), -1.0, None, keep, True, None))
    whole = nk.play(make(spec, "learner"), rows(spec))
    ledger = nk.play(make(spec, "learner"), rows(spec), rounds=37)
    for rounds in (20, 160, None):  # a matrix grows, comparators are fitted, copies of weights are made in between
        nk.save(ledger, tmp_path / "left.nk", force=True)
        ledger = nk.load(tmp_path / "left.nk")
        nk.play(ledger.learner, rows(spec), rounds, ledger=ledger, resume=True)
    assert bits(ledger.learner.state()) == bits(whole.learner.state())
    assert (ledger.rounds, ledger.mistakes, ledger.loss, ledger.log_loss) == (
        whole.rounds, whole.mistakes, whole.loss, whole.log_loss
    )  # fmt: skip
    assert ledger.certify() == whole.certify()
    assert all(one.status in ("valid", "vacuous") for one in whole.certify())
