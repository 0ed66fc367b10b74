# Every target sets up what it needs in .venv on a machine with only Python >= 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help setup demo test bench docs check fmt lint types clean

help: ## Lists the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY) ## Makes .venv and installs the package with its tools

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m compileall -q tensorbackend
	@touch $@

demo: $(READY) ## Trains a digit classifier with named axes and checks it on the reference backend
	$(BIN)/python examples/digits.py

test: $(READY) ## Runs the tests, every payload checked against its template
	TENSORBACKEND_CHECK=1 $(BIN)/python -m pytest -n 2

bench: $(READY) ## Measures the budget
	$(BIN)/python benchmarks/core.py

docs: $(READY) ## Writes the generated tables and runs the code of the pages
	$(BIN)/python docs/tables.py
	$(BIN)/python -m pytest tests/test_docs.py

fmt: $(READY) ## Formats the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(READY) ## Checks format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## Checks the types
	$(BIN)/mypy

check: lint types test ## Everything that CI runs

clean: ## Removes .venv and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
