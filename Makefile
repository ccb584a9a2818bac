# From Python and make alone: every target makes $(VENV) first, and is quick the second time.
#
#   make demo            improves a small harness on real files, without model or network
#   make test            all checks, through tox
#   make lint            ruff, mypy and import-linter only
#   make bench           the programs of benchmarks/
#   make docs            the documentation as a site, in build/site
#   make agents          brings the real agents that some tests run, with npm
#   make demo PYTHON=python3.12

PYTHON ?= python3
VENV ?= .venv
BIN := $(abspath $(VENV))/bin
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
PROJECTS := pyproject.toml $(wildcard plugins/*/pyproject.toml) tools/install.py

export PATH := $(BIN):$(PATH)

.PHONY: demo tools test lint bench docs agents clean
.DELETE_ON_ERROR:

demo: $(INSTALLED)
	$(BIN)/harness2 demo

tools: $(TOOLS)

test: $(TOOLS)
	$(BIN)/python -m tox run

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_types.py
	$(BIN)/lint-imports

bench: $(TOOLS)
	@set -e; for program in benchmarks/*.py; do \
		if [ -e "$$program" ]; then echo "== $$program"; $(BIN)/python "$$program"; fi; \
	done

docs: $(TOOLS)
	$(BIN)/python tools/written_page.py
	$(BIN)/python tools/docs_site.py

agents: $(INSTALLED)
	@failed=0; for agent in opencode codex claude; do $(BIN)/harness2 setup $$agent || failed=1; done; exit $$failed

clean:
	rm -rf $(VENV) .tox build dist

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Harness2 needs Python 3.11 or newer; name one, as in: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): $(PROJECTS) | $(BIN)/python
	$(BIN)/python tools/install.py
	@touch $@

$(TOOLS): $(INSTALLED)
	$(BIN)/python tools/install.py dev
	@touch $@
