# Everything happens in .venv, with the versions pinned in requirements/. Needs Python 3.11 or later, make and git.

.PHONY: help setup check test soak simulate mutants compiled test-compiled test-pythons test-lowest test-languages test-load test-packages build image release-check lint docs generate store load bench table demo lock clean
.DEFAULT_GOAL := help
SHELL := /bin/bash -euo pipefail

# The first one that really runs: a version manager's python3.11 may be a shim with nothing behind it.
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
UV := $(BIN)/uv
# Test processes; `logical` is one a core.
WORKERS ?= logical
# The schemas of the last release, with which the wire and the stored events must stay compatible. Until CHANGELOG.md dates a version nothing is
# released, and schemas may change freely: the image is then that of the first version to come, which `make release-check` alone looks at.
RELEASED := proto/released.binpb
IS_RELEASED := $(shell grep -qE '^\#\# \[[0-9.]+\] - [0-9]{4}-' CHANGELOG.md && echo yes)

help:  ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' Makefile

setup: .venv/.done  ## Make .venv, with everything pinned

.venv/.done: requirements/uv.txt requirements/dev.txt pyproject.toml core/pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e core -e .
	@touch $@

# The folders of tests that start no server process and damage no file.
QUICK := tests/rules tests/wire tests/vectors tests/rooms tests/auth tests/client
# The folders that reach all of the core. Only they are run with coverage, which makes the properties three times as slow.
COVERED := $(QUICK) tests/players

check: lint  ## Check within two minutes: lint, then the quick tests
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(QUICK)

test: lint  ## Check everything: lint, the tests that reach the core with the branches they cover, then all others
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --cov --cov-report=term --cov-report=json:.coverage.json --cov-fail-under=98 $(COVERED)
	@$(BIN)/python -c 'import json, sys; t = json.load(open(".coverage.json"))["totals"]; \
	b = 100 * t["covered_branches"] / (t["num_branches"] or 1); \
	print(f"branches of the core reached by these tests: {b:.1f} % (98 % are asked for)"); sys.exit(b < 98)'
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(addprefix --ignore=,$(COVERED))

# How long a soak is: minutes of torture, tables at it, nodes and tables of the torture with a database, minutes of the search for deadlocks, rounds of the tests that depend on time, mistakes to plant, seeds of the simulation, and
# the search of the properties (`thorough` looks at 2,000 examples each, `share` at 20, which takes less than a minute, `none` leaves them out).
# No step runs longer than SOAK_LIMIT.
SOAK_MINUTES ?= 5
SOAK_TABLES ?= 100
SOAK_NODES ?= 3
SOAK_NODE_TABLES ?= 30
SOAK_DEADLOCK_MINUTES ?= 10
SOAK_ROUNDS ?= 5
SOAK_MUTANTS ?= 1000
SOAK_SEEDS ?= 10000
SOAK_PROFILE ?= thorough
SOAK_LIMIT ?= 60m

soak: setup  ## Run what takes long, within SOAK_MINUTES, SOAK_TABLES, SOAK_NODES, SOAK_NODE_TABLES, SOAK_DEADLOCK_MINUTES, SOAK_SEEDS, SOAK_ROUNDS, SOAK_PROFILE and SOAK_LIMIT
	timeout $(SOAK_LIMIT) $(BIN)/erqiwang torture --minutes $(SOAK_MINUTES) --tables $(SOAK_TABLES)
	timeout $(SOAK_LIMIT) $(BIN)/erqiwang torture --store postgresql --nodes $(SOAK_NODES) --minutes $(SOAK_MINUTES) --tables $(SOAK_NODE_TABLES)
	timeout $(SOAK_LIMIT) $(BIN)/python -m tests.store.postgres.soak --minutes $(SOAK_DEADLOCK_MINUTES) --nodes $(SOAK_NODES)
	timeout $(SOAK_LIMIT) $(BIN)/python -m tests.simulation.run --seeds $(SOAK_SEEDS) --from $(SIMULATION_FROM) --jobs $(SIMULATION_JOBS)
	timeout $(SOAK_LIMIT) $(BIN)/python -m tests.mutants.run --share $(SOAK_MUTANTS) --seed $(MUTANTS_SEED)
	for round in $$(seq $(SOAK_ROUNDS)); do echo "round $$round of $(SOAK_ROUNDS)"; \
		timeout $(SOAK_LIMIT) $(BIN)/python -m pytest -q tests/attacks tests/service/test_clocks.py \
			tests/service/test_between_awaits.py tests/service/test_slow_readers.py tests/client/test_timing.py; done
ifneq ($(SOAK_PROFILE),none)
	HYPOTHESIS_PROFILE=$(SOAK_PROFILE) timeout $(SOAK_LIMIT) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal tests/properties
endif

# The seeds of the simulation, the first of them, and how many processes play them; 0 is one a core.
SIMULATION_SEEDS ?= 1000
SIMULATION_FROM ?= 0
SIMULATION_JOBS ?= 0

simulate: setup  ## Simulate nodes on one store, with crashes and losses, by seeds (SIMULATION_SEEDS, SIMULATION_FROM, SIMULATION_JOBS)
	$(BIN)/python -m tests.simulation.run --seeds $(SIMULATION_SEEDS) --from $(SIMULATION_FROM) --jobs $(SIMULATION_JOBS)

# How many mistakes are planted, drawn by MUTANTS_SEED; all where it is empty.
MUTANTS ?=
MUTANTS_SEED ?= 1

mutants: setup  ## Plant the small mistakes of tests/mutants/mutants.txt and say which no test notices (MUTANTS, MUTANTS_SEED)
	nice $(BIN)/python -m tests.mutants.run $(if $(MUTANTS),--share $(MUTANTS) --seed $(MUTANTS_SEED))

# The interpreters beside the one of .venv. One that is not installed is named and passed over, because CI may run on a machine that
# cannot have it. One that the version manager lists must run in CI: otherwise a search that finds nothing would pass as a test.
PYTHONS ?= 3.12 3.13

test-pythons: setup  ## Run the quick tests on each other Python that is installed (PYTHONS)
	@for version in $(PYTHONS); do \
		found=""; \
		for p in "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.*/bin/python python$$version; do \
			if $$p -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$$version')" 2>/dev/null; then found=$$p; break; fi; done; \
		if test -z "$$found" && test -n "$${CI:-}" && ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.* >/dev/null 2>&1; then \
			echo "Python $$version is installed, but does not run: its tests were not run" >&2; exit 1; fi; \
		if test -z "$$found"; then echo "Python $$version is not installed: its tests were not run"; continue; fi; \
		echo "Python $$version: $$found"; \
		$(UV) venv -q --clear --python "$$found" .venvs/$$version; \
		$(UV) pip install -q --python .venvs/$$version/bin/python --require-hashes -r requirements/dev.txt; \
		$(UV) pip install -q --python .venvs/$$version/bin/python --no-deps --no-build-isolation -e core -e .; \
		HYPOTHESIS_PROFILE=share .venvs/$$version/bin/python -m pytest -q -p no:cacheprovider -n $(WORKERS) --dist worksteal $(QUICK); done

# An environment of its own, so that no binary ever lies beside a source and shadows it. A change of a source makes it anew.
COMPILED := .venv-compiled
# How hard the C compiler tries: 1 takes half the time of 2, and runs as fast within a few percent.
LEVEL ?= 1
# What is installed there comes before the sources of this folder, which are found last, for the tests.
IN_COMPILED := PYTHONSAFEPATH=1 $(COMPILED)/bin/python

compiled: $(COMPILED)/.done  ## Make .venv-compiled, with the core and the way of a command compiled by mypyc; needs a C compiler (LEVEL)

$(COMPILED)/.core: .venv/.done $(wildcard core/backend/*.py core/erqiwang_core/*.py core/erqiwang_core/*/*.py core/erqiwang_environment/*.py)
	@command -v cc gcc clang >/dev/null || { echo "A C compiler is needed: apt-get install gcc python3-dev" >&2; exit 1; }
	test -x $(COMPILED)/bin/python || $(UV) venv -q --python $(BIN)/python $(COMPILED)
	$(UV) pip install -q --python $(COMPILED)/bin/python --require-hashes -r requirements/dev.txt
	$(UV) pip install -q --python $(COMPILED)/bin/python --no-deps --no-build-isolation --reinstall-package erqiwang-core \
		-C compiled=true -C level=$(LEVEL) ./core
	@touch $@

$(COMPILED)/.done: $(COMPILED)/.core $(shell find erqiwang_grpc -name '*.py')
	$(UV) pip install -q --python $(COMPILED)/bin/python --no-deps --no-build-isolation --reinstall-package erqiwang-grpc \
		-C compiled=true -C level=$(LEVEL) .
	@pwd > "$$($(IN_COMPILED) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sources.pth"
	@touch $@

# The tests that reach all of the core and of what is compiled of the service. The properties look at a share of their examples.
test-compiled: compiled  ## Run the tests of the core, of what stores and tells it, of the rooms and of streams with both compiled
	$(COMPILED)/bin/erqiwang --version | grep 'core compiled, service compiled'
	HYPOTHESIS_PROFILE=share $(IN_COMPILED) -m pytest -q -p no:cacheprovider -o pythonpath= -n $(WORKERS) --dist worksteal \
		tests/rules tests/wire tests/vectors tests/rooms tests/players tests/properties tests/environment \
		tests/service/test_gateways.py tests/service/test_reconnecting.py tests/service/test_secrecy_on_the_wire.py

test-lowest: setup  ## Run the quick tests, and those of the environment, with the lowest versions that pyproject.toml allows
	@mkdir -p .venvs
	$(UV) pip compile -q --resolution lowest-direct --python-version 3.11 --no-header --no-emit-package erqiwang-core --extra tools --extra postgres --extra edge --extra traces --extra environment \
		pyproject.toml core/pyproject.toml -o .venvs/lowest.txt
	$(UV) venv -q --clear --python $(BIN)/python .venvs/lowest
	$(UV) pip install -q --python .venvs/lowest/bin/python -r requirements/dev.txt
	$(UV) pip install -q --python .venvs/lowest/bin/python -r .venvs/lowest.txt
	$(UV) pip install -q --python .venvs/lowest/bin/python --no-deps --no-build-isolation -e core -e .
	HYPOTHESIS_PROFILE=share .venvs/lowest/bin/python -m pytest -q -p no:cacheprovider -n $(WORKERS) --dist worksteal $(QUICK) tests/environment

test-languages: setup  ## Check docs/languages.md: make and play its clients, and check the types of the table page; needs Go, Node and Java with Maven
	$(BIN)/python -m pytest -q -m languages tests/languages tests/edge/page

test-load: setup  ## Check docs/load.md and docs/discovery.md: a short load by ghz, and grpcurl; needs Go
	$(BIN)/python -m pytest -q -m load tests/load

test-packages: setup  ## Build both packages and the image, and run and type-check what is installed where nothing else is
	$(BIN)/python -m pytest -q -m packages tests/packages tests/deploy/image

# The same sources give the same bytes: every time in a package is that of the commit.
build: setup  ## Build both packages into dist/, as sources and as wheels, and check what they say of themselves
	rm -rf dist
	export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}; \
		for project in core .; do $(BIN)/python -m build --no-isolation --outdir dist $$project > /dev/null; done
	$(BIN)/twine check --strict dist/*

image: setup  ## Keep the image of the schemas as they are released: only for a release, as CONTRIBUTING.md says
	$(BIN)/buf build --exclude-source-info -o $(RELEASED)

release-check: setup  ## Check what a release must hold: versions, changelog, compatible schemas, and the built packages
	$(BIN)/python scripts/release.py
	$(MAKE) --no-print-directory build test-packages

lint: setup  ## Check style, types, who imports whom, and the schemas
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
ifneq ($(wildcard proto/erqiwang/*/*.proto),)
	$(BIN)/buf lint
ifneq ($(IS_RELEASED),)
	$(BIN)/buf breaking --against $(RELEASED)
endif
	$(BIN)/python proto/generate.py --check
	$(BIN)/python scripts/card_table.py --check
	$(BIN)/python scripts/errors.py --check
	$(BIN)/python -m scripts.twins --check
	$(BIN)/python scripts/page_types.py --check
endif

docs: setup  ## Make a searchable site of the documents and the reference of the schemas in build/site
	$(BIN)/python -m scripts.documents

generate: setup  ## Generate Python and the types of the table page from the schemas in proto/, and docs/cards.json, docs/errors.md and docs/errors.zh.md from the code
	$(BIN)/python proto/generate.py
	$(BIN)/python scripts/card_table.py
	$(BIN)/python scripts/errors.py
	$(BIN)/python scripts/page_types.py

store: setup  ## Make the stored example anew that must always open: only with a change of what is on disk, knowingly
	$(BIN)/python -m tests.formats.write

load: setup  ## Load a server with ghz, as docs/load.md says; needs Go
	$(BIN)/python -m tests.load.run

bench: setup  ## Measure the core, and the compiled one too if `make compiled` has made it
	$(BIN)/python bench/core_bench.py
	@if test -e $(COMPILED)/.done; then $(MAKE) --no-print-directory compiled && $(COMPILED)/bin/python bench/core_bench.py; \
		else echo "\`make compiled bench\` measures the compiled core too"; fi

table: setup  ## Play in a browser, against players of our own
	$(BIN)/erqiwang table

demo: setup  ## Watch a match over real streams in the terminal
	$(BIN)/erqiwang demo

lock: setup  ## Pin requirements/*.in again; UPGRADE=--upgrade takes the newest versions
	for set in uv run tools postgres edge traces environment build dev; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
		$(UPGRADE) requirements/$$set.in -o requirements/$$set.txt; done

clean:  ## Remove .venv and all caches
	rm -rf .venv .venvs .venv-compiled .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
