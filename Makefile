# `make help` lists the targets. Python packages are in .venv at the versions and hashes of
# requirements.lock; Rust is built in target/ at the versions of Cargo.lock.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip
# The sources of the extension module; maturin builds it.
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml $(wildcard Cargo.lock)

.DEFAULT_GOAL := build

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(VENV)/.built ## build hull; leaves the command at .venv/bin/hull (also plain `make`)

# The compiler optimizes for the branches of short runs (tools/train.py). Results are the same bytes.
.PHONY: fast
fast: $(VENV)/.installed ## build hull with a profile, for long simulations; takes twice as long as `make`
	@rm -f $(VENV)/.built
	tools/guided develop
	@touch $(VENV)/.built

# Incremental, less optimized and with many codegen units: the results are the same bytes, later.
.PHONY: dev
dev: $(VENV)/.installed ## build after a change of Rust, in seconds; simulations are slower
	@rm -f $(VENV)/.built
	$(BIN)/maturin develop --profile quick --locked

# zig links against the C library of manylinux2014. The check installs the wheel without a compiler.
.PHONY: wheel
wheel: $(VENV)/.installed-release third-party ## wheel (guided by a profile) and source distribution in dist/
	rm -rf dist
	$(BIN)/maturin sdist --out dist
	tools/guided build --zig --compatibility manylinux2014 --strip --sbom-include hullnet.cdx.json --out dist
	$(BIN)/python tools/check_wheel.py dist

.PHONY: release
release: docs $(VENV)/.installed-release ## check that VERSION=0.1.0 can be published, and print how
	@$(BIN)/python tools/release.py "$(VERSION)"

# With hull-py's features, so that it links the hull-sim that `make build` compiled.
.PHONY: traffic
traffic: build ## the traffic generator for real networks: `hull linux traffic`
	cargo build --release --locked --package hull-py --package hull-traffic --bin hull-traffic
	install target/release/hull-traffic $(BIN)/hull-traffic

.PHONY: demo
demo: build ## reproduce two published tables in short runs
	$(BIN)/hull reproduce epfl-table2 table4 --quick --force

.PHONY: lint
lint: lint-rust lint-python ## format, lint and types of Rust and Python

.PHONY: lint-rust
lint-rust:
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

.PHONY: lint-python
lint-python: $(VENV)/.installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/codespell

# What a commit needs at least, in the form that `make dev` built.
QUICK = house language keys cli docs scenario_types man stated registry claim_pages
.PHONY: check
check: dev ## before a commit, minutes: format, lint, types, and the tests that fail most
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(MAKE) lint-python
	$(BIN)/pytest -q -n 2 $(QUICK:%=tests/python/test_%.py)

# Random inputs of the property tests are the same at each run; `make properties` tries others.
test: export PROPTEST_RNG_SEED = 1

# The module and the Rust tests compile at the same time, in different folders of target/.
.PHONY: test
test: ## format, lint, types and all tests, Rust and Python
	$(MAKE) -j2 lint rust-tests
	$(BIN)/python tools/slowest_tests.py cargo test --locked --workspace --exclude hull-py --exclude hull-reference
	$(BIN)/pytest -m "not quiet" --durations=10 -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
	$(BIN)/pytest -m quiet tests/python/lab
	$(MAKE) test-linux
	$(MAKE) test-rtl WITHOUT=slow

# Each patch adds a percentile, a workload, and so on; tests/python/test_patches.py counts their files.
.PHONY: patches
patches: $(VENV)/.installed ## each patch of tests/patches in a copy of the tree, with its tests; ONLY=name
	$(BIN)/python tools/patches.py $(ONLY)

# Needs no Python.
.PHONY: rust-tests
rust-tests: lint-rust ## lint Rust and compile its tests
	cargo test --locked --workspace --exclude hull-py --exclude hull-reference --no-run

.PHONY: linux
linux: traffic ## the programs of `hull linux` (clang; Debian: clang libelf-dev zlib1g-dev libbpf-dev)
	@tools/linux-ready build
	cd linux/hull-linux && cargo build --release --locked
	install linux/hull-linux/target/release/hull-linux $(BIN)/hull-linux

.PHONY: test-linux
test-linux: build ## test the eBPF programs on this kernel and Debian's; lists what it skips
	@if tools/linux-ready test; then $(MAKE) linux && cd linux/hull-linux \
	  && cargo fmt --check && cargo clippy --release --locked --all-targets -- -D warnings \
	  && cargo test --release --locked && cd ../.. && $(BIN)/pytest tests/linux && linux/guest/test; fi

# The hardware in rtl/ has its own tools (requirements-rtl.lock): a simulator, provers, synthesis.
COMPILE_ONCE = OBJCACHE=$(abspath tools/compile-once)

.PHONY: test-rtl
test-rtl: build registers ## test the hardware in simulation against hull-core; lists what it skips
	$(if $(WITHOUT),@echo "rtl: the tests marked $(WITHOUT) are left out for time; make test-rtl runs them")
	@if tools/rtl-ready; then cargo build --release --locked -p hull-reference \
	  && $(COMPILE_ONCE) $(BIN)/pytest rtl $(if $(WITHOUT),-m "not $(WITHOUT)") --durations=10 -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder; fi

# The exit status says whether every module meets timing at 64 bits; unchanged modules are skipped.
.PHONY: rtl-report
rtl-report: registers ## measure the hardware's area and speed on an FPGA: docs/hardware/resources.md
	$(BIN)/python tools/rtl_report.py

.PHONY: rtl-coverage
rtl-coverage: build registers ## which branches of the hardware its tests take: docs/hardware/coverage.md
	cargo build --release --locked -p hull-reference
	$(COMPILE_ONCE) $(BIN)/python tools/rtl_coverage.py

.PHONY: prove
prove: registers ## run all proofs of the hardware, at most 10 minutes each
	PYTHONPATH=rtl $(BIN)/python -m formal.prove

# BASE=REV alternates with that revision; ONLY=TEXT selects figures; RUNS=N, LARGE=1.
BENCH = $(if $(BASE),--base $(BASE)) $(if $(ONLY),--only "$(ONLY)") $(if $(LARGE),--large) $(if $(TIMES),--times)
RUNS_EACH = $(if $(RUNS),--runs $(RUNS))
MEASURE = PYTHONPATH=benches:validation/ns3 $(BIN)/python

.PHONY: bench
bench: build ## packet-hops per CPU second, compared with BASE=REV; RUNS=5 ONLY=text LARGE=1
	$(MEASURE) benches/bench.py $(BENCH) $(RUNS_EACH)
	@if tools/linux-ready test; then cd linux/hull-linux && cargo run -q --release --locked --example overhead; fi

.PHONY: threads
threads: build ## what two threads gain on one run, alone and beside a busy process; RUNS=3
	$(MEASURE) benches/threads.py $(RUNS_EACH)

.PHONY: peers
peers: build ## compare hull with htsim (HTSIM=PROGRAM) and ns-3 (Debian: libns3-dev) on the same flow lists
	$(MEASURE) -m peers.run $(if $(HTSIM),--htsim $(HTSIM)) $(RUNS_EACH)

# An hour with LARGE=1. Figures that are not measured keep their numbers.
.PHONY: speed
speed: build ## measure the numbers of docs/speed.md again: BASE=REV HTSIM=PROGRAM LARGE=1
	$(MEASURE) benches/bench.py $(BENCH) $(RUNS_EACH) --out docs/speed/bench.json
	$(MEASURE) -m peers.run $(if $(HTSIM),--htsim $(HTSIM)) $(RUNS_EACH) --out docs/speed/peers.json
	$(BIN)/python tools/speed_page.py

# ns-3 is found by one of its headers: Debian's pkg-config files name wrong folders.
.PHONY: validate
validate: build ## compare hull with ns-3 and ns-2 on the same scenarios (Debian: libns3-dev, ns2); minutes
	@if echo '#include <ns3/core-module.h>' | $(CXX) -std=c++17 -E -x c++ - >/dev/null 2>&1; then \
	  $(MAKE) -C validation/ns3 && $(BIN)/python validation/ns3/compare.py --hull $(abspath $(BIN))/hull; \
	else echo "ns-3 not found: validation skipped"; fi
	@if command -v ns >/dev/null; then \
	  PYTHONPATH=validation/ns3 $(BIN)/python validation/ns2/compare.py --hull $(abspath $(BIN))/hull; \
	else echo "ns-2 not found: validation skipped"; fi

# Hours on two cores: each command is an experiment with a changed key. It can be stopped and resumed.
.PHONY: tried
tried: build ## repeat the commands behind claims that do not hold; hours, resumable
	$(BIN)/python tools/tried.py

# SEED=1 CASES=10000 ONLY=mutations INDEX=123; failures are kept in results/fuzz.
.PHONY: fuzz
fuzz: build ## run CASES invalid and random inputs from SEED; failures are kept
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(SEED),--seed $(SEED)) $(if $(CASES),--cases $(CASES)) \
	  $(if $(ONLY),--only $(ONLY)) $(if $(INDEX),--index $(INDEX))

.PHONY: properties
properties: ## Rust's property tests with CASES other random inputs each, from a random SEED or a given one
	PROPTEST_CASES=$(or $(CASES),5000) PROPTEST_MAX_GLOBAL_REJECTS=1000000000 $(if $(SEED),PROPTEST_RNG_SEED=$(SEED)) \
	  cargo test --locked --workspace --exclude hull-py --exclude hull-reference --no-fail-fast

# Not in continuous integration.
.PHONY: nets
nets: ## threads under ThreadSanitizer, with what the Rust toolchain has; says what it skips
	tools/nets

.PHONY: audit
audit: ## check the crates: advisories, licences, sources; ADVISORIES=CLONE (cargo-deny; first use takes minutes)
	tools/audit

# Of a nightly toolchain: rustup component add --toolchain nightly miri rust-src
.PHONY: miri
miri: ## run tests under Miri, which finds undefined behaviour and data races
	tools/miri

.PHONY: docs
docs: build docs/drawn/.drawn ## the documentation as HTML in docs/_build; a warning is an error
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build
	$(BIN)/python tools/check_links.py docs/_build
	@echo "docs/_build/index.html"

.PHONY: gallery
gallery: build ## render the pictures of the documentation; RESULTS=DIR uses earlier runs
	$(if $(RESULTS),,$(BIN)/hull reproduce --all --quick --out results >/dev/null)
	$(BIN)/python tools/gallery.py $(or $(RESULTS),results)

# Simulated (seconds), or drawn from measurements that are kept.
DRAWING = $(addprefix tools/,drawings.py host_queues.py hardware_drawings.py hardware_timing.py speed_page.py)
docs/drawn/.drawn: $(VENV)/.built $(DRAWING) docs/host_queues.json docs/speed/bench.json $(wildcard docs/hardware/*.wavedrom.json)
	$(BIN)/python tools/drawings.py
	$(BIN)/python tools/host_queues.py --draw
	$(BIN)/python tools/hardware_drawings.py
	$(BIN)/python tools/speed_page.py --draw
	@touch $@

.PHONY: format
format: build ## format the sources
	cargo fmt
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: types
types: build ## generate the Python types of the scenario after its definition changed
	$(BIN)/python tools/make_types.py

.PHONY: registers
registers: rtl/registers/generated/.made ## Verilog, C, Rust and Python of rtl/registers/hull.rdl

rtl/registers/generated/.made: $(VENV)/.installed-rtl rtl/registers/hull.rdl $(addprefix rtl/registers/,make.py model.py page.py software.py verilog.py)
	PYTHONPATH=rtl $(BIN)/python -m registers.make
	@touch $@

.PHONY: man
man: build ## generate the manual page and the completions after a command or an option changed
	$(BIN)/python tools/make_man.py
	$(BIN)/python tools/make_completion.py

# In the wheel and the source distribution, and nowhere else.
.PHONY: third-party
third-party: $(VENV)/.installed ## write the licences and the bill of materials of the wheel
	cargo fetch --locked
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
clean: ## remove all build outputs; keeps results
	rm -rf $(VENV) target dist docs/_build docs/generated docs/drawn python/hull/_core*.so
	rm -rf rtl/registers/generated
	rm -rf .pytest_cache .mypy_cache .ruff_cache

$(VENV)/.built: $(VENV)/.installed pyproject.toml $(RUST)
	@command -v cargo >/dev/null || { echo "make: no cargo; install Rust 1.88 or newer" >&2; exit 1; }
	$(BIN)/maturin develop --release --locked
	@$(BIN)/python -m compileall -q python/hull # for where PYTHONDONTWRITEBYTECODE is set
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
