"""The mixture over prunings in exact fractions: cuts are given from outside, at any time, with any starting counts."""

from fractions import Fraction
from itertools import product


class ExactNode:
    def __init__(self, counts):
        self.n = [Fraction(c) for c in counts]
        self.kids, self.cut, self.ratio, self.prior = None, None, Fraction(1), Fraction(1)
        self.own, self.own_split = Fraction(1), None


class ExactTree:
    """Product forms: `own` is the product of a node's forecasts, `ratio` is e^beta.

    Forecasts below the root are at least `floor`.
    """

    def __init__(self, labels=2, concentration=2, floor=0):
        self.labels, self.concentration, self.floor = labels, Fraction(concentration), Fraction(floor)
        self.root, self.played = ExactNode([0] * labels), Fraction(1)

    def path(self, x):
        nodes = [self.root]
        while nodes[-1].kids:
            nodes.append(nodes[-1].kids[0 if x <= nodes[-1].cut else 1])
        return nodes

    def look(self, x):
        nodes, p = self.path(x), []
        for depth, v in enumerate(nodes):
            total, near = sum(v.n), self.concentration
            if depth == 0:
                p.append([(n + Fraction(1, 2)) / (total + Fraction(self.labels, 2)) for n in v.n])
            else:
                shrunk = [(n + near * above) / (total + near) for n, above in zip(v.n, p[-1], strict=True)]
                p.append([(1 - self.labels * self.floor) * one + self.floor for one in shrunk])
        q = [p[-1]]
        for v, own in zip(reversed(nodes[:-1]), reversed(p[:-1]), strict=True):
            stop = v.ratio / (1 + v.ratio)
            q.insert(0, [stop * a + (1 - stop) * b for a, b in zip(own, q[0], strict=True)])
        return nodes, p, q

    def learn(self, x, y):
        nodes, p, q = self.look(x)
        self.played *= q[0][y]
        for i, v in enumerate(nodes):
            v.own *= p[i][y]
            if i < len(nodes) - 1:
                v.ratio *= p[i][y] / q[i + 1][y]
            v.n[y] += 1
        return q[0]

    def split(self, x, cut, counts=None, prior=1):
        leaf = self.path(x)[-1]
        none = [0] * self.labels
        leaf.kids = [ExactNode(one) for one in counts or (none, none)]
        leaf.cut, leaf.ratio, leaf.prior, leaf.own_split = cut, Fraction(prior), Fraction(prior), leaf.own


def mixture(v):
    """e^-Q of the identity."""
    if not v.kids:
        return v.own
    stop = v.prior / (1 + v.prior)
    return v.own_split * (stop * v.own / v.own_split + (1 - stop) * mixture(v.kids[0]) * mixture(v.kids[1]))


def best(v):
    """e^-B, the largest term."""
    if not v.kids:
        return v.own
    stop = v.prior / (1 + v.prior)
    return v.own_split * max(stop * v.own / v.own_split, (1 - stop) * best(v.kids[0]) * best(v.kids[1]))


def prunings(v):
    """e^-(loss + price) of every pruning, by brute force."""
    if not v.kids:
        return [v.own]
    stop = v.prior / (1 + v.prior)
    below = [a * b for a, b in product(prunings(v.kids[0]), prunings(v.kids[1]))]
    return [stop * v.own, *(v.own_split * (1 - stop) * one for one in below)]
