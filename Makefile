# Every command sets itself up: .venv is made and filled on the first run, and again when what it depends on changes.
PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
# deepeval and mlflow are left out: they hold back click, huggingface_hub and pyarrow for all others
EXTRAS ?= test,demo,contradict,inspect,fast
METRIC ?= consensus
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS)

.PHONY: help score demo test lint test-quick test-slow test-data docs golden clean

help:
	@echo "make score      score the sample pairs with the shipped checkpoint"
	@echo "make demo       serve a demo (METRIC=consensus, the default, matcha, stsscore, nli_lex, support or set_criteria)"
	@echo "make test       both of these (about six minutes):"
	@echo "make lint       style, direction of imports, and types"
	@echo "make test-quick the tests with their coverage"
	@echo "make test-slow  the tests that take longer (about half an hour)"
	@echo "make test-data  the tests on real data (about half an hour; SEMANTIC_METRICS_DATA names its folder)"
	@echo "make docs       build the documentation into site/, every warning an error"
	@echo "make golden     record the scores that every shipped checkpoint must keep"
	@echo "make clean      remove .venv and what the tools left behind"

score: $(VENV)/.score
	$(BIN)/semantic-metrics score metrics/samples/pairs.csv --metric consensus \
		--predictions prediction --references reference --show kind

demo: $(VENV)/.test
	$(BIN)/python metrics/$(METRIC)/app.py

test: lint test-quick

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@mkdir -p build/typed && ln -sfn ../../metrics build/typed/semantic_metrics
	$(BIN)/mypy

test-quick: $(VENV)/.test
	$(BIN)/python -m pytest -m "not slow and not real_data" --numprocesses auto --cov

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m "slow and not real_data" --numprocesses auto

test-data: $(VENV)/.test
	@test -n "$$SEMANTIC_METRICS_DATA" || { echo "SEMANTIC_METRICS_DATA: expected the data's folder, got nothing"; exit 2; }
	$(BIN)/python -m pytest -m real_data --numprocesses auto --dist worksteal # some take ten minutes

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

golden: $(VENV)/.test
	$(BIN)/python -m tests.test_golden

clean:
	rm -rf $(VENV) build dist site .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit("Python 3.10 or later is needed, got " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.score: $(VENV)/.python pyproject.toml $(CONSTRAINTS)
	@echo "Installing into $(VENV): a few minutes, once"
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.python pyproject.toml benchmarks/peers.txt $(CONSTRAINTS)
	@echo "Installing into $(VENV): a few minutes, once"
	$(INSTALL) --editable ".[$(EXTRAS)]"
	$(INSTALL) --no-deps --requirement benchmarks/peers.txt
	@touch $(VENV)/.score $@

$(VENV)/.docs: $(VENV)/.python pyproject.toml $(CONSTRAINTS)
	@echo "Installing into $(VENV): a few minutes, once"
	$(INSTALL) --editable ".[docs]"
	@touch $(VENV)/.score $@
