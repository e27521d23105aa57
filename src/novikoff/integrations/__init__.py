"""Adapters: scikit-learn and River estimators, and foreign models as learners."""
