"""What a name means: algorithm, theorem with its proof idea, cost, reference; all from the docstrings.

Learners that one may look for and that are not here are explained too: why, and what to take; and frames that many
learners are instances of: `novikoff explain oco`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import novikoff
from novikoff.core.errors import SpecError
from novikoff.core.registry import CATALOG, entry, find, for_multiclass, names
from novikoff.core.types import Theorem

ABSENT: Mapping[str, str] = {
    "diagonal-arow": """\
Diagonal AROW is not here: mu += alpha sigma y x with sigma_i = 1/(1/sigma_i + x_i^2/r), as it is mostly run.

No bound on its mistakes is known. What each feature moves, the sum of x_i^2 (w_i - u_i)^2 over the features, would have
to be paid for by the curvature of the loss, and that sees <w - u, x>^2 only.
Take `arow` (the full matrix, with its theorem), `arow:diagonal=true` (a diagonal metric that a theorem covers), or, for
wide rows, `ftrl` and `auto`, which err less there.
""",
    "passive-aggressive": """\
Passive-Aggressive (PA, PA-I, PA-II) is not here: w += tau y x with tau the hinge loss over |x|^2, cut off at C.

Its bounds are those of the Perceptron with a factor of 2 on the losses of u: M <= max(R^2, 1/C) (|u|^2 + 2 C D) for
PA-I, D the sum of the hinge losses of u. On noisy rows that is never better than what `perceptron` promises, and PA
needs C to be set. The bound of PA without C is often told with the largest |x|; where lengths differ that is false. Nor
does it err less: in trials on seven real streams it erred more than `auto` on all.
Take `auto`, `ftrl` or `arow`.
""",
    "coin-betting": """\
Coin betting (KT, FreeGrad) is not here: each feature bets a part of what it has won, so that no rate need be set.

Its bound, |u| sqrt(T ln(1 + 4 T^2 u^2)) for each feature, is proved. But a few rates of `ftrl`, mixed, have no rate to
be set either: that costs ln K for K rates in all, and not a logarithm under every root. In trials on seven real streams
its log loss was higher than that of `auto` on all.
Take `auto`.
""",
    "scinol": """\
ScInOL is not here: scale-invariant online learning, a betting rule for each feature that knows its largest |x|.

It is scale-free, as `ftrl` is; its promise grows with ln(|u| h T) for every feature, and depends on the first value of
each. In trials on seven real streams its log loss was higher than that of `auto` on all; that of its first form by far.
Take `auto` or `ftrl`.
""",
}
"""Name: what is to be said of it."""

ALIASES: Mapping[str, str] = {
    "pa": "passive-aggressive",
    "pa-i": "passive-aggressive",
    "pa-ii": "passive-aggressive",
    "kt": "coin-betting",
    "freegrad": "coin-betting",
    "online-convex-optimisation": "oco",
    "online-convex-optimization": "oco",
}


INSTANCES = (
    ("adagrad", "all w; a diagonal of gradients squared", "hinge, absolute, pinball, Huber, squared", "convex_regret"),
    ("ftrl", "all w; a diagonal of curvatures", "log, and half a step for each label", "ftrl_regret"),
    ("logistic", "all w; the curvatures themselves", "log, by a parabola below it", "logistic_regret"),
    ("vaw", "all w; the sum of x x', x_t among them", "squared", "vaw_regret"),
    ("online-gradient", "a ball; |w|^2 over the rate", "squared, absolute", "online_gradient_regret"),
    ("perceptron", "all w; |w|^2", "hinge, of mistakes alone", "perceptron_hinge"),
    ("second-order-perceptron", "all w; x x' of mistakes", "hinge, of mistakes alone", "metric_mistakes"),
    ("exponential-weights", "a distribution; its entropy", "linear: the mean loss of experts", "anytime_regret"),
    ("ada-hedge", "the same, at a rate that adapts", "the same", "ada_hedge_regret"),
    ("auto", "the same, at rate 1", "log, of a mixture", "auto_regret"),
    ("specialists", "the same, over awake copies", "log, of a mixture", "specialists_regret"),
    ("conformal", "one number; its square over the step", "pinball, of scores", "coverage_pinball"),
    ("exp3-ix", "a distribution; its entropy", "linear, estimated from one arm", "ix_pathwise"),
    ("tsallis-inf", "a distribution; its square roots", "linear, estimated from one arm", "tsallis_pathwise"),
)
"""A learner, the set it chooses from and what regularises, its loss, and the theorem."""


def _table() -> str:
    rows = [("learner", "w, and what regularises", "loss", "theorem"), *INSTANCES]
    wide = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join("    " + "  ".join(cell.ljust(wide[k]) for k, cell in enumerate(row)).rstrip() for row in rows)


FRAMES: Mapping[str, str] = {
    "oco": f"""\
Online convex optimisation: the frame that most learners here are instances of.

Game
    In each round choose w from a convex set; then a convex loss l is shown, and l(w) is paid. The regret against u is
    the sum of l(w) - l(u). Nothing is assumed of the losses but that they are convex: they may answer back.
Rule
    Follow the regularised leader, on linear parts: g is a subgradient of l at the w that was played, G the sum of these
    so far, and the next w makes <G, w> + R(w) least, where R may grow. With R = w'Aw/2, w = -A^-1 G.
Theorem
    A convex loss lies above its linear part, so the regret is at most the sum of <g, w - u>. With R = w'Aw/2 that is
    at most u'Au/2 + the sum of g'A^-1 g/2 (convex/theorems/convex_regret.py has the proof). A metric that grows with
    what was seen makes both parts small at once, of the order of sqrt T; a loss that is curved adds to A itself, and
    the regret is of the order of log T.
Instances
{_table()}
    Try `novikoff run adagrad SOURCE`, or adagrad:loss=pinball,tau=0.9 where outcomes are numbers.
Reference
    [zinkevich2003]; [mcmahan2017]; [duchi2011].
""",
}


OURS = re.compile(r"novikoff\.(\w+\.)+theorems\.")


def explain(name: str) -> str:
    """The text for a learner, an adversary, a class, a format or a theorem; why some learners are not here."""
    if name not in CATALOG and name.replace("-", "_") in theorems():  # installed packages need not be looked through
        return _with_references(_doc_of(_theorem(name)))
    if (frame := ALIASES.get(name.lower(), name.lower())) in FRAMES and not find(name):
        return _with_references(FRAMES[frame])
    if (absent := ALIASES.get(name.lower(), name.lower())) in ABSENT and not find(name):
        return ABSENT[absent]
    if found := find(name):
        texts = [f"{name}:{found.arguments()}" if found.arguments() else name, "", found.doc()]
        for theorem in getattr(found.load(), "promises", ()):
            texts += ["", f"Theorem {theorem.name}", "", _doc_of(theorem)]
        if found.room == "learner" and (multiclass := for_multiclass(name)):
            texts += ["", "Multiclass", "", multiclass.doc()]
            for theorem in getattr(multiclass.load(), "promises", ()):
                texts += ["", f"Theorem {theorem.name}", "", _doc_of(theorem)]
    else:
        texts = [_doc_of(_theorem(name))]
    return _with_references("\n".join(texts))


def _with_references(text: str) -> str:
    """The text, and what it cites."""
    references = dict(_references(text))
    listed = [f"[{key}] {reference}" for key, reference in references.items()]
    return text + ("\n\n" + "\n".join(listed) if listed else "") + "\n"


@cache
def theorems() -> dict[str, str]:
    """Every theorem and its module: the files of each package's `theorems` folder, but for what theorems share."""
    root = Path(novikoff.__file__).parent
    files = sorted(root.glob("**/theorems/*.py"), key=lambda file: file.stem)
    modules = {file.stem: ".".join(("novikoff", *file.relative_to(root).with_suffix("").parts)) for file in files}
    return {name: module for name, module in modules.items() if name != "__init__" and not name.endswith("_facts")}


def _theorem(name: str) -> object:
    """The theorem of that name: ours, or one that a registered learner promises."""
    wanted = name.replace("-", "_")
    if wanted in theorems():
        return getattr(importlib.import_module(theorems()[wanted]), wanted)
    others = [learner for learner in names("learner") if learner not in CATALOG]
    promised = {theorem.name: theorem for learner in others for theorem in promises(learner)}
    if wanted not in promised:
        known = [*CATALOG, *others, *theorems(), *promised]
        raise SpecError(f"a name to explain must be one of {', '.join(known)}: got {name!r}.")
    return promised[wanted]


def promises(learner: str) -> tuple[Theorem, ...]:
    """The theorems of a learner; none if it cannot be loaded."""
    try:
        found: tuple[Theorem, ...] = entry(learner, "learner").load().promises  # type: ignore[attr-defined]
    except SpecError:
        return ()
    return found


def _doc_of(theorem: object) -> str:
    """Statement and proof: the docstring of its file, if it is ours; else its own, or that of its file."""
    own = None if OURS.match(theorem.__module__) else theorem.__doc__
    return inspect.cleandoc(own or importlib.import_module(theorem.__module__).__doc__ or "")


def _references(text: str) -> Iterator[tuple[str, str]]:
    bibliography = read_references()
    for key in re.findall(r"\[([a-z]+\d{4}[a-z]?)\]", text):
        if key in bibliography:
            yield key, bibliography[key]


def read_references() -> dict[str, str]:
    """Our references.bib: key -> "Authors: Title. Where, year"."""
    text = resources.files("novikoff.reports").joinpath("references.bib").read_text(encoding="utf-8")
    found = {}
    for key, body in re.findall(r"@\w+\{(\w+),(.*?)\n\}", text, flags=re.DOTALL):
        fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\},?\n", body + "\n"))
        where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher") or fields.get("note", "")
        authors = fields["author"].replace(" and ", ", ")
        found[key] = f"{authors}: {fields['title']}. {where}, {fields['year']}."
    return found
