"""Generators of the site's pages from the code: mkdocs.yml names hooks.py, which calls the others."""
