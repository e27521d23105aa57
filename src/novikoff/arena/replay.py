"""Replay: a script (which game, which options, which moves) becomes the frames of that game, always the same ones.

    {"v": 1, "game": "perceptron", "options": {"bias": 1}, "seed": 0, "rival": "me", "honest": true,
     "moves": [[[50, 20], "p"], [[-30, 5], "o"]], "from": 1, "field": true}

A move is a place and an answer: "p" (+1), "m" (-1), "o" (the opposite of what the learner says) or "t" (what the hidden
target says); or "a": the rival plays the round. If `honest`, "o" says the opposite only while some target fits it. Only
the last move may be "o" or "t": what was answered before is known by then, and to look for targets takes its time.
`from` is the first frame wanted; `field` asks for a picture of the plane after the last, `fields` for that of each
frame (where it is not that of the frame before), `curve` for the bound on the way and not at the end alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from novikoff.arena.scenes import chosen
from novikoff.arena.scenes.plane import Plane
from novikoff.arena.scenes.scene import Scene, checked_options, checked_place
from novikoff.core.certificate import Certificate, bound_text
from novikoff.core.errors import InputError
from novikoff.reports import plain, sentences, summary
from novikoff.reports.bound_curve import mark

VERSION = 1
MOST_MOVES = 1000
ANSWERS = ("p", "m", "o", "t")
EACH = 16
"""Up to this round the bound is evaluated in each, and then whenever the rounds have grown by half a doubling."""


def read(script: Any) -> tuple[Scene, list[Any], bool]:
    """The scene, its moves, and whether answers stay honest; refuses what no page of ours would write."""
    if not isinstance(script, Mapping):
        raise InputError(f"a script must be an object: got {type(script).__name__}.")
    known = {"v", "game", "options", "seed", "rival", "honest", "moves", "from", "field", "fields", "curve", "x"}
    if more := set(script) - known:
        raise InputError(f"a script must have no more than {', '.join(sorted(known))}: got {min(map(str, more))!r}.")
    if script.get("v") != VERSION:
        raise InputError(f"the version of a script must be {VERSION}: got {script.get('v')!r}.")
    kind = chosen(script.get("game"))
    rival, seed, moves = script.get("rival", "me"), script.get("seed", 0), script.get("moves", [])
    if rival not in kind.rivals:
        raise InputError(f"a rival of {kind.name} must be one of {', '.join(kind.rivals)}: got {rival!r}.")
    if type(seed) is not int or not 0 <= seed < 2**31:
        raise InputError(f"a seed must be an integer from 0 to 2^31 - 1: got {seed!r}.")
    if type(first := script.get("from", 0)) is not int or first < 0:
        raise InputError(f"the first frame must be an integer from 0: got {first!r}.")
    if not isinstance(moves, list) or len(moves) > MOST_MOVES:
        raise InputError(f"moves must be a list of at most {MOST_MOVES:,}.")
    if any(isinstance(move, list) and move[-1:] in (["o"], ["t"]) for move in moves[:-1]):
        raise InputError("the answer of a move before the last must be p or m: got o or t.")
    options = script.get("options", {})
    if not isinstance(options, Mapping):
        raise InputError(f"options must be an object: got {type(options).__name__}.")
    return kind(checked_options(kind, options), seed, rival), moves, bool(script.get("honest", True))


def replay(script: Any) -> dict[str, object]:
    """Play it; the frames from round `from` on, the certificates, and the curve of the bound."""
    begin = time.perf_counter()
    scene, moves, honest = read(script)
    first = script.get("from", 0)
    frames = [frame(scene, None, None, None)] if first == 0 else []
    bounds: list[tuple[int, float, bool, str]] = []
    pictures = bool(script.get("fields"))
    last = scene.field() if pictures else None
    if pictures and frames:
        frames[0]["field"] = last
    due = 1
    for number, move in enumerate(moves, start=1):
        played = step(scene, move, honest)
        if number >= first:
            frames.append(frame(scene, *played))
            if pictures and (now := scene.field()) != last:
                frames[-1]["field"] = last = now
        if marked := number == due:
            due = number + 1 if number < EACH else mark(number)
        if marked and number < len(moves) and script.get("curve"):
            bounds += _bound(scene, scene.ledger.certify(), marked)
    certificates = scene.ledger.certify()
    bounds += _bound(scene, certificates, bool(moves) and marked)
    told: dict[str, Any] = {
        "frames": frames,
        "certificates": [shown(one) for one in certificates],
        "curve": bounds,
        "apriori": scene.apriori(),
        "lead": sentences.capital(summary.lead(scene.ledger, certificates)) if moves else "",
        "limits": scene.limits(),
    }
    if script.get("field"):
        told["field"] = scene.field()
    return {**told, "ms": round(1e3 * (time.perf_counter() - begin), 1)}


def step(scene: Scene, move: Any, honest: bool) -> tuple[Any, int, int]:
    """Play one round: x, what was said, what was answered."""
    if move == "a":
        return _rivals_round(scene)
    if not isinstance(move, list) or len(move) != 2 or move[1] not in ANSWERS:
        raise InputError(f"a move must be [place, answer], the answer one of {', '.join(ANSWERS)}: got {move!r}.")
    if scene.rival in ("builtin", "data"):
        raise InputError(f"against {scene.rival} every move must be 'a': got {move!r}.")
    x = scene.example(checked_place(scene, move[0]))
    if not scene.labelled:
        return x, scene.learn(x, 0), 0
    answer = {"p": 1, "m": -1}.get(move[1])
    if answer is None and (move[1] == "t" or scene.rival == "target"):
        answer = scene.target(x)
    if answer is None:
        said = scene.predict(x)
        answer = -said if not honest or scene.fits(x, -said) else said
    return x, scene.learn(x, answer), answer


def _rivals_round(scene: Scene) -> tuple[object, int, int]:
    """The rival shows a place and answers."""
    if scene.adversary is not None:
        probe = scene.game.player.chances
        x: Any = scene.adversary.ask(probe)
        scene.ledger.answered += 1
        y = scene.adversary.answer(probe(x))
        return x, scene.learn(x, y), y
    if scene.rival == "data" and isinstance(scene, Plane):
        place, y = scene.data(len(scene.shown))
        x = scene.example(place)
        return x, scene.learn(x, y), y
    if scene.rival == "me":
        raise InputError("the rival must be another for a move 'a': it is me.")
    x = scene.example(scene.random_place())
    y = scene.target(x) if scene.labelled else 0
    return x, scene.learn(x, y), y


def frame(scene: Scene, x: object, said: int | None, y: int | None) -> dict[str, object]:
    """What is to be seen after a round."""
    paid = scene.ledger.mistakes if scene.ledger.counts else scene.ledger.expected
    return {
        "t": scene.ledger.rounds,
        "x": x.tolist() if hasattr(x, "tolist") else list(x) if isinstance(x, tuple) else x,
        "said": said,
        "y": y,
        "paid": paid,
        "view": scene.view(),
    }


def _bound(scene: Scene, certificates: list[Certificate], marked: bool) -> list[tuple[int, float, bool, str]]:
    """The tightest bound up to now, on mistakes or on the loss; whether its round stays in the curve; and its text."""
    best = summary.bounding(scene.ledger, certificates)
    value = None if best is None else summary.allowed(scene.ledger, best)
    if value is None:
        regret = [one for one in certificates if one.holds and one.bound is not None and "regret" in one.quantity]
        value = float(regret[0].bound or 0.0) + float(scene.learner.facts().best_loss) if regret else None
    return [] if value is None else [(scene.ledger.rounds, float(value), marked, bound_text(value, "upper"))]


def shown(certificate: Certificate) -> dict[str, Any]:
    """A certificate as --json has it, with its sentence."""
    return {**plain.certificate(certificate), "sentence": sentences.sentence(certificate)}


def probe(script: Any) -> dict[str, object]:
    """What the learner would say of one more place, who votes how, and which answers are still free."""
    scene, moves, honest = read(script)
    for move in moves:
        step(scene, move, honest)
    x = scene.example(checked_place(scene, script.get("x")))
    said = scene.predict(x) if scene.labelled else None
    return {"said": said, "votes": scene.votes(x), "free": scene.free(x)}
