# `make demo` and `make test` do all the set-up they need; `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
# Targets check what the machine lacks before they install or run anything: order matters.
.NOTPARALLEL:
.PHONY: help setup demo test seeds kills kills-iterators fuzz check docs pages bench experiments bench-spark bench-streaming soak clean java

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.windrow-setup
EXTRAS := dev
# What builds packages here, pinned like the rest: pyspark comes as source, which setuptools and wheel
# turn into a wheel; a new venv has an old setuptools or none, and no wheel.
BUILDERS := hatchling editables setuptools wheel
DEMO_ARGS ?=
EXPERIMENTS_ARGS ?= --quick
TEST_ARGS ?=
KILLS ?= 20
FUZZ_ARGS ?=
SECONDS ?= 60

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The first interpreter that is recent enough; `make setup PYTHON=...` overrules the search.
PYTHON ?= $(firstword $(foreach candidate,python3 python3.13 python3.12 python3.11 python,\
	$(shell $(candidate) -c 'import sys; sys.version_info >= (3, 11) and print("$(candidate)")' 2>/dev/null)))

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)$$/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

setup: $(STAMP) ## create .venv with the pinned versions and windrow in it (nothing to do when it is there)

demo: java $(STAMP) ## watch windows over a live stream of sensor readings on local Spark, for a minute
	@$(BIN)/windrow demo $(DEMO_ARGS)

test: java $(STAMP) ## run the tests and the examples of the docs
	@$(BIN)/python -m tests $(TEST_ARGS)

seeds: java $(STAMP) ## run the tests of properties with examples that are drawn anew, six times as many
	@$(BIN)/python -m tests -m hypothesis --hypothesis-profile=seeds $(TEST_ARGS)

kills: java $(STAMP) ## kill workers, executors, drivers and brokers of streams, KILLS (20) times over; KILLS_ARGS="--sessions 2 --minutes 60"
	@$(BIN)/python -m tests.support.stream.kills --kills $(KILLS) $(KILLS_ARGS)

kills-iterators: $(STAMP) ## kill a process that answers a stream without Spark, KILLS (20) times over, about a second each
	@$(BIN)/python -m tests.support.iterators.killed --kills $(KILLS) --query all

fuzz: java $(STAMP) ## compare random calls with a model, for SECONDS (60), and print those that differ as scripts
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(FUZZ_ARGS)

check: $(STAMP) ## lint, format, types, and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

docs: $(STAMP) ## build the documentation as a site: build/site/index.html
	@NUMBA_DISABLE_JIT=1 PYTHONPATH=. $(BIN)/python -m website

pages: $(STAMP) ## write what code makes: docs/aggregations.md, the catalogue's names for type checkers, drawings and figures of the docs
	@$(BIN)/python -m windrow.aggregations.reference > docs/aggregations.md.new
	@$(BIN)/python -m windrow.aggregations.stub > src/windrow/aggregations/__init__.pyi.new
	@for page in docs/aggregations.md src/windrow/aggregations/__init__.pyi; do mv $$page.new $$page; done
	@NUMBA_DISABLE_JIT=1 PYTHONPATH=. $(BIN)/python -m website.drawings
	@$(BIN)/python -m benchmarks.report
	@$(BIN)/python -m benchmarks.page_tables

bench: java $(STAMP) ## measure, and print ratios
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

experiments: java $(STAMP) ## measure again what the five papers measured, and write a report: EXPERIMENTS_ARGS goes to `windrow bench`
	@$(BIN)/windrow bench $(EXPERIMENTS_ARGS)

bench-spark: java $(STAMP) ## measure windrow on Spark against Spark's own windows (about half an hour)
	@$(BIN)/python -m benchmarks 'spark*'

bench-streaming: java $(STAMP) ## measure windrow on Spark streams against Spark's own windows
	@$(BIN)/python -m benchmarks 'streaming*'

soak: java $(STAMP) ## run a stream for 20 minutes and see whether memory stays flat
	@$(BIN)/python -m benchmarks.soak $(SOAK_ARGS)

clean: ## remove .venv, caches and what the demo wrote
	@rm -rf $(VENV) demo-output bench-output build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Spark 4 needs Java 17 or newer; it looks for it where this does. `java -version` prints
# `openjdk version "17.0.15" ...`, and before Java 9 `java version "1.8.0_402"`.
java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	major=$$("$$java" -version 2>&1 | sed -nE 's/.* version "(1\.)?([0-9]+).*/\2/p' | head -n 1); \
	[ "$${major:-0}" -ge 17 ] || { \
		found=$${major:+"found Java $$major"}; \
		echo "windrow's Spark part needs Java 17 or newer ($${found:-no $$java found}): install a JRE, e.g. 'apt-get install openjdk-17-jre-headless' or 'brew install openjdk@17'." >&2; \
		exit 1; \
	}

# pip names the addresses it looks at in its messages: they belong to the machine, not in a log.
$(STAMP): pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "windrow needs Python 3.11 or newer: install it, e.g. 'apt-get install python3.11 python3.11-venv', or name it with 'make setup PYTHON=...'." >&2; \
		exit 1; \
	}
	@echo "Setting up $(VENV) with $$("$(PYTHON)" --version) and the versions of constraints.txt (a few minutes the first time) ..."
	@rm -f $@
	@[ -x $(BIN)/python ] || "$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@install() { $(BIN)/python -m pip install --progress-bar off --constraint constraints.txt "$$@" >$(VENV)/setup.log 2>&1; }; \
	install $(BUILDERS) && install --no-build-isolation --editable '.[$(EXTRAS)]' || { \
		tail -n 25 $(VENV)/setup.log | sed -E "s#[A-Za-z+]+://[^ ]*#<address>#g; s#host='[^']*'#host=<address>#g" >&2; \
		echo "Setting up failed: the reason is in the lines above." >&2; \
		exit 1; \
	}
	@touch $@
	@echo "Done: $$(du -sh $(VENV) | cut -f1) in $(VENV). It is not done again until pyproject.toml or constraints.txt change."
