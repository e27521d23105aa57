# On a fresh machine: make demo, make test. Both create .venv and install what they need.
PYTHON ?= python3
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE # the tests start hundreds of processes, and each would compile the package again

.PHONY: help demo docs notebooks package proofs coq test test-all test-bounds test-minima test-ray test-wheel names transcripts browser check bench clean

help:
		@echo "Try it"
	@echo "  make demo         play a tour on embedded data: games and their certificates"
	@echo "  make docs         build the documentation into site/"
	@echo "  make bench        measure every speed claim on this machine"
	@echo "Test"
	@echo "  make test         run the tests"
	@echo "  make test-all     run the slow tests too, with more random examples"
	@echo "  make check        run ruff, mypy --strict and import-linter"
	@echo "  make proofs       compile the machine-checked theorems, and print what they rest on"
	@echo "  make test-bounds  test model files and resumed games with bounds checking in compiled code"
	@echo "  make test-minima  run a short test on the oldest packages that pyproject.toml allows"
	@echo "  make test-ray     install Ray (80 MB) and run the tests on it"
	@echo "  make test-wheel   build wheel and sdist, and try both in empty environments"
	@echo "  make browser      install Chromium with apt, for the tests of the web page"
	@echo "  make coq          install Coq with apt, for make proofs"
	@echo "Renew"
	@echo "  make names        update the lists of names, after a new learner, theorem, adversary or format"
	@echo "  make transcripts  update recorded output in tests and documentation, after an intended change"
	@echo "  make notebooks    run docs/notebooks again"
	@echo "  make package      build wheel and sdist into dist/, and check them"

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
		@echo "Open site/index.html. For search, run $(BIN)/python -m http.server --directory site"

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

# Keep Python's bytecode cache, of tests too: otherwise every process compiles it again.
test test-all test-bounds: export PYTHONDONTWRITEBYTECODE =

test: .venv/.test
	$(BIN)/python -m pytest -n auto

test-all: .venv/.test
	$(BIN)/python -m pytest -n auto -m "" --hypothesis-profile=long
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto -m slow tests/test_damaged_files.py

# With bounds checking, an index outside an array is an error instead of a wrong number or a crash. The compiled code has
# a separate cache (tests/conftest.py).
test-bounds: .venv/.test
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto -m "" tests/game/test_resuming.py
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto tests/test_damaged_files.py

# Old packages warn about older ones: warnings are not errors here.
test-minima: $(BIN)/python
	rm -rf .venv/minima && $(PYTHON) -m venv .venv/minima
	$(BIN)/python tests/minima.py > .venv/minima/requirements.txt
	.venv/minima/bin/python -m pip install --quiet --disable-pip-version-check -r .venv/minima/requirements.txt
	.venv/minima/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	.venv/minima/bin/python -m pytest -o addopts="--import-mode=importlib" -o filterwarnings= -q tests/test_smoke.py

test-ray: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,ray]"
	$(BIN)/python -m pytest -m "" tests/test_ray.py

browser: # without a browser the tests of the web page are skipped
	@command -v chromium-headless-shell chromium google-chrome >/dev/null \
		|| { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell; }

coq:
	@command -v coqc >/dev/null || ! command -v apt-get >/dev/null \
		|| { apt-get update -qq && apt-get install -y -qq --no-install-recommends coq; } \
		|| echo "Coq could not be installed with apt."

proofs: coq
	$(PYTHON) proofs/check_proofs.py

names: .venv/.test
	$(BIN)/python docs/making/names.py

transcripts: .venv/.test
	$(BIN)/python tests/test_transcripts.py
	$(BIN)/python tests/test_documentation.py

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/rejected_by_mypy.py
	$(BIN)/lint-imports

bench: .venv/.bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv build dist site src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
