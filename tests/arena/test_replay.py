"""Replay: the arena's numbers are the library's, and a stranger's script cannot do harm."""

import contextlib
import itertools
import json
import math
import re
from fractions import Fraction
from importlib import resources
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.arena.replay import MOST_MOVES, probe, replay
from novikoff.arena.scenes import SCENES, describe
from novikoff.arena.scenes.spam import HAM, SPAM, VOCABULARY, words_of
from novikoff.core.errors import NovikoffError

LEARNERS = {
    "perceptron": lambda o: nk.Perceptron(bias=float(o.get("bias", 1))),
    "thresholds": lambda o: nk.ThresholdHalving(o.get("n", 100)),
    "race": lambda o: nk.ThresholdHalving(o.get("n", 100)),
    "boxes": lambda o: nk.RectangleHalving(o.get("m", 21), 2),
    "halfspaces": lambda o: nk.CoverHalving(2, largest=256),
    "ellipsoid": lambda o: nk.Ellipsoid(width=2),
    "sphere": lambda o: nk.CoverHalving(3, largest=500),
    "hinge": lambda o: nk.Perceptron(),
    "risk": lambda o: nk.Perceptron(bias=1.0),
    "spam": lambda o: nk.Perceptron(bias=1.0),
    "budgets": lambda o: nk.Forgetron(o.get("budget", 10), gamma=6.0),
    "tree": lambda o: nk.Tree(threshold=float(o.get("threshold", 2))),
    "drift": lambda o: nk.Specialists(nk.Logistic(), block=o.get("block", 8)),
    "coins": lambda o: (
        nk.ExponentialWeights(nk.classes.thresholds(0))
        if o.get("draws")
        else nk.WeightedMajority(nk.classes.thresholds(0))
    ),
    "bandits": lambda o: [nk.TsallisINF, nk.Exp3IX, nk.UCB1][o.get("rule", 0)](o.get("arms", 3)),
    "kernel": lambda o: nk.Forgetron(o["budget"], gamma=6.0) if o.get("budget") else nk.KernelPerceptron(gamma=6.0),
}


def script(game, moves, **more):
    return {"v": 1, "game": game, "moves": moves, **more}


def random_script(game, seed, most=40):
    coins = np.random.default_rng(seed)
    options = {name: int(coins.integers(least, most + 1)) for name, (least, most, _) in SCENES[game].options.items()
               if name != "gamma" and coins.random() < 0.5}  # fmt: skip
    limits = SCENES[game](options, 0, "me").limits()
    moves = [[[int(coins.integers(a, b + 1)) for a, b in limits], "pm"[int(coins.integers(2))]]
             for _ in range(int(coins.integers(1, most)))]  # fmt: skip
    return script(game, moves, options=options)


PAID = {
    "tree": lambda ledger: ledger.log_loss or 0.0,
    "drift": lambda ledger: ledger.log_loss or 0.0,
    "bandits": lambda ledger: ledger.loss,
    "coins": lambda ledger: ledger.mistakes if ledger.deterministic else ledger.expected,
}
OWN = ("hinge", "risk")  # games whose certificates are not those of the learner


def examples(game, moves):
    for place, answer in moves:
        if game == "bandits":
            yield None, np.array([float(place[0] >> i & 1) for i in range(6)])
            continue
        if game == "sphere":
            x = np.array(place) / 100.0
            far = math.hypot(*x)
            x = np.array([*x / far, 0.0] if far >= 1.0 else [*x, math.sqrt(1.0 - far * far)])
            yield x, 1 if answer == "p" else -1
            continue
        if game == "spam":
            words = set(words_of(mails()[place[0]]))
            yield np.array([float(word in words) for word in VOCABULARY]), 1 if answer == "p" else -1
            continue
        if game == "coins":
            yield 0, 1 if answer == "p" else -1
            continue
        x = place[0] if game in ("thresholds", "race") else tuple(place) if game == "boxes" else np.array(place) / 100.0
        yield x, 1 if answer == "p" else -1


def mails():
    """The mails of the scene with seed 0, in its order."""
    every = SPAM + HAM
    return [every[i] for i in np.random.default_rng(0).permutation(len(every))]


def check_against_the_library(game, seed):
    made = random_script(game, seed)
    found = replay(made)
    if game == "experts":
        learner = nk.ExponentialWeights(made["options"].get("experts", 4), loss="table", play="mean")
        one = nk.Game(learner)
        for place, _ in made["moves"]:
            one.learn_one(None, np.array([float(place[0] >> i & 1) for i in range(learner.facts().experts)]))
        paid = one.ledger.expected
    elif game == "intervals":
        alpha, values, paid = 1.0 - made["options"].get("cover", 80) / 100, [0.0, 0.0], 0
        one = nk.Game(nk.Conformal(nk.VAW(), alpha=alpha, step=0.2))
        for place, _ in made["moves"]:
            row, y = np.array([values[-1], values[-2], 1.0]), place[0] / 100
            low, high = one.learner.predict_set(row)
            paid += not low <= y <= high
            one.learn_one(row, y)
            values.append(y)
        assert paid == sum(one.ledger.coverage.misses)
        if made["moves"]:
            assert paid <= found["curve"][-1][1]
    else:
        one = nk.Game(LEARNERS[game](made["options"]))
        for x, y in examples(game, made["moves"]):
            one.learn_one(x, y[: one.learner.arms] if game == "bandits" else y)
        paid = PAID.get(game, lambda ledger: ledger.mistakes)(one.ledger)
    if game in OWN:
        return
    assert found["frames"][-1]["paid"] == paid
    expected = [(c.theorem, c.status, c.bound, c.observed) for c in one.ledger.certify()]
    played = [c for c in found["certificates"] if "of" not in c]
    assert [(c["theorem"], c["status"], c["bound"], c["observed"]) for c in played] == expected


@pytest.mark.parametrize("seed", range(3))
def test_theorem_for_a_dragged_u_is_computed_from_its_hinge_loss(seed):
    made = {**random_script("hinge", seed), "options": {"u": 40 * seed - 60, "v": 75}}
    found = replay(made)
    u = [Fraction(made["options"][name], 100) for name in "uv"]
    rows = [([Fraction(value / 100) for value in place], 1 if answer == "p" else -1) for place, answer in made["moves"]]
    D = sum(max(Fraction(0), 1 - y * (u[0] * x[0] + u[1] * x[1])) for x, y in rows)
    a2 = max(x[0] ** 2 + x[1] ** 2 for x, _ in rows) * (u[0] ** 2 + u[1] ** 2)
    mine, best = found["certificates"]
    assert mine["bound"] == math.floor(D + a2 / 2 + math.sqrt(a2 * D + a2**2 / 4)) == found["curve"][-1][1]
    assert found["frames"][-1]["paid"] <= best["bound"] <= mine["bound"]
    assert best["of"] == "best u found"
    assert sum(found["frames"][-1]["view"]["losses"]) == pytest.approx(float(D), abs=1e-4)


def test_kept_line_is_the_one_that_the_library_keeps():
    found = replay(script("risk", ["a"] * 40, rival="target", seed=2))
    rows = [(np.array(frame["x"]), frame["y"]) for frame in found["frames"][1:]]
    game = nk.play(nk.Perceptron(bias=1.0), iter(rows), candidates=100)  # whose length is not known in advance
    kept = nk.finalize(game, how="best", delta=0.05, stream=rows)
    view, (certificate,) = found["frames"][-1]["view"], found["certificates"]
    line = view["lines"][view["kept"]]
    assert (line["first"], certificate["bound"]) == (kept.index, kept.certificate.bound)
    assert line["errors"] == kept.certificate.quantities["errors"]
    assert found["proof"] is None


def test_memories_of_both_budget_learners_are_shown():
    made = random_script("budgets", 3)
    second = nk.Game(nk.RandomizedBudgetPerceptron(made["options"].get("budget", 10), gamma=6.0))
    for x, y in examples("budgets", made["moves"]):
        second.learn_one(x, y)
    found = replay(made)
    assert found["frames"][-1]["others"] == {"RBP": second.ledger.mistakes}
    assert len(found["frames"][-1]["view"]["rbp"]["supports"]) == second.learner.size
    assert {one["theorem"] for one in found["certificates"] if one.get("of") == "RBP"} == {
        one.theorem for one in second.ledger.certify()
    }


def test_enemy_forces_a_mistake_in_every_round_and_coins_about_a_root():
    found = replay(script("coins", ["a"] * 30, rival="builtin"))
    assert (found["frames"][-1]["paid"], found["frames"][-1]["others"]["best constant"]) == (30, 15)
    flipped = replay(script("coins", ["a"] * 30, rival="target", seed=1))
    forced = {c["theorem"] for c in [*found["certificates"], *flipped["certificates"]]}
    assert {"contrarian_regret", "coin_flip_regret"} <= forced


def test_best_pruning_covers_the_plane_and_counts_what_its_leaves_saw():
    view = replay(script("tree", ["a"] * 120, rival="target"))["frames"][-1]["view"]
    assert len(view["leaves"]) > 2
    assert sum((x1 - x0) * (y1 - y0) for x0, x1, y0, y1 in (leaf["box"] for leaf in view["leaves"])) == pytest.approx(4)


def test_shares_of_the_copies_sum_to_one_and_a_new_copy_leads_after_a_turn():
    frames = replay(script("drift", ["a"] * 100, rival="target", options={"turn": 60}))["frames"]
    for frame in frames:
        assert sum(share for _, share in frame["view"]["copies"]) == pytest.approx(1.0, abs=1e-3)
    assert max(frames[-1]["view"]["copies"], key=lambda one: one[1])[0] > 50
    assert frames[-1]["paid"] < frames[-1]["others"]["first copy"]


def test_spammer_sends_the_mail_that_the_filter_misjudges():
    ordered = replay(script("spam", ["a"] * 12, rival="data"))["frames"][-1]["paid"]
    worst = replay(script("spam", ["a"] * 40, rival="builtin"))
    assert len({frame["view"]["mail"][0] for frame in worst["frames"][1:]}) == 40
    assert worst["frames"][12]["paid"] > ordered
    view = worst["frames"][-1]["view"]
    scores = [score for *_, score in view["next"]]
    assert len(scores) == 5
    assert view["known"] > 20


@pytest.mark.parametrize("game", SCENES)
@pytest.mark.parametrize("seed", range(4))
def test_numbers_are_those_of_the_library(game, seed):
    check_against_the_library(game, seed)


@pytest.mark.slow
@pytest.mark.parametrize("game", SCENES)
def test_numbers_are_those_of_the_library_in_two_hundred_games(game):
    for seed in range(4, 200):
        check_against_the_library(game, seed)


@pytest.mark.parametrize(("game", "rival"), [(g, r) for g, kind in SCENES.items() for r in kind.rivals if r != "me"])
def test_a_rival_plays_the_same_game_every_time_and_nothing_is_broken(game, rival):
    made = script(game, ["a"] * 20, rival=rival, seed=5)
    first, second = replay(made), replay(made)
    first.pop("ms"), second.pop("ms")
    assert first == second
    assert all(one["status"] != "violated" for one in first["certificates"])
    assert [frame["t"] for frame in first["frames"]] == list(range(21))


def test_the_built_in_adversary_has_its_certificate():
    found = replay(script("perceptron", ["a"] * 26, rival="builtin"))
    forced = next(one for one in found["certificates"] if one["theorem"] == "plane_bisection_forced")
    assert found["frames"][-1]["paid"] == forced["bound"] == 26


def test_frames_can_be_requested_from_a_round_on():
    made = random_script("perceptron", 3)
    whole = replay(made)["frames"]
    assert replay({**made, "from": len(whole) - 2})["frames"] == whole[-2:]


@pytest.mark.parametrize("game", ["kernel", "boxes"])
def test_every_frame_has_its_picture_unless_it_is_that_before(game):
    made = random_script(game, 3, most=9)
    picture = None
    for t, frame in enumerate(replay({**made, "fields": True})["frames"]):
        picture = frame.get("field", picture)
        assert picture == replay({**made, "moves": made["moves"][:t], "field": True})["field"]


@pytest.mark.parametrize("game", ["perceptron", "hinge", "drift"])
def test_round_without_certificates_has_the_same_frame(game):
    script = {"v": 1, "game": game, "rival": "target", "seed": 1, "moves": ["a"] * 5, "from": 5, "field": True}
    whole, early = replay(script), replay({**script, "certify": False})
    assert json.dumps(early["frames"]) == json.dumps(whole["frames"])
    assert early.get("field") == whole.get("field")
    assert (early["certificates"], early["curve"], early["best"], early["proof"]) == ([], [], None, None)
    assert replay({**script, "from": 6})["frames"] == []


def test_every_scene_replays_as_json():
    for game in SCENES:
        made = random_script(game, 9)
        json.dumps(replay({**made, "field": True, "curve": True}), allow_nan=False)
    json.dumps(describe())


@pytest.mark.parametrize("game", ["perceptron", "thresholds", "boxes", "halfspaces", "ellipsoid", "hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_honest_opposites_leave_a_target(game, seed):
    made = random_script(game, seed, most=14)
    asked, made["moves"] = made["moves"], []
    for place, _ in asked:
        made["moves"].append([place, "o"])
        found = replay(made)
        made["moves"][-1] = [place, "p" if found["frames"][-1]["y"] > 0 else "m"]
    assert not any(one["status"] == "void" and "not realizable" in one["reason"] for one in found["certificates"])
    last = found["frames"][-1]["x"]
    place = (
        [round(100 * v) for v in last]
        if game not in ("thresholds", "boxes")
        else [last]
        if game == "thresholds"
        else last
    )
    free = probe({**made, "x": place})["free"]
    assert free["+" if found["frames"][-1]["y"] > 0 else "-"]


def test_an_answer_that_no_target_gives_is_not_free():
    moves = [[[10], "p"], [[5], "m"]]
    assert probe(script("thresholds", moves, x=[20]))["free"] == {"+": True, "-": False}
    assert probe(script("thresholds", moves, x=[2]))["free"] == {"+": False, "-": True}
    assert probe(script("thresholds", moves, x=[7]))["free"] == {"+": True, "-": True}
    line = [[[-50, 0], "m"], [[50, 0], "p"]]
    assert probe(script("perceptron", [*line, [[100, 0], "p"]], x=[75, 0]))["free"] == {"+": True, "-": False}
    boxes = [[[3, 3], "p"], [[6, 6], "p"]]
    assert probe(script("boxes", boxes, x=[5, 4]))["free"] == {"+": True, "-": False}
    assert probe(script("boxes", [*boxes, [[8, 5], "m"]], x=[9, 5]))["free"] == {"+": False, "-": True}


def test_votes_are_counted():
    assert probe(script("thresholds", [], x=[0]))["votes"] == {"+": 1, "-": 101}
    votes = probe(script("boxes", [], x=[10, 10]))["votes"]
    assert votes["+"] + votes["-"] == 231**2 + 1
    assert votes["+"] == (11 * 11) ** 2


BAD = [
    [], None, 3, {}, {"v": 2, "game": "perceptron"}, {"v": 1, "game": "nothing"}, {"v": 1, "game": ["perceptron"]},
    {"v": 1, "game": "perceptron", "more": 1}, script("perceptron", "a"), script("perceptron", ["a"]),
    script("perceptron", ["a"] * (MOST_MOVES + 1), rival="target"), script("perceptron", [[[0, 101], "p"]]),
    script("perceptron", [[[0, 0.5], "p"]]), script("perceptron", [[[0, True], "p"]]),
    script("perceptron", [[[0], "p"]]), {**script("perceptron", []), "from": "1"},
    script("perceptron", [[[0, 0], "o"], [[1, 1], "p"]]), script("perceptron", [[[0, 0], "t"], [[1, 1], "o"]]),
    {**script("perceptron", []), "from": -1},
    script("perceptron", [[[0, 0], "x"]]), script("perceptron", [[[0, 0], ""]]), script("perceptron", [[[0, 0]]]),
    script("perceptron", [["00", "p"]]), script("perceptron", [{"0": 1}]), script("perceptron", [], seed=-1),
    script("perceptron", [], seed=True), script("perceptron", [], options={"bias": 7}),
    script("perceptron", [], options={"__class__": 1}), script("perceptron", [], options=[1]),
    script("thresholds", [], options={"n": 10**9}), script("boxes", [], rival="builtin"),
    script("perceptron", [[[0, 0], "p"]], rival="builtin"), script("perceptron", [], rival="perceptron:bias=1"),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_links_that_the_page_would_not_write_are_refused_in_a_sentence(bad):
    with pytest.raises(NovikoffError, match="must"):
        replay(bad)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                        ["v", "game", "moves", "options", "seed", "rival", "from", "field", "x", "n"]), inner,
                        max_size=4), max_leaves=8))  # fmt: skip
def test_any_json_is_played_or_refused(anything):
    for made in (
        anything,
        {"v": 1, "game": "thresholds", **(anything if isinstance(anything, dict) else {"moves": anything})},
    ):
        for act in (replay, probe):
            with contextlib.suppress(NovikoffError):
                act(made)


def lessons():
    """The link of every step of every lesson, as the page has it."""
    page = resources.files("novikoff.arena").joinpath("page", "lessons.js").read_text(encoding="utf-8")
    links = re.findall(r'link: ["`](#[^"`]*)["`]', page)
    assert len(links) == page.count("text: ") > 15
    return [re.sub(r"\$\{A\((\d+)\)\}", lambda found: "A" * int(found[1]), link) for link in links]


@pytest.mark.parametrize("link", lessons())
def test_every_step_of_a_lesson_is_a_game_that_can_be_played(link):
    given = dict(parse_qsl(link[1:], keep_blank_values=True))
    assert set(given["m"]) <= {"A"}
    options = {name: int(value) for name, _, value in (part.partition(":") for part in given["o"].split(",") if part)}
    found = replay(
        script(given["g"], list(given["m"].lower()), options=options, seed=int(given["s"]), rival=given["r"])
    )
    assert int(given["t"]) < len(found["frames"])
    assert all(one["status"] != "violated" for one in found["certificates"])


def test_hidden_target_is_sent_on_request_only_and_labels_every_round():
    for game in ("perceptron", "thresholds"):
        made = script(game, ["a"] * 20, rival="target", seed=4)
        assert "hidden" not in replay(made)
        found = replay({**made, "reveal": True})
        for frame in found["frames"][1:]:
            x, hidden = frame["x"], found["hidden"]
            right = x >= hidden[0] if game == "thresholds" else np.dot(x, hidden[:2]) + hidden[2] >= 0
            assert frame["y"] == (1 if right else -1)
    assert "hidden" not in replay({**script("thresholds", [[[5], "p"]]), "reveal": True})


@pytest.mark.parametrize("game", SCENES)
def test_two_sides_of_the_proof_never_cross(game):
    for seed in range(5):
        found = replay(random_script(game, seed))["proof"]
        if found is None:
            continue
        assert not found["failed"]
        for _, *members in found["points"]:
            size = 1.0 + max(map(abs, members))
            assert all(low <= high + 1e-5 * size for low, high in itertools.pairwise(members))


def test_best_line_of_the_perceptron_has_the_margin_that_it_is_drawn_with():
    moves = [[[40, 60], "p"], [[-70, -30], "m"], [[70, 10], "p"], [[-20, -80], "m"]]
    for bias in (0, 1):
        found = replay(script("perceptron", moves, options={"bias": bias}))["best"]
        w = np.array(found["w"])
        assert found["norm"] == pytest.approx(np.hypot(*w[:2]) if not bias else np.linalg.norm(w))
        signed = [(1 if y == "p" else -1) * (np.dot(w[:2], place) / 100 + w[2]) for place, y in moves]
        assert found["margin"] == pytest.approx(max(min(signed) / found["norm"], 0.0))


def test_race_has_the_mistakes_of_consistent_too():
    moves = random_script("race", 5)["moves"]
    other = nk.Game("consistent:[thresholds:n=100]")
    for (x,), answer in moves:
        other.learn_one(x, 1 if answer == "p" else -1)
    assert replay(script("race", moves))["frames"][-1]["others"] == {"Consistent": other.ledger.mistakes}
    swept = replay(script("race", ["a"] * 40, rival="builtin"))["frames"][-1]
    assert (swept["others"]["Consistent"], swept["paid"]) == (40, 0)


def test_rival_of_intervals_goes_just_outside_and_the_misses_stay_within_their_bound():
    for cover in (50, 80, 95):
        found = replay(script("intervals", ["a"] * 80, rival="builtin", options={"cover": cover}, seed=1))
        paid, bound = found["frames"][-1]["paid"], found["curve"][-1][1]
        assert paid <= bound
        if cover < 95:
            assert paid > 80 * (1 - cover / 100)  # it misses more often than wanted, as far as it can
