"""One theorem per file, named for the learner (or adversary) and the quantity it bounds."""
