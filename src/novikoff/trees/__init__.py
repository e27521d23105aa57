"""Trees: mixtures over all prunings of a growing tree, and forests of regrown trees."""
