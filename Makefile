# Two commands on a fresh machine: make demo, make test. Both make .venv and install what they need.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo docs notebooks package test test-all test-bounds test-minima test-ray test-wheel names transcripts browser check bench clean

help:
	@echo "make demo         a tour with no files: games and their certificates"
	@echo "make docs         the documentation, as pages in site/"
	@echo "make test         the tests (make test-all: the slow ones too, and more examples)"
	@echo "make test-bounds  model files and resumed games, with every index of compiled code checked"
	@echo "make test-minima  a short list on the oldest packages that pyproject.toml allows, in an environment of its own"
	@echo "make test-ray     the tests on Ray, which is installed for them (80 MB)"
	@echo "make names        renew the lists of names, after a new learner, theorem, adversary or format"
	@echo "make transcripts  tests/transcripts, and what documents show of runs, anew: when a change of what is printed is meant"
	@echo "make browser      install Chromium by apt, if there is no browser to test the page in"
	@echo "make check        ruff, mypy --strict, import-linter"
	@echo "make notebooks    docs/notebooks played anew"
	@echo "make package      wheel and sdist in dist/, checked"
	@echo "make test-wheel   install each of them in an empty environment, and run the demo"
	@echo "make bench        every speed claim, measured here as a ratio"

$(BIN)/python:
	$(PYTHON) -m venv .venv

.venv/.run: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch .venv/.run $@

.venv/.dev: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,dev]"
	@touch $@

.venv/.docs: .venv/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

.venv/.package: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine check-wheel-contents
	@touch $@

.venv/.bench: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,bench]"
	@touch $@

demo: .venv/.run
	$(BIN)/novikoff demo

docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html, or, with the search: $(BIN)/python -m http.server --directory site"

package: .venv/.package
	rm -rf dist build
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	rm -rf build

test-wheel: package
	set -e; for file in $(CURDIR)/dist/*; do \
		rm -rf .venv/empty; $(PYTHON) -m venv .venv/empty; \
		.venv/empty/bin/python -m pip install --quiet --disable-pip-version-check $$file; \
		(cd .venv/empty; bin/novikoff demo; bin/novikoff run demo:breast-cancer; \
		 bin/python -c "import novikoff as nk; print(nk.play('perceptron', 'demo:iris').certify()[0])"); \
	done
	rm -rf .venv/empty

notebooks: .venv/.docs
	$(BIN)/jupyter execute --inplace docs/notebooks/*.ipynb

# What is compiled of Python (tests and their assertions too) stays: every process would begin with it anew.
test test-all test-bounds: export PYTHONDONTWRITEBYTECODE =

test: .venv/.test
	$(BIN)/python -m pytest -n auto

test-all: .venv/.test
	$(BIN)/python -m pytest -n auto -m "" --hypothesis-profile=long
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto -m slow tests/test_damaged_files.py

# An index beyond an array is an error here, where it is a wrong number or a crash without the check. The compiled code
# has a cache of its own (tests/conftest.py).
test-bounds: .venv/.test
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto -m "" tests/game/test_resuming.py
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto tests/test_damaged_files.py

# Warnings of old packages about older ones are not errors here.
test-minima: $(BIN)/python
	rm -rf .venv/minima && $(PYTHON) -m venv .venv/minima
	$(BIN)/python tests/minima.py > .venv/minima/requirements.txt
	.venv/minima/bin/python -m pip install --quiet --disable-pip-version-check -r .venv/minima/requirements.txt
	.venv/minima/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	.venv/minima/bin/python -m pytest -o addopts="--import-mode=importlib" -o filterwarnings= -q tests/test_smoke.py

test-ray: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,ray]"
	$(BIN)/python -m pytest -m "" tests/test_ray.py

browser: # the page is tested in a real one; without it those tests are skipped
	@command -v chromium-headless-shell chromium google-chrome >/dev/null \
		|| { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell; }

names: .venv/.test
	$(BIN)/python docs/making/names.py

transcripts: .venv/.test
	$(BIN)/python tests/test_transcripts.py
	$(BIN)/python tests/test_documentation.py

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv build dist site src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
