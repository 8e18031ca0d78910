# `make` alone says what there is. PYTHON=... names the Python to build .venv with; PORT=... where `make run` answers.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input install --quiet --require-hashes --no-deps
MO := $(patsubst %.po,%.mo,$(wildcard locale/*/LC_MESSAGES/*.po))
EVERYDAY := not services and not journey and not browser and not proof
HELPLESS := Packages could not be installed (see above). Without a way to the package index, set HTTPS_PROXY or PIP_INDEX_URL and run this again.
# A site as it should be set up, for the deployment checks.
PRODUCTION = SICKBAY_DATA_DIR=$(VENV)/scratch SICKBAY_URL=https://sickbay.example.com SICKBAY_HOSTS=sickbay.example.com

.PHONY: help install run test test-pure check lint types layers migrations docs fix proof lock messages strings fault-pages screenshots dev

help: ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(VENV)/run.stamp $(MO) ## make the environment in .venv, nothing else

run: install ## Sickbay on this machine: web, pager, worker, beat and broker; Ctrl-C stops it
	@exec $(PY) -m config.supervisor

test: dev ## all tests but those that need PostgreSQL, Redis or a browser (.ci/run has them)
	@$(PY) -m pytest -n auto -m "$(EVERYDAY)" $(ARGS)

test-pure: dev ## the engine and the domain: seconds
	@$(PY) -m pytest -n auto -q tests/engine tests/domain $(ARGS)

check: lint types layers migrations docs ## everything that reads the code without running its tests

lint: dev ## ruff, and the templates
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check --quiet .
	@find templates -name '*.html' -exec $(VENV)/bin/djade --target-version 5.2 --check {} +
	@$(VENV)/bin/djlint --lint --quiet templates

types: dev ## mypy
	@$(PY) -m mypy

layers: dev ## imports point down
	@$(VENV)/bin/lint-imports

migrations: dev ## no change of a model without its migration; settings fit for production
	@SICKBAY_DATA_DIR=$(VENV)/scratch $(PY) manage.py makemigrations --check --dry-run
	@$(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING

docs: dev ## the documentation says what the code says
	@$(PY) -m pytest -n0 -q tests/docs

fix: dev ## let the tools mend what they can
	@$(PY) -m ruff check --fix --quiet . ; $(PY) -m ruff format --quiet .
	@find templates -name '*.html' -exec $(VENV)/bin/djade --target-version 5.2 {} +

proof: dev ## the long lanes: journeys, chaos; goes on where it stopped
	@bin/proof

messages: install ## compile the translations

fault-pages: dev ## write docs/faults anew from the catalogue
	@$(PY) bin/fault-pages

strings: dev ## bring the catalogues in locale/ up to date with the code; then translate what is printed
	@$(PY) bin/strings

screenshots: dev ## pictures of every page, light and dark
	@$(PY) -m tests.browser.shots $(ARGS)

bench-scan: dev ## how fast a long log is judged, next to ripgrep, grep and others; ARGS="--size 64M" is quick
	@$(PY) -m bench.scan $(ARGS)

lock: dev ## write requirements/*.txt from pyproject.toml; UPGRADE=--upgrade for newer versions
	@$(PY) -m uv --version >/dev/null 2>&1 || $(PY) -m pip install --quiet uv
	@$(LOCK) -o requirements/lock.txt
	@$(LOCK) --extra dev -c requirements/lock.txt -o requirements/dev.txt

LOCK = $(PY) -m uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header $(UPGRADE)

dev: $(VENV)/dev.stamp $(MO)

$(VENV)/made.stamp:
	@$(PY) -m pip --version >/dev/null 2>&1 || { python=$$(bin/preflight) && "$$python" -m venv --clear $(VENV); }
	@touch $@

$(VENV)/run.stamp: requirements/lock.txt $(VENV)/made.stamp
	@echo "Installing into $(VENV) ..."
	@$(PIP) -r $< || { echo "$(HELPLESS)" >&2; exit 1; }
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/run.stamp
	@echo "Installing the tools of development into $(VENV) ..."
	@$(PIP) -r $< || { echo "$(HELPLESS)" >&2; exit 1; }
	@touch $@

%.mo: %.po $(VENV)/run.stamp
	@$(PY) -m babel.messages.frontend --quiet compile --input-file $< --output-file $@ --locale $(word 2,$(subst /, ,$<))
