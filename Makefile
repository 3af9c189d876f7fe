# `make run` starts the app, `make test` runs every test. CONTRIBUTING.md explains the rest.

SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
SOURCES := translator $(wildcard app.py benchmarks)
MODULES = $(shell find $(SOURCES) -name '*.py')

# PIP_ARGS reaches every `pip install`; PYTHON names the interpreter that makes .venv.
PIP_ARGS ?=
PYTHON ?=
# TORCH=default takes the build that pip prefers, CUDA or not.
TORCH ?=
TORCH_CPU_INDEX ?= https://download.pytorch.org/whl/cpu

INSTALL = $(PY) -m pip install --disable-pip-version-check $(PIP_ARGS) -c constraints.txt
# Where bytecode is not to be kept, every process of the tests would compile all of it anew.
PYTEST = PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(PY) -m pytest
# The unit tests run in so many processes, one for each core up to four; those marked serial run after them, in one.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); echo $$((n < 4 ? n : 4)))

beside = $(PYTEST) -q $(if $(filter-out 1,$(WORKERS)),-n $(WORKERS) --dist loadfile) -m "$(1) and not serial"
unit-tests = $(call beside,$(1)) && $(PYTEST) -q -m "$(1) and serial"
QUICK = not soak and not slow and not browser

# The browser tests run in so many processes, each with a browser and a page of its own.
BROWSERS ?= $(WORKERS)
browser-tests = $(PYTEST) -q $(if $(filter-out 1,$(BROWSERS)),-n $(BROWSERS) --dist loadfile) -m "browser and not soak"

.PHONY: all run test check lint unit quick web audit format soak nightly engines bench load assets plotly lock docs space-check browser clean
.DEFAULT_GOAL := all

all: $(VENV)/.installed

# A name on the PATH may be a shim for a Python that is not there, so each candidate is run once.
$(PY):
	@for python in $(PYTHON) python3.11 python3.12 python3.10 python3 python; do \
	  if "$$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' \
	      >/dev/null 2>&1; then \
	    echo "Making $(VENV) with $$("$$python" --version)"; \
	    exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	echo "No Python 3.10, 3.11 or 3.12 that runs and can make virtual environments was found." >&2; \
	echo "Install one (Debian, Ubuntu: apt install python3 python3-venv) or name it: make PYTHON=/path/to/python" >&2; \
	exit 1

# Without an NVIDIA GPU the CPU build of torch is installed first: the build that pip would prefer on
# Linux brings gigabytes of CUDA libraries.
$(VENV)/.installed: requirements.txt constraints.txt | $(PY)
	@if [ "$(TORCH)" != default ] && [ "$$(uname -s)" = Linux ] && ! nvidia-smi -L >/dev/null 2>&1; then \
	  build="torch==$$(sed -n 's/^torch==//p' constraints.txt)+cpu"; \
	  echo "No NVIDIA GPU here: installing $$build"; \
	  $(INSTALL) -q --no-deps "$$build" 2>/dev/null \
	  || $(INSTALL) -q --no-deps --retries 1 --index-url $(TORCH_CPU_INDEX) "$$build" \
	  || { echo "No CPU build of torch was found for $$($(PY) --version)." >&2; \
	       echo "Name an index that has one (make TORCH_CPU_INDEX=https://...), or take the large build: make TORCH=default" >&2; \
	       exit 1; }; \
	fi
	$(INSTALL) -r requirements.txt sentencepiece
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.installed
	$(INSTALL) -r requirements-dev.txt
	@touch $@

run: $(VENV)/.installed
	$(PY) app.py

browser: $(VENV)/.dev
	$(PY) tests/browser/install.py

# The front end's packages, from its lock file; by the Node of this machine, or by the one that PyPI ships.
web/node_modules/.installed: web/package-lock.json | $(VENV)/.dev
	$(PY) web/npm.py

# What the page loads, built anew.
web: web/node_modules/.installed
	$(PY) web/npm.py --silent run build

test: $(VENV)/.dev browser web/node_modules/.installed
	$(call unit-tests,not soak and not browser)
	$(browser-tests)

# Two jobs at a time: the first types of a fresh clone take mypy as long as half the tests.
check: $(VENV)/.dev
	@$(MAKE) --no-print-directory -j2 lint quick

lint: $(VENV)/.dev web/node_modules/.installed
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy $(SOURCES)
	@$(MAKE) --no-print-directory runs/.bandit
	$(PY) web/npm.py --silent run check

# Bandit looks at each file by itself: at those that changed since all were sound.
runs/.bandit: pyproject.toml $(MODULES) $(VENV)/.dev
	$(PY) -m bandit -q -c pyproject.toml $(if $(filter-out %.py,$?),$(MODULES),$?)
	@mkdir -p runs && touch $@

unit: $(VENV)/.dev web/node_modules/.installed
	$(call unit-tests,$(QUICK))

# Those that are serial would keep a second processor waiting.
quick: $(VENV)/.dev web/node_modules/.installed
	$(call beside,$(QUICK))

audit: $(VENV)/.dev
	$(PY) benchmarks/audit.py

format: $(VENV)/.dev web/node_modules/.installed
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .
	$(PY) web/npm.py --silent run format

soak: $(VENV)/.dev browser
	$(PYTEST) -m "soak and not browser and not nightly" -o timeout=3600
	$(PYTEST) -m "soak and browser and not nightly" -o timeout=3600

# Every test but an engine's once more, in a copy without the engines.
nightly: $(VENV)/.dev browser
	$(PYTEST) -m nightly -o timeout=7200

# The page in Safari's engine and in Firefox too, and the explorer by the widget managers of other notebooks.
engines: $(VENV)/.dev runs/hosts/.installed
	$(INSTALL) -q "selenium>=4.30"
	$(PY) tests/browser/install.py webkit
	$(PY) tests/browser/install.py firefox
	$(PYTEST) tests/browser/test_engines.py tests/browser/test_firefox.py tests/browser/test_notebook_hosts.py
	BROWSER_ENGINE=webkit $(PYTEST) -m "browser and not soak" -o timeout=1200 tests/browser

# What VS Code's notebooks load, and html-manager, with a page that begins them.
runs/hosts/.installed: tests/browser/hosts/package.json tests/browser/hosts/host.js | web/node_modules/.installed
	@mkdir -p runs/hosts
	cp $^ runs/hosts/
	$(PY) web/npm.py --silent --prefix ../runs/hosts install --ignore-scripts --no-audit --no-fund
	$(PY) web/npm.py --silent --prefix ../runs/hosts run build
	@touch $@

bench: $(VENV)/.dev browser runs/peers/.fetched
	$(PY) -m benchmarks
	$(PY) -m benchmarks.page
	$(PY) -m benchmarks.lab

# What cannot be had leaves its row out. BertViz's page loads three libraries of the browser, which npm has.
runs/peers/.fetched: benchmarks/peers.txt | $(VENV)/.dev
	@mkdir -p runs/peers/browser
	@if $(PY) -m pip install --disable-pip-version-check -q $(PIP_ARGS) --no-deps --upgrade --target runs/peers/python -r $< \
	    && (cd runs/peers/browser && for package in requirejs@2 jquery@3 d3@5; do \
	      mkdir -p $$package && tar -xzf "$$(npm pack --silent $$package)" -C $$package || exit 1; \
	    done); \
	  then touch $@; else echo "Not every peer could be had; the others are measured." >&2; fi

load: $(VENV)/.dev
	$(PY) -m benchmarks.load

# DATA names a folder with DIRECTION/dev.tsv.gz and train.tsv.gz; without it the omission meters are not measured anew.
DATA ?=
DIRECTIONS = de-en en-zh

assets: $(VENV)/.dev
	for direction in $(DIRECTIONS); do \
	  $(PY) -m translator index checkpoints/$$direction --data assets/sentences/$$direction.txt || exit 1; \
	  $(PY) -m translator arena checkpoints/$$direction --data assets/sentences/$$direction.txt --limit 150 || exit 1; \
	  if [ -n "$(DATA)" ]; then $(PY) -m translator omission-bench checkpoints/$$direction --data $(DATA)/$$direction || exit 1; \
	  else echo "The omission meter of $$direction was not measured anew: make assets DATA=DIR" >&2; fi; \
	done
	$(PY) -m translator.ui.assets
	$(PY) -m benchmarks.pictures

# The part of plotly.js that is drawn with here, of the version that the package makes figures for: web/plotly.mjs.
plotly: $(VENV)/.dev web/node_modules/.installed
	@mkdir -p runs/plotly
	npm install --silent --ignore-scripts --no-save --prefix runs/plotly \
	  plotly.js@$$($(PY) -c "from plotly import offline; print(offline.get_plotlyjs_version())")
	node web/plotly.mjs runs/plotly/node_modules/plotly.js assets/vendor/plotly-custom.min.js
	cp runs/plotly/node_modules/plotly.js/LICENSE assets/vendor/plotly-LICENSE

# requirements.lock, after another pin.
lock: $(VENV)/.dev
	$(PY) -m benchmarks.lock

docs: $(VENV)/.dev
	$(PY) -m mkdocs build --strict

space-check: $(VENV)/.dev
	$(PY) -m benchmarks.space $(if $(TORCH),--torch $(TORCH))

clean:
	rm -rf site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +
