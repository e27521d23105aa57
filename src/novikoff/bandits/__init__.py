"""Bandits: EXP3-IX, Tsallis-INF, EXP4, and off-policy evaluation."""
