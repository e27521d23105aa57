"""Wrong uses that mypy must reject: `make check` fails if one of these comments is not needed any more."""

import novikoff as nk


def entries(rows: list[tuple[list[float], int]]) -> None:
    nk.play("perceptron", 5)  # type: ignore[arg-type]
    nk.play(5, rows)  # type: ignore[arg-type]
    nk.play("perceptron", rows, labels="many")  # type: ignore[arg-type]
    nk.play("perceptron", rows, task="regression")  # type: ignore[arg-type]
    nk.repeat(nk.Perceptron(), rows)  # type: ignore[arg-type]
    nk.repeat("perceptron", 5)  # type: ignore[arg-type]
    nk.compare([nk.Perceptron()], rows)  # type: ignore[list-item]
    nk.permutation_test("perceptron", 5)  # type: ignore[arg-type]
    nk.hindsight(5)  # type: ignore[arg-type]
    nk.parallel_gradient(rows, nk.Perceptron())  # type: ignore[arg-type]
    nk.finalize(nk.play("perceptron", rows), "median")  # type: ignore[arg-type]


def capabilities(learner: nk.Learner, stream: nk.Stream, ledger: nk.Ledger) -> None:
    learner.has("scores")  # type: ignore[arg-type]
    print(learner.survivors)  # type: ignore[attr-defined]
    print(learner.features.count)  # type: ignore[union-attr]
    print(learner.proof().theorem)  # type: ignore[union-attr]
    print(learner.tracker().keep)  # type: ignore[union-attr]
    print(stream.labels.positive)  # type: ignore[union-attr]
    print(stream.label)  # type: ignore[attr-defined]
    print(stream.encoding.columns)  # type: ignore[union-attr]
    print(ledger.hindsight.seconds)  # type: ignore[union-attr]
    print(ledger.trace.proof)  # type: ignore[union-attr]
    print(ledger.learner.predict(1))  # type: ignore[attr-defined]


class Source:
    """A stream that yields rows instead of batches."""

    name, domain = "rows", nk.Domain("vector")

    def batches(self) -> list[int]:
        return []


class Regression(nk.Learner):
    """A learner that lacks facts, and whose prediction is no number."""

    task = "numbers"  # type: ignore[assignment]

    def predict_one(self, x: object) -> str:  # type: ignore[override]
        return "3"

    def play_one(self, x: object, y: object) -> float:
        return 3.0


nk.play(Regression(), Source())  # type: ignore[abstract, arg-type]
