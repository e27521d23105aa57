"""What to type, for the end of each verb's --help."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("demo",),
    "run": (
        "run mail.csv                                     # auto, which has nothing to set",
        "run perceptron:bias=1 mail.svm --save m.nk       # keep learner and ledger",
        "run --resume m.nk mail.svm --save m.nk           # go on after the last save",
        "run logistic mail.csv --keep best --save kept.nk # one classifier, with a limit on its error",
        "run mail.csv --cover 0.9 --report page.html      # sets of labels; a page to read and to send",
    ),
    "compare": ("compare mail.csv -l perceptron -l auto --shuffles 20 --plot rates.png",),
    "predict": ("predict m.nk new.csv --scores", "predict kept.nk new.csv --no-label"),
    "columns": ("columns mail.csv", "columns mail.csv --category zip --drop id"),
    "convert": ("convert big.svm big.arrow",),
    "arena": ("arena", "arena --port 8000 --no-browser"),
    "duel": ("duel threshold-halving:n=1000 grid-bisection:n=1000 --rounds 40", "duel midpoint bisection --rounds 60"),
    "experts": (
        "experts forecasts.csv --loss squared",
        "experts forecasts.csv -l ada-hedge --plot regret.png",
        "experts losses.csv --loss table --switches 3 --horizon 10000",
    ),
    "bandit": (
        "bandit log.csv --policy candidate                # what a log says of other policies",
        "bandit exp3-ix stream:bandit-losses:gap=0.1      # a learner on a table of losses",
    ),
    "mix": (
        "mix 'part-*.svm' --shards 8 --held 1 --save m.nk # files as shards, one held back to limit the error",
        "mix big.svm --shards 100 --on ray                # on a cluster",
    ),
    "serve": ("serve --dir models", "serve --dir models --port 8000 --token-file token"),
    "send": ("send mail.csv --to http://127.0.0.1:1963 --token-file models/token",),
    "completion": ("completion bash > ~/.local/share/bash-completion/completions/novikoff",),
    "list": ("list", "list --json"),
    "explain": ("explain perceptron", "explain perceptron_margin"),
}
"""By verb: each as it is typed after `novikoff`."""


def told(verb: str) -> str | None:
    """The examples of a verb, below each other."""
    if verb not in EXAMPLES:
        return None
    return "examples:\n" + "\n".join(f"  novikoff {one}" for one in EXAMPLES[verb])
