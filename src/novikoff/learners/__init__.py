"""One algorithm per file, with its rule in it; each names its theorems in `promises`.

A family has one base, which plays with what its learners share: kernel_learner.py (supports), expert_learner.py (a
panel of experts, and a rule of expert_weights.py), version_space.py (surviving hypotheses). Other learners have none.
"""
