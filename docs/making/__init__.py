"""The pages of the site that are made of the code itself: mkdocs.yml names hooks.py, which calls the others."""
