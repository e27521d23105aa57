"""Contract tests for your own learners, streams and theorems; those of novikoff pass the same tests.

    from novikoff.testing import check_learner

    def test_my_learner():
        check_learner(lambda: MyLearner(seed=3), [(x, y), ...], refused=["no number", math.nan])

Each check raises an AssertionError that names the broken contract. No test framework is needed.
"""

from novikoff.testing.certificates import check_certificate
from novikoff.testing.learners import check_learner
from novikoff.testing.streams import check_stream

__all__ = ["check_certificate", "check_learner", "check_stream"]
