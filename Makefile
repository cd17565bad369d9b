# Everything sets itself up: only Python 3.11 or later, pip and make are needed.
#   make PYTHON=/path/to/python test    uses that interpreter to create .venv
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
CREATED := $(VENV)/pyvenv.cfg
RUN := $(VENV)/.installed-run
DEV := $(VENV)/.installed-dev
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
ONLY ?= *

# Only this project's own environment counts, whatever is active in the calling shell.
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX
# Tests start some hundreds of processes, and each would compile the source anew.
unexport PYTHONDONTWRITEBYTECODE
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

define install
	@echo "Installing freefloat ($(1)) into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[$(1)]' || { \
	  echo "The installation failed; pip's message is above." \
	       "If it speaks of connections or of no matching distribution, check the network" \
	       "or pip's own settings ('$(BIN)/python -m pip config list'), then run make again." >&2; \
	  exit 1; }
	@touch $@
endef

.PHONY: help demo test test-full campaigns papers golden results credibility docs lint types bench \
  bench-peers clean distclean

help: ## print this list
	@echo "make targets (each sets itself up):"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile | \
	  while IFS='|' read -r name what; do printf '%-14s%s\n' "$$name" "$$what"; done

$(CREATED):
	@chosen=""; \
	for candidate in $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python); do \
	  if "$$candidate" -c "$(NEW_ENOUGH)" >/dev/null 2>&1; then chosen=$$candidate; break; fi; \
	done; \
	if [ -z "$$chosen" ]; then \
	  echo "freefloat needs Python 3.11 or later and found none$(if $(PYTHON), at $(PYTHON))." \
	       "Install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2; \
	  exit 1; \
	fi; \
	echo "Creating $(VENV) with $$("$$chosen" --version) ..."; \
	if "$$chosen" -c "import ensurepip" >/dev/null 2>&1; then \
	  "$$chosen" -m venv $(VENV); \
	else \
	  "$$chosen" -m venv --without-pip $(VENV) && \
	  "$$chosen" -m pip --python $(VENV)/bin/python install --quiet pip; \
	fi || { \
	  rm -rf $(VENV); \
	  echo "Creating $(VENV) failed; the message is above." >&2; \
	  exit 1; }

$(RUN): pyproject.toml constraints.txt | $(CREATED)
	$(call install,plot)

# After $(RUN), never beside it: two pips at once in one environment would collide under make -j.
$(DEV): pyproject.toml constraints.txt $(RUN)
	$(call install,dev)

demo: $(RUN) ## the main job: weigh a captured target, report in build/demo
	@$(BIN)/python examples/06_capture.py

test: $(DEV) ## lint, types and the test suite
	@failed=""; \
	$(BIN)/ruff check . || failed="$$failed lint"; \
	$(BIN)/pyright || failed="$$failed types"; \
	$(PYTEST) || failed="$$failed tests"; \
	[ -z "$$failed" ] || { echo "Failed:$$failed" >&2; exit 1; }

test-full: $(DEV) ## the test suite with the long versions, then all campaigns
	@FREEFLOAT_MUTANTS=10000 $(PYTEST) -m ""
	@$(MAKE) campaigns

# Stopped at any moment, the same command goes on; RUNS=5 makes a short version of each.
campaigns: $(DEV) ## the long promises as campaigns, into results/campaigns (days; ONLY='I7*')
	@$(MAKE) results ONLY='campaigns/$(ONLY)'

papers: $(DEV) ## every paper rebuilt in full, rows in build/papers
	@$(BIN)/python tools/full_papers.py

golden: $(DEV) ## write tests/golden anew, after a change that is meant to change results
	@$(BIN)/python tools/golden.py make --out tests/golden --cases tests/golden/cases.txt --again
	@git --no-pager diff --stat -- tests/golden || true

results: $(DEV) ## make results/ anew where the code has changed (hours; ONLY='papers/*'; not campaigns)
	@$(BIN)/python tools/results.py run --only '$(ONLY)' $(if $(RUNS),--runs $(RUNS)); code=$$?; \
	$(BIN)/python tools/results.py render && exit $$code

credibility: $(DEV) ## the figures of results/ into CREDIBILITY.md and the documents
	@$(BIN)/python tools/results.py render

docs: $(DEV) ## the documents as pages in build/docs; warnings are errors
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "Open build/docs/index.html."

lint: $(DEV) ## ruff
	@$(BIN)/ruff check .

types: $(DEV) ## pyright on src
	@$(BIN)/pyright

bench: $(DEV) ## how fast freefloat is beside others, in short slices
	@failed=""; \
	for script in benchmarks/s*.py benchmarks/jacobian.py benchmarks/regressors.py; do \
	  $(BIN)/python "$$script" --quick || failed="$$failed $$script"; echo; \
	done; \
	[ -z "$$failed" ] || { echo "Failed:$$failed" >&2; exit 1; }

PEERS := build/peers-venv

# Neighbouring tools, for benchmarks alone. Whoever cannot be installed is left out of the tables.
$(PEERS)/.installed: benchmarks/peers.txt | $(CREATED)
	@echo "Installing neighbouring tools into $(PEERS) ..."
	@$(BIN)/python -m venv --without-pip $(PEERS)
	@while read -r peer; do \
	  $(BIN)/python -m pip --python $(PEERS)/bin/python install --quiet "$$peer" </dev/null || \
	    echo "$$peer could not be installed; pip's message is above. It is left out." >&2; \
	done < benchmarks/peers.txt
	@touch $@

bench-peers: $(DEV) $(PEERS)/.installed ## identification beside other tools, in short slices
	@failed=""; \
	for script in benchmarks/s3_minimal_sets.py benchmarks/s5_design.py \
	  benchmarks/s6_identify.py benchmarks/o6_online.py; do \
	  $(BIN)/python "$$script" --quick || failed="$$failed $$script"; echo; \
	done; \
	[ -z "$$failed" ] || { echo "Failed:$$failed" >&2; exit 1; }

clean: ## remove what runs leave behind
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## clean, and remove .venv
	rm -rf $(VENV)
