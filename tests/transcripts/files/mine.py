class Thresholds:
    """Halving for thresholds on 0 .. 20, in two methods."""

    def __init__(self):
        import novikoff as nk

        self.hypotheses = nk.classes.thresholds(20)
        self.low, self.high = 0, 21

    def predict_one(self, x):
        return 1 if 2 * x + 1 >= self.low + self.high else -1

    def learn_one(self, x, y):
        if y == 1:
            self.high = min(self.high, x)
        else:
            self.low = max(self.low, x + 1)
