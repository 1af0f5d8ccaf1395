# Everything a contributor does starts here. Each target installs what it needs into .venv by itself.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run web package test check lint format types bench sim chaos property clients hostile lock clean

BIN := .venv/bin
SOURCES := $(wildcard detent tests bench)
# Tests wait for servers and timers for a third of their time, so two cores have room for six workers.
WORKERS ?= 6
SECONDS ?=
SEED ?=
ARGS ?=
# Bytecode is kept, whatever the environment says: tests start hundreds of processes that would compile everything again.
export PYTHONDONTWRITEBYTECODE :=
TYPES = $(BIN)/mypy --no-error-summary $(if $(CI),--cache-dir=/dev/null) $(SOURCES) && \
	{ $(BIN)/lint-imports --no-logo >.venv/imports.log || { cat .venv/imports.log; exit 1; }; } && \
	echo "format, lint, types and imports are clean"
LIMITS = $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: .venv/.run ## Start Detent with its examples (ARGS= goes to `detent dev`)
	@scripts/web --optional
	@$(BIN)/detent dev $(ARGS)

web: .venv/.run ## Build the web page, if something of it changed
	@scripts/web

package: web ## Build wheel and source distribution into dist, with the web page
	@rm -rf dist && $(BIN)/python -m hatchling build -d dist && ls -l dist

# Types and imports are checked while the tests begin, and told after them. In a new checkout one process compiles the
# tests first: each worker would compile all of them, and that takes twice as long as collecting them.
test: format ## Everything: linters, types and all tests, on real databases started for it
	@( $(TYPES) ) >.venv/types.log 2>&1 & types=$$!; \
	ls tests/api/__pycache__/*-pytest-*.pyc >/dev/null 2>&1 || $(BIN)/pytest -q --collect-only -p no:xdist >/dev/null; \
	$(BIN)/pytest -q -n $(WORKERS) --dist worksteal --durations 10 $(ARGS); tests=$$?; \
	wait $$types; types=$$?; cat .venv/types.log; exit $$((tests ? tests : types))

check: lint ## Format, lint, types, imports and fast tests, in less than a minute
	@$(BIN)/pytest -q -n $(WORKERS) --dist worksteal -m "not slow" $(ARGS)

lint: format types

format: .venv/.dev
	@$(BIN)/ruff format --quiet --check --output-format concise $(SOURCES) || { echo "run: $(BIN)/ruff format"; exit 1; }
	@$(BIN)/ruff check --quiet --output-format concise $(SOURCES)

types: .venv/.dev
	@$(TYPES)

bench: .venv/.dev ## Measure Detent beside its peer (SECONDS= ARGS=)
	@$(BIN)/python -m bench $(LIMITS)

sim: SECONDS = 600
sim: .venv/.dev ## Simulate crashes, pauses and faults (SECONDS=600 SEED=)
	@$(BIN)/python -m tests.sim $(LIMITS)

chaos: SECONDS = 600
chaos: .venv/.dev ## Kill real nodes and databases under load (SECONDS=600 SEED=)
	@$(BIN)/python -m tests.chaos $(LIMITS)

hostile: .venv/.dev ## Send 100,000 hostile callbacks and judge (SEED= ARGS="--database postgres")
	@$(BIN)/python -m tests.hostile $(if $(SEED),--seed $(SEED)) $(ARGS)

property: SECONDS = 300
property: .venv/.dev ## Send requests of every kind to every route (SECONDS=300 SEED=)
	@$(BIN)/python -m tests.property $(LIMITS)

clients: .venv/.dev ## Write the types of the TypeScript client from today's API
	@$(BIN)/python -m tests.clients.typescript

lock: .venv/.dev ## Renew requirements.lock and requirements-dev.lock
	@scripts/lock $(ARGS)

clean: ## Remove .venv, caches and builds
	@rm -rf clients/typescript/node_modules clients/typescript/dist clients/typescript/build
	@rm -rf web/node_modules web/tests/node_modules detent/web/built
	@rm -rf .venv build dist htmlcov .coverage .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find detent tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv/.run: requirements.lock pyproject.toml
	@scripts/setup requirements.lock
	@touch $@

# The development lock holds the other one's packages in the same versions, so either may come first.
.venv/.dev: requirements.lock requirements-dev.lock pyproject.toml
	@scripts/setup requirements-dev.lock
	@touch $@ .venv/.run
