# Each target sets up all that it needs; python3, make and git suffice.
PYTHON ?= python3
BIN := .venv/bin
# What was run and what was skipped; .ci/run reads it.
JUNIT = --junitxml=.venv/$@.xml
# Modules are compiled when they are first imported, and once: tests start many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow soak test-lowest lint study study-test cluster-test wheel docs docs-check clean

demo: .venv/demo
	$(BIN)/cogmap demo --output demo

test: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal $(JUNIT) $(PYTEST_ARGS)

# What `make test` leaves out: whole processes, browsers and files at their real size.
test-slow: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m slow $(JUNIT) $(PYTEST_ARGS)

# Ten times as many examples of every property, from a fresh seed; `make soak SEED=…` draws those of a seed again.
soak: SEED := $(or $(SEED),$(shell $(PYTHON) -c "import secrets; print(secrets.randbelow(2**32))"))
soak: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m hypothesis \
	  --hypothesis-profile=soak --hypothesis-seed=$(SEED) $(PYTEST_ARGS)

# With exactly the lowest versions that pyproject.toml declares, in an environment of their own. Spark and the study's
# peers are left out: `make cluster-test` and `make study-test` have them. LOWEST names some of the tests.
test-lowest: .venv/lowest/installed
	OPENBLAS_NUM_THREADS=1 .venv/lowest/bin/python -m pytest -n auto --dist worksteal -m "" $(LOWEST) $(PYTEST_ARGS)

lint: .venv/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# An environment of its own: pygam does not take the newest scipy.
study: .venv/study/installed
	.venv/study/bin/cogmap study table --quick --results .venv/study/results.csv

# The tests that need its packages; `make test` runs the others.
study-test: .venv/study/installed
	.venv/study/bin/python -m pytest tests/study/test_peers.py tests/study/test_ripper.py $(JUNIT) $(PYTEST_ARGS)

cluster-test: .venv/cluster/installed
	.venv/cluster/bin/python -m pytest tests/test_dask.py tests/test_spark.py $(JUNIT) $(PYTEST_ARGS)

# What users install, in an environment that has nothing else.
wheel: .venv/test
	.ci/wheel

# The site, in docs/_build/html: every example runs, every warning is an error, and nothing is fetched.
docs: .venv/docs/installed
	OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg .venv/docs/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# Every page in Chromium, wide and narrow: console, links, clipping, search. It needs `chromium` on the path.
docs-check: docs
	.venv/docs/bin/python docs/check.py $(DOCS_CHECK_ARGS)

clean:
	rm -rf .venv demo dist docs/_build docs/learn docs/how-to docs/gallery docs/reference/generated

# .ci/install takes uv, which unpacks a library once for all environments; where it is not to be had, pip.
.venv/created:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" uv || $(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/demo: .venv/created pyproject.toml .ci/install
	.ci/install .venv --editable ".[cli]"
	touch $@

.venv/test: .venv/demo
	.ci/install .venv --group test
	touch $@

.venv/lint: .venv/test
	.ci/install .venv --group lint
	touch $@

.venv/study/installed: .venv/created pyproject.toml .ci/install
	.ci/install .venv/study --editable ".[study]" --group test
	touch $@

# Apart too: what builds the site should not decide what the tests run with.
.venv/docs/installed: .venv/created pyproject.toml .ci/install
	.ci/install .venv/docs --editable ".[cli,onnx,parquet]" --group docs
	touch $@

# Likewise apart, because Spark is large.
.venv/cluster/installed: .venv/created pyproject.toml .ci/install
	.ci/install .venv/cluster --editable . --group test --group cluster
	touch $@

.venv/lowest/installed: .venv/created pyproject.toml .ci/install .ci/lowest.py
	rm -rf .venv/lowest
	mkdir .venv/lowest
	$(PYTHON) .ci/lowest.py --without study spark > .venv/lowest/requirements.txt
	.ci/install .venv/lowest --requirement .venv/lowest/requirements.txt --editable .
	touch $@
