# `make help` lists what can be made. Everything Python lives in .venv, at the versions of
# requirements.lock, with the hashes there; everything Rust in target/, at those of Cargo.lock.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip
# The build uses maturin itself; this is what else may change the extension module.
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml $(wildcard Cargo.lock)

.DEFAULT_GOAL := build

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(VENV)/.built ## build hull; leaves the command at .venv/bin/hull (also plain `make`)

# The compiler sees which branches short runs take (tools/train.py). The results are the same bytes.
.PHONY: fast
fast: $(VENV)/.installed ## build hull guided by a profile, for long simulations: twice the time of `make`
	@rm -f $(VENV)/.built
	tools/guided develop
	@touch $(VENV)/.built

# zig links against the C library of manylinux2014. The check installs the wheel without a compiler.
.PHONY: wheel
wheel: $(VENV)/.installed-release ## wheel (guided by a profile) and source distribution in dist/
	rm -rf dist
	$(BIN)/maturin sdist --out dist
	tools/guided build --zig --compatibility manylinux2014 --strip --out dist
	$(BIN)/python tools/check_wheel.py dist

.PHONY: release
release: docs $(VENV)/.installed-release ## check that VERSION=0.1.0 can be published, and print how
	@$(BIN)/python tools/release.py "$(VERSION)"

.PHONY: traffic
traffic: build ## the traffic generator for real networks: `hull linux traffic`
	cargo build --release --locked --package hull-traffic
	install target/release/hull-traffic $(BIN)/hull-traffic

.PHONY: demo
demo: build ## HULL against DCTCP and TCP, short runs, beside the published numbers
	$(BIN)/hull reproduce epfl-table2 table4 --quick --force

.PHONY: test
test: build ## format, lint, types and all tests, Rust and Python
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/python tools/slowest_tests.py cargo test --locked --workspace --exclude hull-py --exclude hull-reference
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/pytest -m "not quiet" --durations=10 -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
	$(BIN)/pytest -m quiet tests/python/lab
	$(MAKE) test-linux
	$(MAKE) test-rtl WITHOUT=slow

# Needs no Python: it can go on beside `make build`, which compiles in another folder of target/.
.PHONY: rust-tests
rust-tests: ## lint and compile what `make test` runs of Rust
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo test --locked --workspace --exclude hull-py --exclude hull-reference --no-run

.PHONY: linux
linux: traffic ## the programs of `hull linux` (clang; Debian: clang libelf-dev zlib1g-dev libbpf-dev)
	@tools/linux-ready build
	cd linux/hull-linux && cargo build --release --locked
	install linux/hull-linux/target/release/hull-linux $(BIN)/hull-linux

.PHONY: test-linux
test-linux: build ## the eBPF programs under this kernel and Debian's; says what it skips and why
	@if tools/linux-ready test; then $(MAKE) linux && cd linux/hull-linux \
	  && cargo fmt --check && cargo clippy --locked --all-targets -- -D warnings \
	  && cargo test --locked && cd ../.. && $(BIN)/pytest tests/linux && linux/guest/test; fi

# The hardware in rtl/ has tools of its own (requirements-rtl.lock): a simulator, provers, synthesis.
.PHONY: test-rtl
test-rtl: build $(VENV)/.installed-rtl ## the hardware against hull-core, simulated; says what it skips and why
	$(if $(WITHOUT),@echo "rtl: the tests marked $(WITHOUT) are left out for time; make test-rtl runs them")
	@if tools/rtl-ready; then cargo build --release --locked -p hull-reference \
	  && $(BIN)/pytest rtl $(if $(WITHOUT),-m "not $(WITHOUT)") --durations=10 -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder; fi

# The exit status says whether every module closes at 64 bits; what did not change is not measured again.
.PHONY: rtl-report
rtl-report: $(VENV)/.installed-rtl ## what the hardware takes on an FPGA and how fast it runs: docs/hardware/resources.md
	$(BIN)/python tools/rtl_report.py

.PHONY: rtl-coverage
rtl-coverage: build $(VENV)/.installed-rtl ## which branches of the hardware its tests take: docs/hardware/coverage.md
	cargo build --release --locked -p hull-reference
	$(BIN)/python tools/rtl_coverage.py

.PHONY: prove
prove: $(VENV)/.installed-rtl ## the proofs of the hardware, the long ones too, 10 minutes each at most
	$(BIN)/python rtl/formal/prove.py

# BASE=REV measures that revision in turn with this one; ONLY=TEXT some figures, RUNS=N, LARGE=1.
BENCH = $(if $(BASE),--base $(BASE)) $(if $(ONLY),--only "$(ONLY)") $(if $(LARGE),--large) $(if $(TIMES),--times)
RUNS_EACH = $(if $(RUNS),--runs $(RUNS))
MEASURE = PYTHONPATH=benches:validation/ns3 $(BIN)/python

.PHONY: bench
bench: build ## packet-hops per CPU second, beside those of BASE=REV; RUNS=5 ONLY=text LARGE=1
	$(MEASURE) benches/bench.py $(BENCH) $(RUNS_EACH)
	@if tools/linux-ready test; then cd linux/hull-linux && cargo run -q --release --locked --example overhead; fi

.PHONY: threads
threads: build ## what two threads gain on one run, alone and beside a busy process; RUNS=3
	$(MEASURE) benches/threads.py $(RUNS_EACH)

.PHONY: peers
peers: build ## hull beside htsim (HTSIM=PROGRAM) and ns-3 (Debian: libns3-dev) on the same flow lists
	$(MEASURE) -m peers.run $(if $(HTSIM),--htsim $(HTSIM)) $(RUNS_EACH)

# An hour with LARGE=1. What is not measured again keeps its numbers.
.PHONY: speed
speed: build ## measure the numbers of docs/speed.md again: BASE=REV HTSIM=PROGRAM LARGE=1
	$(MEASURE) benches/bench.py $(BENCH) $(RUNS_EACH) --out docs/speed/bench.json
	$(MEASURE) -m peers.run $(if $(HTSIM),--htsim $(HTSIM)) $(RUNS_EACH) --out docs/speed/peers.json
	$(BIN)/python tools/speed_page.py

# ns-3 is found by one of its headers: Debian's pkg-config files name wrong folders.
.PHONY: validate
validate: build ## hull beside ns-3 on the same scenarios (Debian: libns3-dev); a few minutes
	@if echo '#include <ns3/core-module.h>' | $(CXX) -std=c++17 -E -x c++ - >/dev/null 2>&1; then \
	  $(MAKE) -C validation/ns3 && $(BIN)/python validation/ns3/compare.py --hull $(abspath $(BIN))/hull; \
	else echo "ns-3 not found: validation skipped"; fi

# Hours on two cores: each command is an experiment with a key changed. Stopped, it goes on.
.PHONY: tried
tried: build ## run the commands that show what was tried where a claim does not hold
	$(BIN)/python tools/tried.py

# SEED=1 CASES=10000 ONLY=mutations INDEX=123; what fails is kept in results/fuzz.
.PHONY: fuzz
fuzz: build ## wrong and random inputs, made from SEED: CASES of them; what fails is kept
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(SEED),--seed $(SEED)) $(if $(CASES),--cases $(CASES)) \
	  $(if $(ONLY),--only $(ONLY)) $(if $(INDEX),--index $(INDEX))

.PHONY: words
words: build ## take files that now pass off tests/language/pending.txt
	PYTHONPATH=tests $(BIN)/python -m language.pending

.PHONY: docs
docs: build ## the documentation as HTML in docs/_build; a warning is an error
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build
	$(BIN)/python tools/check_links.py docs/_build
	@echo "docs/_build/index.html"

.PHONY: gallery
gallery: build ## the pictures of the documentation; RESULTS=DIR takes those of earlier runs
	$(if $(RESULTS),,$(BIN)/hull reproduce --all --quick --out results >/dev/null)
	$(BIN)/python tools/gallery.py $(or $(RESULTS),results)
	$(BIN)/python tools/drawings.py

.PHONY: format
format: build ## rewrite the sources in the form that `make test` asks for
	cargo fmt
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: types
types: build ## write the Python types of the scenario again, after its definition changed
	$(BIN)/python tools/make_types.py

.PHONY: registers
registers: ## write what rtl/registers/hull.rdl gives again, after it changed (extra: rtl)
	PYTHONPATH=rtl $(BIN)/python -m registers.make

.PHONY: man
man: build ## write the manual page and the completions again, after a command or an option changed
	$(BIN)/python tools/make_man.py
	$(BIN)/python tools/make_completion.py

.PHONY: third-party
third-party: build ## write the licences and the bill of materials again, after Cargo.lock changed
	$(BIN)/python tools/third_party.py

LOCK = $(BIN)/pip-compile -q --upgrade --strip-extras --no-header --annotation-style=line \
	--generate-hashes --allow-unsafe --no-emit-index-url --no-emit-trusted-host --no-emit-find-links

.PHONY: lock
lock: $(VENV)/.installed ## pin the newest Python packages that requirements*.in allow
	$(LOCK) -o requirements.lock requirements-dev.in
	$(LOCK) -o requirements-rtl.lock requirements-rtl.in
	$(LOCK) -o requirements-guided.lock requirements-guided.in
	$(LOCK) -o requirements-release.lock requirements-release.in

.PHONY: clean
clean: ## remove everything that was built, not the results
	rm -rf $(VENV) target dist docs/_build docs/generated python/hull/_core*.so
	rm -rf .pytest_cache .mypy_cache .ruff_cache

$(VENV)/.built: $(VENV)/.installed pyproject.toml $(RUST)
	@command -v cargo >/dev/null || { echo "make: no cargo; install Rust 1.88 or newer" >&2; exit 1; }
	$(BIN)/maturin develop --release --locked
	@touch $@

$(VENV)/.installed: requirements.lock tools/make-venv
	tools/make-venv $(PYTHON) $(VENV)
	$(PIP) install -q --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.installed-rtl: requirements-rtl.lock $(VENV)/.installed
	$(PIP) install -q --require-hashes -r requirements-rtl.lock
	@touch $@

$(VENV)/.installed-release: requirements-release.lock $(VENV)/.installed
	$(PIP) install -q --require-hashes -r requirements-release.lock
	@touch $@
