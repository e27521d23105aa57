"""Labels that nobody can predict: the adversary of T/2, and fair coins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from novikoff.adversaries.coin_flip import CoinFlip
from novikoff.adversaries.contrarian import Contrarian
from novikoff.arena.scenes.scene import Place, Scene
from novikoff.core.certificate import Certificate
from novikoff.core.learner import Learner
from novikoff.core.types import Adversary
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.weighted_majority import WeightedMajority
from novikoff.finite.classes.threshold import Thresholds


class CoinsScene(Scene):
    """Two experts, always +1 and always −1. An enemy who sees the prediction forces regret T/2, coins about √T."""

    name, title, learner_name = "coins", "Coin flips", "weighted-majority"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"draws": (0, 1, 0)}

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        self._seed = seed
        super().__init__(options, seed, rival)

    def made(self) -> Learner:
        two = Thresholds(0)  # of a single point: always +1, and always -1
        return ExponentialWeights(two, seed=self._seed) if self.chosen["draws"] else WeightedMajority(two)

    def opponent(self) -> Adversary | None:
        """Create the contrarian, or the coins of the hidden target."""
        domain = self.made().domain
        if self.rival == "builtin":
            return Contrarian(domain)
        return CoinFlip(self._seed, domain) if self.rival == "target" else None

    def limits(self) -> list[tuple[int, int]]:
        return [(0, 0)]

    def example(self, place: Place) -> Any:
        return 0

    def fits(self, x: object, y: int) -> bool:
        return True

    def paid(self) -> float:
        """Return the mistakes, or their expectation over the draws."""
        return self.ledger.expected if self.chosen["draws"] else self.ledger.mistakes

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        """Return the bounds on the mistakes; with draws, those of the best constant plus a bound on the regret."""
        if not self.chosen["draws"]:
            return super().allowed(certificates)
        regrets = [float(one.bound) for one in certificates if one.bound is not None and one.side == "upper"
                   and one.quantity == "expected regret"]  # fmt: skip
        return [self.others()["best constant"] + regret for regret in regrets]

    def others(self) -> dict[str, float]:
        return {"best constant": float(min(self.ledger.positives, self.ledger.rounds - self.ledger.positives))}

    def view(self) -> dict[str, object]:
        plus = self.ledger.positives
        if self.chosen["draws"]:
            share = self.game.player.chances(0).get(1, 0.0)
        else:  # each mistake of an expert halves its weight
            share = 1.0 / (1.0 + 2.0 ** (self.ledger.rounds - 2 * plus))
        return {"plus": plus, "plus_share": round(float(share), 4), "draws": self.chosen["draws"]}
