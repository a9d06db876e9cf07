# Everything here needs Python 3.11 or newer and nothing else: the first target that needs it builds .venv.

VENV := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
# pip would compile all that it installs, libraries' own tests too, file after file: Python compiles what is imported, once.
install = $(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '$(1)'
# Files go to two processes in their order, the pages last: they are short, so that both end together.
SHARED := -n 2 --dist loadfile --no-loadscope-reorder
# The tests start hundreds of processes, and each would compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.DEFAULT_GOAL := help
.PHONY: help reproduce report test test-slow test-numba test-oldest test-newest docs packages browser clients postgresql dashboard bench attack images page-images tutorial-images wheels constraints clean distclean leaderboard compare bakeoff tables

help: ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name words; do \
		printf 'make %-12s %s\n' "$$name" "$$words"; done

reproduce: $(READY) ## play every figure of the paper with few runs, and write report/index.html (about two minutes)
	@$(BIN)/belman reproduce --quick

report: $(READY) ## the same with all runs (under ten minutes)
	@$(BIN)/belman reproduce

test: $(TOOLS) ## check style, types, layers, and every test and example but the slow ones
	@echo "== style: ruff check" && $(BIN)/ruff check .
	@echo "== style: ruff format" && $(BIN)/ruff format --check .
	@echo "== types: mypy" && $(BIN)/mypy
	@echo "== layers: import-linter" && $(BIN)/lint-imports
	@echo "== tests and examples: pytest" && $(BIN)/python -m pytest -m "not slow" $(SHARED)

test-slow: $(TOOLS) ## test packages, the site, tutorials, pages in a browser, attacks and deployment (minutes)
	@$(BIN)/python -m pytest -m slow $(SHARED) tests

test-numba: $(VENV)/.numba-oldest $(VENV)/.numba-newest ## run the tests of the engine on the oldest and on the newest Numba
	@for numba in oldest newest; do \
		$(VENV)/numba-$$numba/$(SCRIPTS)/python -c 'import numba; print("== tests of the engine: numba", numba.__version__)' && \
		$(VENV)/numba-$$numba/$(SCRIPTS)/python -m pytest tests/engine tests/agent/test_interpreted.py tests/lab/test_reference_values.py \
			|| exit 1; done

test-oldest: $(VENV)/.oldest ## run the tests on the oldest versions that pyproject.toml allows
	@$(VENV)/oldest/$(SCRIPTS)/python -m pytest $(SHARED) -o filterwarnings=  # of what is newer than they are

test-newest: $(VENV)/.newest ## run the tests on the newest versions that there are
	@$(VENV)/newest/$(SCRIPTS)/python -m pytest $(SHARED) -o filterwarnings=  # of what they will drop

docs: $(TOOLS) ## build the documentation site into build/docs, every warning an error
	@$(BIN)/python -m sphinx -b html -W --keep-going -q -d build/doctrees docs build/docs && echo "build/docs/index.html"

packages: $(TOOLS) ## build the sdist and the wheel into dist/
	@$(BIN)/python -m tests.packages dist

browser: ## install Chromium (Debian, Ubuntu), in which the pages are tested, and axe where there is npm
	@command -v chromium >/dev/null || $$(test "$$(id -u)" = 0 || echo sudo) sh -c \
		'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium'
	@! command -v npm >/dev/null || (cd src/belman/dashboard/web && npm ci --silent)

clients: $(TOOLS) ## install clients of others' services and litellm, with which the bridges are tested (pip, and npm where it is there)
	@$(BIN)/pip install --quiet --disable-pip-version-check eppo-server-sdk growthbook openfeature-provider-ofrep river \
		azure-cognitiveservices-personalizer azure-ai-personalizer==1.0.0b1  # there are pre-releases alone
	@# litellm wants an older python-dateutil than constraints.txt pins
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[litellm]'
	@! command -v npm >/dev/null || (cd tests/bridges/node && npm ci --silent)

postgresql: ## install PostgreSQL, on which studies are tested (Debian, Ubuntu)
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || $$(test "$$(id -u)" = 0 || echo sudo) sh -c \
		'apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql'

dashboard: ## build the page of the service from its sources (needs Node.js and npm)
	@cd src/belman/dashboard/web && npm ci --silent && npm run --silent build

bench: $(VENV)/.peers ## measure every claim of speed, beside other libraries
	@status=0; for file in $$(grep -l '^def main' benchmarks/*.py); do \
		$(BIN)/python -m benchmarks.$$(basename $$file .py) || status=1; done; exit $$status

# RUNS, HORIZON and FAMILIES (all for every one) say how much of the validation suite is played.
leaderboard: $(READY) ## play every policy on the validation suite, and draw docs/leaderboard.md and .json (minutes)
	@$(BIN)/python tools/leaderboard.py --runs $(or $(RUNS),100) --horizon $(or $(HORIZON),1000) --families $(or $(FAMILIES),bernoulli)

# TABLES names those that are played again; by default what has changed.
tables: $(READY) ## play the tables that others published, what has changed alone, and draw docs/published.md
	@$(BIN)/python tools/published.py $(TABLES)

# SPEED=1 measures speeds anew, and nothing else.
compare: $(READY) ## measure belman beside other libraries, what has changed alone, and draw docs/compare.md (under 30 minutes)
	@$(BIN)/python tools/compare.py --folder $(VENV)/peers $(if $(SPEED),--speed)

# ROWS of a pass at most, SEEDS for the order of rows, SECONDS of the processor for a player (it begins no further seed).
bakeoff: $(READY) ## play tables as contextual bandits beside other libraries, what has changed alone, and draw docs/bakeoff.md (half an hour)
	@$(BIN)/python -m benchmarks.bakeoff.run --folder $(VENV)/bakeoff --rows $(or $(ROWS),1000) --seeds $(or $(SEEDS),10) --seconds $(or $(SECONDS),40)

attack: $(TOOLS) ## try the long form of every attack on 127.0.0.1, and print the table of docs/guide/promises.md (minutes)
	@$(BIN)/python -m tests.attack

images: report ## redraw the pictures and the summary of README and docs/ from the full report
	@$(BIN)/python tools/summary.py report
	@$(BIN)/python docs/examples/dispatch.py 10000 docs/images/dispatch.png
	@$(BIN)/python docs/examples/price.py 200 docs/images/price.png
	@$(BIN)/python docs/examples/shared_direction.py 12 docs/images/shared-direction.png

page-images: $(TOOLS) ## redraw the pictures of the page, in Chromium
	@$(BIN)/python tools/page.py

tutorial-images: $(TOOLS) ## run the tutorials, and redraw their pictures
	@$(BIN)/python tools/tutorials.py

wheels: $(READY) ## build belman and its slim client, belman-client, into dist/
	@$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps -w dist . ./client

constraints: $(TOOLS) ## pin what is installed now in constraints.txt
	@$(BIN)/pip freeze --exclude-editable | grep == > constraints.txt

clean: ## remove what was drawn, built and cached
	@rm -rf build dist client/build client/*.egg-info report figures belman-run bench-regret src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests benchmarks docs tools -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove .venv as well
	@rm -rf $(VENV)

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || test -n "$(PYTHON)" || { \
		echo "belman needs Python 3.11 or newer, and found: $$(python3 --version 2>&1 || echo none)"; \
		echo "Install one, then say where it is: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
		echo "$(PYTHON) cannot make a virtual environment: install its venv module (python3-venv on Debian and Ubuntu)"; \
		rm -rf $(VENV); exit 1; }
	@echo "== installing belman into $(VENV)"
	@$(call install,.[lab])
	@touch $@

$(TOOLS): $(READY)
	@echo "== installing what the tests need into $(VENV)"
	@$(call install,.[dev])
	@# for the Open Bandit data inside: its code, and what that needs, are not used
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps obp==0.4.1 || echo "no obp: the test of its data will be skipped"
	@touch $@

# NumPy 2.2 is the oldest that this package takes, and the newest that the oldest Numba takes.
$(VENV)/.numba-oldest: numba = 'numba==0.61.2' 'numpy==2.2.*'
$(VENV)/.numba-newest: numba = numba
$(VENV)/.numba-%: $(READY)
	@echo "== installing the $* Numba into $(VENV)/numba-$*"
	@$(BIN)/python -m venv $(VENV)/numba-$*
	@$(VENV)/numba-$*/$(SCRIPTS)/pip install --quiet --disable-pip-version-check -e '.[lab]' $(numba) hypothesis mpmath pytest pytest-xdist
	@touch $@

$(VENV)/.oldest: $(READY) tests/oldest.py
	@echo "== installing the oldest versions into $(VENV)/oldest"
	@$(BIN)/python -m venv --clear $(VENV)/oldest
	@$(BIN)/python -m tests.oldest > $(VENV)/oldest/floors.txt
	@$(VENV)/oldest/$(SCRIPTS)/pip install --quiet --disable-pip-version-check -c $(VENV)/oldest/floors.txt -e '.[dev]'
	@touch $@

$(VENV)/.newest: $(READY) pyproject.toml
	@echo "== installing the newest versions into $(VENV)/newest"
	@$(BIN)/python -m venv --clear $(VENV)/newest
	@$(VENV)/newest/$(SCRIPTS)/pip install --quiet --disable-pip-version-check --upgrade -e '.[dev]'
	@touch $@

$(VENV)/.peers: $(TOOLS)
	@$(call install,.[bench])
	@touch $@
