# timeline: `make demo` shows it at work, `make test` checks everything, `make help` says what else there is.
CARGO ?= cargo
PREFIX ?= /usr/local
# Where cargo leaves what it builds.
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)/release
NPM_PACKAGES = $(foreach place,browser histograms page,tests/$(place)/node_modules/.package-lock.json)
PYTHON_PACKAGES = tests/histograms/python_modules/.installed

.DEFAULT_GOAL := all
.PHONY: all build test lint lint-page map unit units documented loom fuzz demo bench bench-latency bench-search bench-serve bench-statements bench-store install clean help

help:
	@echo "make            build the command and the libraries: $(TARGET_DIR)"
	@echo "make demo       a LuaJIT and a C program log to one timeline, which is dumped while they run"
	@echo "make test       format, lints, documentation, layering, header, unit, property, loom, C, C++ and Lua tests"
	@echo "make map        write docs/map.md anew: what each file of the source is for"
	@echo "make bench-search   what searching archives costs, beside ripgrep and others; QUICK=1 for a try"
	@echo "make bench-serve    what the page of \`timeline serve\` costs, in a browser; QUICK=1 for a try"
	@echo "make bench-statements  what statements cost where they are compiled; QUICK=1 for a try"
	@echo "make bench-store  what recorders and a store cost, with encryption and without; QUICK=1 for a try"
	@echo "make bench-latency  what watching for spans and finding durations costs; QUICK=1 for a try"
	@echo "make bench      what logging and reading cost, beside the clock and beside others; QUICK=1 for a try, SVG=FILE draws, PAGE=FILE fills"
	@echo "make fuzz       feed each reader of bytes with a fuzzer; SECONDS=60 for each, TARGETS=\"archive ring\" for some"
	@echo "make install    install what make has built under PREFIX (/usr/local); DESTDIR goes before it"
	@echo "make clean      remove everything that was built"

all: build

build:
	$(CARGO) build --release

# The models need processors all the time, the rest often waits, for processes or for one compiler: so they run side by
# side.
test:
	scripts/bootstrap.sh test
	$(MAKE) $(NPM_PACKAGES) $(PYTHON_PACKAGES)
	said=$$(mktemp); trap 'rm -f "$$said"' EXIT; \
	$(MAKE) loom >"$$said" 2>&1 & models=$$!; \
	$(MAKE) lint && $(MAKE) unit; tests=$$?; \
	wait $$models; models=$$?; \
	cat "$$said"; \
	exit $$((tests || models))

# What the tests of the page and of interval logs, and the compiler and the linter of the page, need of npm.
$(NPM_PACKAGES): tests/%/node_modules/.package-lock.json: tests/%/package-lock.json
	npm ci --prefix tests/$* --no-audit --no-fund
	touch $@

# What the tests of interval logs need of PyPI. Without its own packages: those are for building it.
$(PYTHON_PACKAGES): tests/histograms/requirements.txt
	rm -rf $(@D)
	python3 -m pip install --quiet --root-user-action ignore --disable-pip-version-check --no-deps --target $(@D) -r $<
	touch $@

# The header is compared around the first command that builds. A build for the header alone would compile
# what no other command needs. The documentation of the C ABI is its header; rustdoc would put it in the place of the
# library's. There are no examples, but with the option dependencies have the features that tests give them.
# With others, some would be compiled anew.
lint: lint-page
	$(CARGO) fmt --all --check
	scripts/check-header.sh $(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy -p timeline --no-default-features --lib --examples -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --workspace --exclude timeline-ffi --exclude timeline-worker-ffi --exclude timeline-analysis-ffi --lib --examples

# The types of the page, and what its scripts and those of its tests should not do: a few seconds.
lint-page: tests/page/node_modules/.package-lock.json
	node tests/page/node_modules/typescript/bin/tsc --project crates/serve
	node tests/page/node_modules/eslint/bin/eslint.js --config tests/page/eslint.config.mjs \
	  crates/serve/page tests/browser tests/histograms tests/page benches

# What each file is for, by its first line. A test compares.
map:
	scripts/map.py

# Two programs of tests beside each other, because half of the tests wait for processes, and the first of them needs
# little to be built: meanwhile the rest is. Each prints all at once when it ends.
unit:
	$(MAKE) --jobs 2 --output-sync --keep-going program-core program-cli program-archive program-ffi units documented \
	  program-lua without-rseq-core without-rseq-ffi without-rseq-cli

# As many tests of a program at a time as there are CPUs; not more than eight, as a process may have sixty-four
# timelines.
unit: export RUST_TEST_THREADS ?= $(shell n=$$(nproc); echo $$((n < 8 ? n : 8)))

program-%:
	$(CARGO) test --workspace --test $*

# Those inside the crates.
units:
	$(CARGO) test --workspace --no-fail-fast --lib --bin timeline

documented:
	$(CARGO) test --workspace --no-fail-fast --doc

# Runs the tests that depend on lanes once more, without restartable sequences. Those that are skipped run both ways
# by themselves. In each program one at a time: a child that another test forks keeps the
# locks of a killed process for a moment.
without-rseq-%:
	GLIBC_TUNABLES=glibc.pthread.rseq=0 RUST_TEST_THREADS=1 $(CARGO) test --workspace --test $* -- \
	  c_hosts:: concurrency:: fork:: kill:: lifecycle:: storm::kills:: --skip threads_are_cancelled_asynchronously \
	  --skip logging_takes_no_more_stack --skip fork::stepping

# Built apart, because the flag would build everything else anew; without the command, which no model needs. One at a
# time: each run of a model maps its stacks anew, and that costs more with several threads.
loom:
	RUSTFLAGS="--cfg loom" RUST_TEST_THREADS=1 $(CARGO) test -p timeline --profile loom --no-default-features --test loom --target-dir target/loom

# Needs a nightly compiler. What it begins with, and what it has found, is part of `cargo test`: tests/archive/fuzz/.
fuzz:
	FUZZ_SECONDS="$(or $(SECONDS),60)" scripts/fuzz.sh $(TARGETS)

demo:
	scripts/bootstrap.sh demo
	$(MAKE) build
	TARGET_DIR="$(TARGET_DIR)" scripts/demo.sh

# The Rust programs that measure are a package of their own.
bench:
	scripts/bootstrap.sh test
	$(MAKE) build
	$(CARGO) build --release -p timeline-bench-programs
	TARGET_DIR="$(TARGET_DIR)" benches/bench.py --json "$(TARGET_DIR)/../bench.json" $(if $(QUICK),--quick) $(if $(SVG),--svg "$(SVG)") \
	  $(if $(PAGE),--page "$(PAGE)")

# A minute: it watches a program that logs a million events a second.
bench-latency:
	scripts/bootstrap.sh test
	$(MAKE) build
	$(CARGO) build --release -p timeline-bench-programs
	TARGET_DIR="$(TARGET_DIR)" benches/latency.py $(if $(QUICK),--quick)

bench-store:
	scripts/bootstrap.sh test
	$(MAKE) build
	$(CARGO) build --release -p timeline-bench-programs
	TARGET_DIR="$(TARGET_DIR)" benches/store.py $(if $(QUICK),--quick)

# Compiles only: nothing is built for it.
bench-statements:
	benches/statements.py $(if $(QUICK),--quick)

# Its data take a minute to make: 20 million events, and a log of 500 MB.
bench-search:
	scripts/bootstrap.sh test
	$(MAKE) build
	$(CARGO) build --release -p timeline-bench-programs
	TARGET_DIR="$(TARGET_DIR)" benches/search.py $(if $(QUICK),--quick)

# Its archive of 50 million events takes a minute to make.
bench-serve:
	scripts/bootstrap.sh test
	$(MAKE) $(firstword $(NPM_PACKAGES)) build
	$(CARGO) build --release -p timeline-bench-programs
	TARGET_DIR="$(TARGET_DIR)" node benches/serve.mjs $(if $(QUICK),--quick)

# Builds nothing: root, who often runs this, may have no cargo, and would own what it built.
install:
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" TARGET_DIR="$(TARGET_DIR)" scripts/install.sh

clean:
	$(CARGO) clean
