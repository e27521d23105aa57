"""Best in hindsight: what a theorem compares the learner with."""
