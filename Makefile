# `make` lists the verbs.  Everything lives in .venv; nothing but Python ≥ 3.11, make and pip is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# bytecode is kept: each process of the tests would compile all modules anew, and rewrite their assertions
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install house .postgresql .latex .chromium .java demo test quick oldest package man lint parity live browser arrays spark hooks shell trackers verbs \
  pages site docs bench speed profile night nightly fuzz mutants regression coverage fix clean

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
	@echo; echo "next: . $(BIN)/activate puts rankstone on the path of this shell; docs/ten-minutes.md"

# PyTorch and JAX bring gigabytes, so what cannot be imported without them is left to `make arrays`
HEAVY := src/rankstone/integrations/torch.py src/rankstone/integrations/arrays/torch_arrays.py src/rankstone/integrations/arrays/jax_arrays.py \
  tests/arrays/test_torchmetrics.py tests/hooks/test_sentence_transformers.py
LIGHT := $(addprefix --ignore=,$(HEAVY))

# what is no Python package is installed where apt-get may; where it may not, tests that need it are skipped
APT := DEBIAN_FRONTEND=noninteractive apt-get
system = $(1) || { $(APT) update -qq && $(APT) install -qq --no-install-recommends $(2); } >/dev/null 2>&1 \
  || echo "$(2) is missing: install it; until then tests that need it are skipped"

.postgresql:
	@$(call system,command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1,postgresql)

.latex:
	@$(call system,command -v pdflatex >/dev/null && command -v pdftotext >/dev/null,texlive-latex-recommended poppler-utils)

.chromium:
	@[ -n "$$RANKSTONE_CHROMIUM" ] || $(call system,command -v chromium >/dev/null,chromium)

.java:
	@$(call system,command -v java >/dev/null,openjdk-17-jre-headless)

GROUPS := test lint docs parity bench browser spark hooks
install: $(BIN)/python .postgresql .latex .chromium .java ## install all that the other verbs need, at once
	$(PIP) install --editable . $(addprefix --group ,$(GROUPS))
	$(BIN)/python -m compileall -q src
	@touch $(addprefix $(VENV)/.,run $(GROUPS))

HERE := --doctest-modules -m "not parity and not heavy_parity and not live and not browser and not spark and not hooks and not arrays \
  and not trackers" $(addprefix --ignore=tests/,browser hooks parity) $(LIGHT)
test: $(VENV)/.test .postgresql .latex ## run all tests, of large sweeps a part
	$(BIN)/python -m pytest -q -n auto $(HERE) $(ARGS)

quick: $(VENV)/.test $(VENV)/.lint ## in 45 seconds: lint of what changed (SINCE=<commit>) and the tests nearest to it
	$(BIN)/python tests/quick.py "$(SINCE)" $(HERE) $(ARGS)

# with an environment of its own; what all versions share (arithmetic, laws) is left to `make test`
OLDEST := build/oldest
oldest: ## worked examples, readers, statistics and commands with the lowest versions that pyproject.toml allows
	$(or $(shell command -v python3.11),$(PYTHON)) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip --disable-pip-version-check --quiet install --editable . \
	  $$($(OLDEST)/bin/python tests/oldest.py) hypothesis pytest pytest-xdist pyyaml
	$(OLDEST)/bin/python -m pytest -q -n 2 -p no:cacheprovider tests/golden \
	  $(addprefix tests/io/test_,broken_input.py encoded_columns.py lists_in_columns.py reading.py spreadsheets.py workbooks.py writing.py) \
	  $(addprefix tests/comparison/test_,comparison.py release_gate.py) tests/evaluation/test_scores.py tests/integrations/test_assert_ranking.py \
	  $(addprefix tests/cli/test_,command_line.py compare_command.py completion.py gate_command.py option_table.py \
	  report_command.py tables.py) $(ARGS)

package: $(VENV)/.test ## build sdist and wheel, check them, install and use each in an environment of its own
	$(BIN)/python tests/package.py $(ARGS)

man: $(VENV)/.run ## write the manual pages into build/man
	$(BIN)/python -m docs.making.manual

BASE ?= HEAD
regression: $(VENV)/.test ## every number of another version, BASE=<commit>, compared with those of the working tree
	$(BIN)/python tests/regression/compare.py $(BASE) $(ARGS)

house: $(VENV)/.run ## floors, circles, sizes, density and long functions of the package, and their limits
	$(BIN)/python -m docs.making.house_page

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
LIBRARIES ?= beir catboost cornac deepeval gdeval haystack implicit ir_measures ir_measures_subtopics lenskit lightgbm llama_index \
  msmarco mteb nuggetizer phoenix pyndeval pyntcireval pytrec_eval ragas recbole recommenders rectools replay sklearn trec_eval trectools \
  trulens
live: $(VENV)/.test ## compare conventions with the libraries themselves, each in an environment of its own
	$(BIN)/python tests/live/environments.py $(LIBRARIES)
	RANKSTONE_LIVE="$(LIBRARIES)" $(BIN)/python -m pytest -q -n auto -m live tests/live

browser: $(VENV)/.test $(VENV)/.browser .chromium ## open reports in Chromium
	$(BIN)/python -m pytest -q -n auto -m browser tests/browser $(ARGS)

arrays: $(VENV)/.test $(VENV)/.arrays ## score tensors of PyTorch and arrays of JAX, and embeddings of sentence-transformers
	$(BIN)/python -m pytest -q -n auto --doctest-modules tests/arrays $(HEAVY) $(ARGS)

spark: $(VENV)/.test $(VENV)/.spark .java ## run on a real Spark
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m spark tests/spark $(ARGS)

shell: $(VENV)/.test ## paste the fixes of strangers' files at a real shell, a process each
	RANKSTONE_SHELL=1 $(BIN)/python -m pytest -q -n auto tests/strangers -k test_outcome $(ARGS)

hooks: $(VENV)/.test $(VENV)/.hooks ## hold hooks against LightGBM, XGBoost, CatBoost, scikit-learn, Optuna, ir_measures
	$(BIN)/python -m pytest -q -n auto -m hooks tests/hooks $(LIGHT) $(ARGS)

trackers: $(VENV)/.test $(VENV)/.trackers ## run the recipes for MLflow, Weights & Biases and DVC
	$(BIN)/python -m pytest -q -m trackers tests/hooks/test_trackers.py $(ARGS)

pages: $(VENV)/.run $(VENV)/.docs ## write the pages that are made from cards, data files and examples
	$(BIN)/python -m docs.making catalogue
	$(BIN)/python -m docs.making desk
	$(BIN)/rankstone measures list --format md > docs/measures.md
	rm -rf docs/conventions && $(BIN)/rankstone conventions pages docs/conventions
	$(BIN)/python -m docs.making pages

site: $(VENV)/.run $(VENV)/.docs ## build the site of the documents, strictly, into build/site
	$(BIN)/python -m docs.making stage
	$(BIN)/zensical build --clean --strict --config-file build/zensical.toml

docs: pages site ## write the pages, build the site

bench: $(VENV)/.bench $(VENV)/.spark .java ## time and memory beside the peers, one table
	$(if $(findstring --peers all,$(ARGS)),$(BIN)/python tests/live/environments.py rectools)
	$(BIN)/python benchmarks/run.py $(ARGS)

speed: $(VENV)/.run ## CPU seconds of three short cases beside those of the commit in benchmarks/baseline.txt
	$(BIN)/python benchmarks/speed.py $(ARGS)

profile: $(VENV)/.run ## where the time of a command goes: imports, rooms, threads (ARGS="eval QRELS RUN")
	$(BIN)/python benchmarks/profiling.py $(ARGS)

# one that fails keeps none of the others from running
NIGHT := "test RANKSTONE_NIGHT=1" oldest "bench ARGS='--short --only text-50k parquet-7m beyond-20m import help explain'" nightly
night: $(VENV)/.test $(VENV)/.parity $(VENV)/.bench $(VENV)/.spark .java ## all that `make test` and CI leave out: every row, oldest versions, short benchmarks, fresh seeds
	@failed=; for verb in $(NIGHT); do eval $(MAKE) "$$verb" || failed="$$failed $${verb%% *}"; done; \
	  [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

nightly: $(VENV)/.test $(VENV)/.parity ## fresh seeds for every random test, for an hour (MINUTES=…)
	$(BIN)/python tests/nightly.py $(or $(MINUTES),60) $(ARGS)

fuzz: $(VENV)/.test ## 100,000 texts of measures and 50,000 broken files: each read, or refused by name (SEED=…)
	$(BIN)/python -m tests.fuzz.fuzzing --seed $(or $(SEED),0) $(ARGS)

verbs: ## weekly: each verb that README and CONTRIBUTING name, alone in a fresh clone and environment (ARGS="docs site")
	$(PYTHON) tests/verbs.py $(ARGS)

mutants: $(VENV)/.test ## change the package in 200 places, one at a time: do the nearest tests notice? (SEED=…, ARGS="--number 50")
	nice -n 10 $(BIN)/python -m tests.mutation.mutants --seed $(or $(SEED),0) $(ARGS)

coverage: $(VENV)/.test ## test coverage, line by line
	$(BIN)/python -m coverage run -m pytest -q $(HERE) $(ARGS)
	$(BIN)/python -m coverage report

clean: ## remove what make made
	rm -rf $(VENV) .coverage .mypy_cache .ruff_cache .pytest_cache build dist
