"""Adapters: scikit-learn, River, and their models as learners."""
