"""From an online game to one classifier, with a limit on its risk."""
