# A newcomer needs two of these: `make demo` and `make test`. Both set up what they need, once.

# What is tested comes first; a Python that is newer is tried where there is no other.
PYTHON ?= $(shell for newest in 13 99; do for each in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$each -c "import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, $$newest))" 2>/dev/null && \
	echo $$each && break 2; done; done)
VENV ?= .venv
VERSION := import sys; print("%d.%d" % sys.version_info[:2])
UV := $(shell command -v uv 2>/dev/null)

# Tests start the program hundreds of times: what Python compiled of it stays, whatever the shell asks for.
unexport PYTHONDONTWRITEBYTECODE

HERE := $(VENV)/bin/python
ifdef UV
CREATE := $(UV) venv --quiet --python "$(PYTHON)" $(VENV)
INSTALL := $(UV) pip install --quiet --compile-bytecode --python $(HERE)
INSTALL_TOLD := $(INSTALL)
else
CREATE := $(PYTHON) -m venv $(VENV)
INSTALL := $(HERE) -m pip install -qq --disable-pip-version-check
INSTALL_TOLD := $(HERE) -m pip install --progress-bar off --disable-pip-version-check
endif

# Commands in $(VENV) name the place where it was set up, and start nothing after a move of the checkout.
STALE := $(shell test -s $(VENV)/ready && test "$$(cat $(VENV)/ready)" != "$(CURDIR)" && echo moved)
ifneq ($(origin PYTHON),file)
STALE := $(or $(STALE),$(shell test -x $(HERE) && \
	test "$$($(PYTHON) -c '$(VERSION)' 2>/dev/null)" != "$$($(HERE) -c '$(VERSION)')" && echo other-python))
endif

.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)

help:  ## show this
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20
	@echo "  PYTHON=python3.12 chooses the interpreter, VENV=folder where the packages go"

demo: $(VENV)/ready  ## what ttnn-mcp finds in a bundled profile
	@$(HERE) -m ttnn_mcp demo

test: $(VENV)/ready  ## run the tests, of long sweeps a sample; those on real reports too, where ../shared lies beside the checkout
	@$(HERE) -m pytest -n auto --dist worksteal -m "not slow and not sweep" --ignore tests/house

test-shared: $(VENV)/ready  ## run only the tests that read the real reports beside the checkout (../shared)
	@$(HERE) -m pytest -n auto -m shared

sweeps: $(VENV)/ready  ## run the cases of long sweeps that make test and make check leave out (minutes)
	@$(HERE) -m pytest -n auto -m "slow or sweep" $$(grep -rl "checked=" tests --include='test_*.py')

lowest: .lowest/ready  ## run the tests of every door with the oldest versions that pyproject.toml allows
	@.lowest/bin/python -m pytest -n auto -m "not slow and not sweep" tests/test_golden.py tests/test_stdio.py tests/readers tests/server \
		tests/tools/test_every_tool.py tests/tools/test_answering.py tests/archive tests/session/test_registry.py \
		--ignore tests/readers/graph --ignore tests/readers/printed --ignore tests/archive/test_turns.py

check: $(VENV)/checkable  ## lint, format, types, architecture, contracts; the tests that take longer
	@$(HERE) -m ruff check .
	@$(HERE) -m ruff format --check .
	@$(MAKE) --no-print-directory --jobs 2 types longer  # the type checker keeps one core busy for a minute

types: $(VENV)/checkable  ## types and architecture, a part of make check
	@$(HERE) -m pyright --pythonpath $(HERE)
	@$(VENV)/bin/lint-imports

longer: $(VENV)/checkable  ## contracts, the rules of the code, and the tests that take longer, a part of make check
	@$(HERE) -m pytest -n auto --dist worksteal -m "slow or house" tests/house tests/test_contracts.py tests/test_skill_documents.py \
		$$(grep -rlE 'mark\.(slow|sampled)\b|\bsampled=[0-9]' tests --include='test_*.py' --exclude-dir=house)  # one file of ten

fix: $(VENV)/checkable  ## put right what a machine can, and rewrite everything generated
	@$(HERE) -m ruff format .
	@$(HERE) -m ruff check --fix .
	@$(HERE) -m ruff format .
	@$(HERE) -m tests.profiles.demo
	@$(HERE) -m generate

new-check: $(VENV)/ready  ## lay out a check: NAME=some-problem STEP=3
	@$(HERE) -m generate.new_check $(NAME) $(STEP)

new-tool: $(VENV)/ready  ## lay out a tool: NAME=some_tool
	@$(HERE) -m generate.new_tool $(NAME)

lines: $(VENV)/ready  ## move every threshold, remove every guard: a test must notice (CHANGED=1: where something changed)
	@$(HERE) -m mutation $(if $(CHANGED),--changed) $(if $(MOST),--most $(MOST)) $(if $(SINCE),--since $(SINCE)) $(if $(ONLY),--only $(ONLY)) \
		$(if $(FAULTS),--faults) $(if $(ROOMS),--rooms $(ROOMS))

bench: $(VENV)/ready .bench/ready  ## measure what we promise about speed (CPU=1: judge by CPU time, on a busy machine)
	@$(HERE) -m benchmarks $(if $(CPU),--cpu)

fuzz: $(VENV)/ready  ## damaged reports through every tool: MINUTES=10 PART=files SEED=7
	@$(HERE) -m fuzz --minutes $(or $(MINUTES),10) $(if $(PART),--part $(PART)) $(if $(SEED),--seed $(SEED))

campaigns: $(VENV)/ready  ## simulated agents on simulated devices with known optima: CAMPAIGNS=1000
	@$(HERE) -m tests.campaigns --campaigns $(or $(CAMPAIGNS),1000)

cluster: .cluster/ready  ## prove the archive at size: 2,000 reports over a Dask cluster, S3 on loopback (20 GB; minutes)
	@.cluster/bin/python -m tests.cluster $(if $(REPORTS),--reports $(REPORTS)) $(if $(FOLDER),--folder $(FOLDER))

clients: $(VENV)/ready  ## let released clients meet the server (installs them with npm and pip, 2.9 GB; minutes)
	@$(HERE) -m pytest clients --ignore clients/test_lab.py --ignore clients/test_container.py

bundle:  ## pack dist/ttnn-mcp.mcpb for Claude Desktop (needs npx; the host needs uv)
	@rm -rf build/mcpb && mkdir -p build/mcpb dist
	@git archive HEAD ttnn_mcp resources skills pyproject.toml README.md LICENSE | tar -x -C build/mcpb
	@cp mcpb/manifest.json build/mcpb/
	@npx --yes @anthropic-ai/mcpb@2 pack build/mcpb dist/ttnn-mcp.mcpb

lab: $(VENV)/ready  ## 64 clients at one server over HTTP, a large report beside them, TLS by nginx
	@$(HERE) -m pytest -s clients/test_lab.py

container: $(VENV)/ready  ## take every step of the Dockerfile, and ask the server in it (Docker, or root and Python 3.13; minutes)
	@$(HERE) -m pytest clients/test_container.py

browser: $(VENV)/ready .browser/ready  ## look at the page of a report and the views of a chat in Chromium (npm and pip fetch 200 MB; minutes)
	@PYTHONPATH=.browser/python $(HERE) -m pytest browser -s

real: $(VENV)/ready  ## prove all advice with real TTNN on mock devices (sets it up in .real, 1.8 GB; minutes)
	@$(HERE) -m tests.real.rig

laws: $(VENV)/ready  ## fit the laws of time anew to measurements/, and write resources/laws.md
	@$(HERE) -m generate.laws

pins: $(VENV)/ready  ## choose newer versions of every package we use (needs uv)
	@$(HERE) -m generate.pins

clean:  ## forget everything that was set up
	rm -rf $(VENV) .real .clients .bench .browser .lowest .cluster build dist \
		.lines .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# Everything below installs pinned packages whose hashes are checked. constraints.txt has three parts, with a line before
# each but the first: what it takes to run, to test, and to check (with what draws pictures).

$(VENV)/ready: constraints.txt pyproject.toml $(STALE)
	@test -n "$(PYTHON)" || { echo "Python 3.10 to 3.13 is needed; name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c '' 2>/dev/null || { echo "$(PYTHON) cannot be started: name another with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "$(PYTHON) is too old: Python 3.10 to 3.13 is needed" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 14))' || \
		echo "$(PYTHON) is newer than what was tested: Python 3.10 to 3.13" >&2
	@echo "setting up $(VENV), once; this takes about a minute"
	@test -x $(HERE) || $(CREATE) || { rm -rf $(VENV); exit 1; }
	@sed '/^# --- check/,$$d' constraints.txt > $(VENV)/pins.txt
	@rm -f $(VENV)/failed; { $(INSTALL_TOLD) --require-hashes --no-deps -r $(VENV)/pins.txt || touch $(VENV)/failed; } \
		| awk '/^Collecting/ { printf "\r  %d packages", ++n; fflush() } END { if (n) print "" }'; test ! -e $(VENV)/failed
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@echo "$(CURDIR)" > $@

moved:
	@echo "the checkout was moved: $(VENV) is set up again"
	@rm -rf $(VENV)

other-python:
	@$(PYTHON) -c '' 2>/dev/null || { echo "$(PYTHON) cannot be started: name another with PYTHON=..." >&2; exit 1; }
	@echo "$(VENV) has Python $$($(HERE) -c '$(VERSION)'), not that of $(PYTHON): give VENV=another-folder too," \
		"or begin with make clean" >&2; exit 1

$(VENV)/checkable: $(VENV)/ready
	@echo "adding the linters to $(VENV), once"
	@$(INSTALL) --require-hashes --no-deps -r constraints.txt
	@touch $@

# The oldest versions that we allow; what those need in turn is as new as pip finds it.
.lowest/ready: pyproject.toml generate/lowest.py
	@echo "setting up .lowest with the oldest versions of our dependencies"
	@test -x .lowest/bin/python || $(PYTHON) -m venv .lowest
	@$(PYTHON) generate/lowest.py pyproject.toml > .lowest/versions.txt
	@.lowest/bin/python -m pip install -qq --disable-pip-version-check -r .lowest/versions.txt
	@.lowest/bin/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What the archive needs beyond one machine, in an environment of its own: the versions that were tried.
.cluster/ready: tests/cluster/packages.txt constraints.txt pyproject.toml
	@echo "setting up .cluster with Dask and an S3-compatible server, once"
	@$(PYTHON) -m venv .cluster
	@sed '/^# --- check/,$$d' constraints.txt > .cluster/pins.txt
	@.cluster/bin/python -m pip install -qq --disable-pip-version-check --require-hashes --no-deps -r .cluster/pins.txt
	@.cluster/bin/python -m pip install -qq --disable-pip-version-check -r tests/cluster/packages.txt
	@.cluster/bin/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What we measure against, and do not depend on.
.bench/ready: benchmarks/rivals.txt
	@echo "setting up .bench with the programs we measure against, once"
	@$(PYTHON) -m venv .bench
	@.bench/bin/python -m pip install -qq --disable-pip-version-check -r benchmarks/rivals.txt
	@touch $@

# What drives Chromium, and Chromium where the machine has none.
.browser/ready: browser/pins.txt browser/fetched.py | $(VENV)/checkable
	@$(INSTALL) --no-deps --target .browser/python -r browser/pins.txt
	@test -n "$(CHROMIUM)" || which chromium chromium-browser google-chrome google-chrome-stable > /dev/null || \
		{ echo "fetching a Chromium, once"; $(HERE) -m browser.fetched .browser/chromium; }
	@touch $@
