"""A team is told learner by learner."""

import json

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.games import Output, run_source
from novikoff.cli.saving import Saving
from novikoff.game.ledger import Ledger
from novikoff.game.specs import make
from novikoff.reports import plain, terminal

SPEC = (
    "hedge:learners=[[perceptron:bias=1],[tighter:budget=5,kernel=linear],[consistent:[thresholds:n=20],random=true]]"
)


def played():
    x = np.random.default_rng(0).integers(0, 21, (300, 1))
    team = make(SPEC, "learner")
    return nk.play(team, (x, np.where(x[:, 0] >= 7, 1, -1)))


def test_each_learner_has_a_line_with_mistakes_weight_and_certificate(capsys):
    ledger = played()
    terminal.game(terminal.Out(), ledger, ledger.certify(), SPEC, of_members=ledger.certify_members())
    lines = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:3] == ["learner", "mistakes", "weight"])
    for own, weight, name, line in zip(
        ledger.members, ledger.learner.weights, ledger.learner.names, lines[head + 1 : head + 4], strict=True
    ):
        cells = line.split()
        assert cells[0] == name[:47] + "…" if len(name) > 48 else name
        assert cells[1] == f"{own.mistakes:,}"
        assert float(cells[2]) == float(f"{weight:.4f}") or weight < 0.00005
    assert "perceptron_" in lines[head + 1]
    assert lines[head + 2].endswith("none")
    assert "consistent_expected: expected mistakes <= " in lines[head + 3]
    best = min(range(3), key=lambda k: ledger.members[k].mistakes)
    assert lines[head + 4] == (f"best learner: {ledger.learner.names[best]}, {ledger.members[best].mistakes} mistakes")


def test_json_has_the_members_and_a_learner_alone_has_none():
    ledger = played()
    told = json.loads(json.dumps(plain.game(ledger, ledger.certify(), SPEC, ledger.certify_members())))
    assert [member["mistakes"] for member in told["members"]] == [own.mistakes for own in ledger.members]
    assert sum(member["weight"] for member in told["members"]) == np.float64(1.0)
    assert ["expected_mistakes" in member for member in told["members"]] == [False, False, True]
    assert told["members"][0]["certificates"][0]["theorem"].startswith("perceptron_")
    bare = plain.game(ledger, [], SPEC)
    assert all(member["certificates"] == [] for member in bare["members"])
    alone = nk.play(nk.Perceptron(), [([1.0], 1)])
    assert "members" not in plain.game(alone, [], "perceptron")


@pytest.mark.parametrize(("telling", "times"), [(Output(as_json=True), 1), (Output(as_json=True, certify=False), 0)])
def test_the_command_line_certifies_each_learner_once(monkeypatch, tmp_path, capsys, telling, times):
    path = tmp_path / "rows.csv"
    path.write_text("x,label\n" + "".join(f"{x},{1 if x >= 7 else -1}\n" for x in range(20)))
    certified = []
    plainly = Ledger.certify
    monkeypatch.setattr(Ledger, "certify", lambda ledger, *a, **k: certified.append(ledger) or plainly(ledger, *a, **k))
    assert run_source(SPEC, str(path), {}, {}, (1, None), Saving(), telling) == 0
    assert len([ledger for ledger in certified if not ledger.members]) == 3 * times
    assert len([ledger for ledger in certified if ledger.members]) == times
    told = json.loads(capsys.readouterr().out)
    assert bool(told["members"][0]["certificates"]) == bool(times)
