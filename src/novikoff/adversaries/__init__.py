"""Environments that answer back, each with a witness: a target consistent with all it said."""
