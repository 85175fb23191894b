# `make` lists the verbs.  Everything lives in .venv; nothing but Python ≥ 3.11, make and pip is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test lint parity live browser arrays spark hooks pages site docs bench coverage fix clean

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rankstone needs Python 3.11 or later: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'

$(VENV)/.%: $(BIN)/python pyproject.toml
	$(PIP) install --editable . $(if $(filter-out run,$*),--group $*)
	$(BIN)/python -m compileall -q src
	@touch $@

demo: $(VENV)/.run ## score the shipped collection's two rankers
	@$(BIN)/rankstone demo

# PyTorch and JAX bring gigabytes, so what cannot be imported without them is left to `make arrays`
HEAVY := src/rankstone/torch.py src/rankstone/functional/torch_library.py src/rankstone/functional/jax_library.py \
  tests/arrays/test_torchmetrics.py tests/hooks/test_sentence_transformers.py
LIGHT := $(addprefix --ignore=,$(HEAVY))

test: $(VENV)/.test ## run all tests; PostgreSQL is installed for them where apt-get may
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 \
	  || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends postgresql; } >/dev/null 2>&1 \
	  || echo "no PostgreSQL: install it (Debian: postgresql); until then tests that ask a server are skipped"
	$(BIN)/python -m pytest -q -n auto --doctest-modules -m "not parity and not heavy_parity and not live and not browser and not spark and not hooks and not arrays" $(LIGHT) $(ARGS)

lint: $(VENV)/.test $(VENV)/.lint ## formatting, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

fix: $(VENV)/.lint ## format and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

parity: $(VENV)/.test $(VENV)/.parity ## compare with the real peers on fresh random data
	$(BIN)/python -m pytest -q -n auto -m parity tests/parity $(ARGS)
	$(MAKE) live

# libraries that install in seconds; `make live LIBRARIES="$$(python3 tests/live/environments.py --list)"` takes all
LIBRARIES ?= beir catboost cornac gdeval implicit ir_measures ir_measures_subtopics lenskit lightgbm \
  msmarco mteb pyndeval pyntcireval pytrec_eval recbole recommenders rectools replay sklearn trec_eval
live: $(VENV)/.test ## compare conventions with the libraries themselves, each in an environment of its own
	$(BIN)/python tests/live/environments.py $(LIBRARIES)
	RANKSTONE_LIVE="$(LIBRARIES)" $(BIN)/python -m pytest -q -n auto -m live tests/live

browser: $(VENV)/.test $(VENV)/.browser ## open reports in Chromium, which is installed where apt-get may
	@command -v chromium >/dev/null || [ -n "$$RANKSTONE_CHROMIUM" ] || { apt-get update -qq && apt-get install -qq --no-install-recommends chromium; } \
	  || echo "no Chromium: install it, or name it in RANKSTONE_CHROMIUM; until then these tests are skipped"
	$(BIN)/python -m pytest -q -m browser tests/browser $(ARGS)

arrays: $(VENV)/.test $(VENV)/.arrays ## score tensors of PyTorch and arrays of JAX, and embeddings of sentence-transformers
	$(BIN)/python -m pytest -q -n auto --doctest-modules tests/arrays $(HEAVY) $(ARGS)

spark: $(VENV)/.test $(VENV)/.spark ## run on a real Spark; Java 17 is installed where apt-get may
	@command -v java >/dev/null || { apt-get update -qq && apt-get install -qq --no-install-recommends openjdk-17-jre-headless; } \
	  || echo "no Java: install version 17 or later; until then these tests are skipped"
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m spark tests/spark $(ARGS)

hooks: $(VENV)/.test $(VENV)/.hooks ## hold hooks against LightGBM, XGBoost, CatBoost, scikit-learn, Optuna, ir_measures
	$(BIN)/python -m pytest -q -n auto -m hooks tests/hooks $(LIGHT) $(ARGS)

pages: $(VENV)/.run $(VENV)/.docs ## write the pages that are made from cards, data files and examples
	$(BIN)/rankstone measures list --format md > docs/measures.md
	rm -rf docs/conventions && $(BIN)/rankstone conventions pages docs/conventions
	$(BIN)/python -m docs.making pages

site: $(VENV)/.run $(VENV)/.docs ## build the site of the documents, strictly, into build/site
	$(BIN)/python -m docs.making stage
	$(BIN)/zensical build --clean --strict --config-file build/zensical.toml

docs: pages site ## write the pages, build the site

bench: $(VENV)/.bench ## time and memory beside the peers, one table
	$(if $(findstring --peers all,$(ARGS)),$(BIN)/python tests/live/environments.py rectools)
	$(BIN)/python benchmarks/run.py $(ARGS)

coverage: $(VENV)/.test ## test coverage, line by line
	$(BIN)/python -m coverage run -m pytest -q --doctest-modules
	$(BIN)/python -m coverage report

clean: ## remove what make made
	rm -rf $(VENV) .coverage .mypy_cache .ruff_cache .pytest_cache build dist
