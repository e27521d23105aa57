"""Replay: turn a script (game, options, moves) into the frames of that game, deterministically.

    {"v": 1, "game": "perceptron", "options": {"bias": 1}, "seed": 0, "rival": "me", "honest": true,
     "moves": [[[50, 20], "p"], [[-30, 5], "o"]], "from": 1, "field": true}

A move is a place and an answer: "p" (+1), "m" (-1), "o" (the opposite of the prediction) or "t" (the label of the
hidden target); or "a": the rival plays the round. With `honest`, "o" contradicts the learner only while some target is
consistent with that answer. Only the last move may be "o" or "t": earlier answers are known by then, and the search for
a consistent target is slow. `from` is the first frame to return; `field` asks for a picture of the plane after the last
round, `fields` for one per frame (where it changed), `curve` for the bound in every round instead of the last alone,
`reveal` for the hidden target. Without `certify`, the answer has no certificates, no bounds and no proof.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from novikoff.arena.scenes import chosen
from novikoff.arena.scenes.scene import Scene, checked_options, checked_place
from novikoff.core.certificate import Certificate, bound_text
from novikoff.core.errors import InputError
from novikoff.game.ledger import Ledger
from novikoff.reports import plain, sentences, summary
from novikoff.reports.bound_curve import mark

VERSION = 1
"""Version of the script format."""
MOST_MOVES = 1000
"""Largest number of moves of a script."""
ANSWERS = ("p", "m", "o", "t")
"""Letters of the answers."""
EACH = 16
"""Round up to which the bound is evaluated in every round; later, at rounds of about sqrt(2) times the one before."""


def read(script: object) -> tuple[Scene, list[Any], bool]:
    """Validate a script and return its scene, its moves, and whether answers stay consistent with a target."""
    if not isinstance(script, Mapping):
        raise InputError(f"a script must be an object: got {type(script).__name__}.")
    known = {
        "v",
        "game",
        "options",
        "seed",
        "rival",
        "honest",
        "moves",
        "from",
        "field",
        "fields",
        "curve",
        "certify",
        "reveal",
        "x",
    }
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
        raise InputError(f"from must be an integer, at least 0: got {first!r}.")
    if not isinstance(moves, list) or len(moves) > MOST_MOVES:
        raise InputError(f"moves must be a list of at most {MOST_MOVES:,}.")
    if any(isinstance(move, list) and move[-1:] in (["o"], ["t"]) for move in moves[:-1]):
        raise InputError("the answer of a move before the last must be p or m: got o or t.")
    options = script.get("options", {})
    if not isinstance(options, Mapping):
        raise InputError(f"options must be an object: got {type(options).__name__}.")
    return kind(checked_options(kind, options), seed, rival), moves, bool(script.get("honest", True))


def replay(script: Any) -> dict[str, object]:
    """Play a script; return the frames from round `from` on, the certificates, and the curve of the bound."""
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
            bounds += _bound(scene, scene.certificates(), marked)
    certify = bool(script.get("certify", True))
    certificates = scene.certificates() if certify else []
    bounds += (last_bound := _bound(scene, certificates, bool(moves) and marked))
    main = next((one for one in certificates if last_bound and scene.allowed([one]) == [last_bound[0][1]]), None)
    more = scene.more_certificates() if certify else []
    result: dict[str, object] = {
        "frames": frames,
        "certificates": [
            *({**shown(one), "main": one is main} for one in certificates),
            *({**shown(one), "of": name, "main": False} for name, one in more),
        ],
        "curve": bounds,
        "apriori": scene.apriori(),
        "lead": sentences.capital(summary.lead(scene.ledger, certificates)) if moves and certify else "",
        "limits": scene.limits(),
        "best": scene.best() if certify else None,
        "proof": chain(scene.ledger) if scene.lasting and certify else None,
    }
    if script.get("field"):
        result["field"] = scene.field()
    if script.get("reveal") and scene.rival == "target":
        result["hidden"] = scene.hidden()
    return {**result, "ms": round(1e3 * (time.perf_counter() - begin), 1)}


def step(scene: Scene, move: object, honest: bool) -> tuple[Any, int, int]:
    """Play one round; return x, the prediction and the answer."""
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
        predicted = scene.predict(x)
        answer = -predicted if not honest or scene.fits(x, -predicted) else predicted
    return x, scene.learn(x, answer), answer


def _rivals_round(scene: Scene) -> tuple[object, int, int]:
    """Play a round in which the rival chooses both the place and the answer."""
    if scene.adversary is not None:
        probe = scene.game.player.chances
        x: object = scene.adversary.ask(probe)
        scene.ledger.answered += 1
        y = scene.adversary.answer(probe(x))
        return x, scene.learn(x, y), y
    if scene.rival == "data" or scene.ordered:
        place, y = scene.data(len(scene.shown))
        x = scene.example(place)
        return x, scene.learn(x, y), y
    if scene.rival == "me":
        raise InputError("the rival of a move 'a' must not be me: got me.")
    x = scene.example(scene.random_place())
    y = scene.target(x) if scene.labelled else 0
    return x, scene.learn(x, y), y


def frame(scene: Scene, x: object, predicted: int | None, y: int | None) -> dict[str, object]:
    """Return the state after a round, as the page draws it."""
    return {
        "t": scene.ledger.rounds,
        "x": x.tolist() if isinstance(x, (np.ndarray, np.generic)) else list(x) if isinstance(x, tuple) else x,
        "said": predicted,
        "y": y,
        "paid": scene.paid(),
        "view": scene.view(),
        **({"others": others} if (others := scene.others()) else {}),
    }


def chain(ledger: Ledger) -> dict[str, object] | None:
    """Return the chain of inequalities of the proof after each mistake or round; None if no proof is followed."""
    assert ledger.trace is not None
    ledger.trace.summary()  # evaluates what depends on the comparator
    proof = ledger.trace.proof
    if proof is None or not proof.points:
        return None
    points = [[one.mistakes, *(float(f"{value:.6g}") for value in one.values)] for one in proof.points]
    each = "round" if proof.every_round else "mistake"
    return {"theorem": proof.theorem, "chain": list(proof.chain), "each": each, "points": points,
            "failed": proof.failed}  # fmt: skip


def _bound(scene: Scene, certificates: list[Certificate], marked: bool) -> list[tuple[int, float, bool, str]]:
    """Return the tightest bound so far: its round, value, whether the curve keeps it, and text; [] without one."""
    least = min(scene.allowed(certificates), default=None)
    return [] if least is None else [(scene.ledger.rounds, least, marked, bound_text(least, "upper"))]


def shown(certificate: Certificate) -> dict[str, object]:
    """Return a certificate with its sentence, as `--json` has it."""
    found = {**plain.certificate(certificate), "sentence": sentences.sentence(certificate)}
    return {name: None if value == math.inf else value for name, value in found.items()}  # JSON has no infinity


def probe(script: Any) -> dict[str, object]:
    """Return the learner's prediction for one more place, its votes, and which answers some target still allows."""
    scene, moves, honest = read(script)
    for move in moves:
        step(scene, move, honest)
    x = scene.example(checked_place(scene, script.get("x")))
    predicted = scene.predict(x) if scene.labelled else None
    return {"said": predicted, "votes": scene.votes(x), "free": scene.free(x)}
