# Each target sets up all that it needs; python3, make and git suffice.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint study study-test cluster-test clean

demo: .venv/demo
	$(BIN)/cogmap demo --output demo

test: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

lint: .venv/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# An environment of its own: pygam does not take the newest scipy.
study: .venv/study/installed
	.venv/study/bin/cogmap study table --quick

# The tests that need its packages; `make test` runs the others.
study-test: .venv/study/installed
	.venv/study/bin/python -m pytest tests/study/test_peers.py tests/study/test_ripper.py $(PYTEST_ARGS)

cluster-test: .venv/cluster/installed
	.venv/cluster/bin/python -m pytest tests/test_dask.py tests/test_spark.py $(PYTEST_ARGS)

clean:
	rm -rf .venv demo dist

.venv/created:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/study/installed: .venv/created pyproject.toml
	$(PYTHON) -m venv .venv/study
	.venv/study/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv/study/bin/python -m pip install --quiet --editable ".[study]" --group test
	touch $@

# Likewise apart, because Spark is large.
.venv/cluster/installed: .venv/created pyproject.toml
	$(PYTHON) -m venv .venv/cluster
	.venv/cluster/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv/cluster/bin/python -m pip install --quiet --editable . --group test --group cluster
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
