"""Prediction with expert advice: weighted majority, exponential weights, Hedge, specialists."""
