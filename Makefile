# Each target sets up all that it needs; python3, make and git suffice.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint clean

demo: .venv/demo
	$(BIN)/cogmap demo --output demo

test: .venv/test
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

lint: .venv/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv demo dist

.venv/created:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/demo: .venv/created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	touch $@

.venv/test: .venv/demo
	$(BIN)/python -m pip install --quiet --group test
	touch $@

.venv/lint: .venv/test
	$(BIN)/python -m pip install --quiet --group lint
	touch $@
