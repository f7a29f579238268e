# Everything a checkout can do. `make demo`, `make test` and `make test-apps` install what they miss, through apt-get.
#
#   make build     the mgn command, the client library and the demos, optimised; PROFILE=dev: as tests use them, in half the time
#   make demo      run iso_demo and glxgears through a server; pictures in target/demo
#   make test      all tests but the gallery
#   make test-machine  the tests that depend most on the system, in release mode: the conformance programs, the renderer's tests, IceT's
#   make test-python  the Python package, installed as `pip install ./python` does
#   make test-aarch64  the vector instructions of 64-bit ARM, under QEMU; needs rustup
#   make test-apps the gallery: other people's programs, compared with direct rendering
#   make conformance         piglit, all of it: what passes with the local driver has to pass; hours
#   make conformance-sample  a fixed part of it, in five minutes
#   make stress    endpoints: more messages and orders than make test tries
#   make miri      the parts of endpoints and of the client that need no system calls, checked by Miri (nightly Rust)
#   make fuzz      fuzz each decoder of foreign bytes, guided by coverage; MINUTES=n each (1), TARGET=name for one
#   make fuzz-corpus  add what these runs found, where it widens coverage, to the committed inputs
#   make mutants   show how long the random sequences of commands take to find mistakes in the renderer; SEEDS=n each (5)
#   make bench     measure what has goals: messages, many links, programs; an hour. SUITES=gl for others
#   make lint      formatting, clippy, licences, systemd units
#   make site      the documentation as web pages (mdBook), in target/site/html; make install installs them if they are there
#   make sbom      software bills of materials of the released binaries (CycloneDX), in target/sbom
#   make deb       Debian packages, in target/deb
#   make install   into PREFIX (/usr/local), under DESTDIR; STRIP=: keeps the debug symbols
#   make clean     remove what was built

SHELL := /bin/bash
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
STRIP ?= strip
# Where rustup puts cargo, for shells that do not look there.
export PATH := $(PATH):$(HOME)/.cargo/bin

BUILD_DIR := target
# The scripts and tests look there.
export CARGO_TARGET_DIR := $(CURDIR)/$(BUILD_DIR)
# Cargo's profile of what is run and installed, and the folder in which Cargo puts that.
PROFILE ?= release
BUILT := $(BUILD_DIR)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
# Demos that `mgn bench` draws.
INSTALLED_DEMOS := iso_demo volume
LIBRARIES := libmgn_client.so libmgn_fixed_clock.so libmgn_icet.so

.PHONY: all build demo test test-machine test-python test-aarch64 test-apps conformance conformance-sample stress miri fuzz fuzz-corpus bench lint site sbom mutants deb install install-docs clean programs registry

all: build

# Installs the packages that a goal needs and this machine lacks.
deps-%:
	@scripts/deps.sh $*

build: deps-build
	cargo build --profile $(PROFILE) --locked -p mgn-cli -p mgn-client -p mgn-capi -p mgn-icet
	$(MAKE) -C crates/verify/fixed_clock OUT=$(CURDIR)/$(BUILT)
	$(MAKE) -C demos OUT=$(CURDIR)/$(BUILD_DIR)/demos

# The C programs of the tests.
programs: deps-test
	$(MAKE) -C demos OUT=$(CURDIR)/$(BUILD_DIR)/demos
	$(MAKE) -C tests/conformance OUT=$(CURDIR)/$(BUILD_DIR)/conformance

registry: deps-test
	scripts/registry.sh

demo: deps-demo build
	MGN=$(BUILT)/mgn scripts/demo.sh

test: deps-test registry programs
	scripts/test.sh

# The tests that depend most on a machine's Mesa, or on programs that only some releases of Debian
# have.
test-machine: deps-test build
	MGN_WAYS=shm,tcp cargo test --profile $(PROFILE) --locked -p mgn-tests --test conformance
	MGN_BUILT=1 cargo test --profile $(PROFILE) --locked -p mgn-render -p mgn-icet --test '*' -- --show-output

# The system's own Python: another one does not see its packages.
test-python: deps-python build
	/usr/bin/python3 -m venv --system-site-packages $(BUILD_DIR)/python
	$(BUILD_DIR)/python/bin/pip install --quiet ./python
	MGN=$(abspath $(BUILT)/mgn) $(BUILD_DIR)/python/bin/python3 -m unittest discover python/tests

test-aarch64: deps-aarch64
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
	cargo test --locked -p mgn-composite --lib --target aarch64-unknown-linux-gnu merge

# In release mode, as users run it: some of these programs are heavy.
test-apps: deps-apps build
	cargo test --profile $(PROFILE) --locked -p mgn-tests --features gallery --test gallery -- --nocapture

# OPTIONS are those of tests/harness/src/bin/conformance.rs.
conformance: deps-conformance build
	cargo run --profile $(PROFILE) --locked -p mgn-tests --bin conformance -- $(OPTIONS)

conformance-sample: deps-conformance build
	cargo run --profile $(PROFILE) --locked -p mgn-tests --bin conformance -- --sample $(OPTIONS)

stress:
	cargo test --release --locked -p mgn-fabric --lib -- --ignored --nocapture

miri:
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows" cargo +nightly miri test --locked -p mgn-fabric --lib -- \
	  block:: endpoint::head endpoint::memory endpoint::simulated --skip of_all_lengths --skip cancelled
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks" cargo +nightly miri test --locked -p mgn-client --lib

fuzz: deps-fuzz
	scripts/fuzz.sh $(or $(MINUTES),1) $(TARGET)

mutants: deps-test
	scripts/mutants.sh $(SEEDS)

fuzz-corpus: deps-fuzz
	scripts/fuzz.sh merge $(TARGET)

# The suites that state goals.
bench: SUITES ?= net overlap crowd programs
bench: deps-bench build
	mkdir -p $(BUILD_DIR)/bench
	$(BUILT)/mgn tune --output $(BUILD_DIR)/bench/tune.toml
	MGN_TUNE=$(BUILD_DIR)/bench/tune.toml $(BUILT)/mgn bench $(SUITES) --dir $(BUILD_DIR)/bench/run

lint: deps-lint
	cargo fmt --all --check
	cargo fmt --manifest-path python/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --manifest-path python/Cargo.toml --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked
	cargo deny --locked check licenses bans sources
	scripts/check-units.sh
	scripts/mutants.sh check

site: deps-site
	scripts/site.sh

sbom: deps-sbom
	scripts/sbom.sh

# Debhelper leaves its work in debian/, which is cleaned again.
deb: deps-deb build
	rm -rf $(BUILD_DIR)/deb
	$(MAKE) install STRIP=: PREFIX=/usr LIBDIR=/usr/lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) DESTDIR=$(CURDIR)/$(BUILD_DIR)/deb/stage >/dev/null
	status=0; DEB_RULES_REQUIRES_ROOT=no debian/rules binary >$(BUILD_DIR)/deb/log 2>&1 || status=$$?; \
	[ $$status -eq 0 ] || tail -n 30 $(BUILD_DIR)/deb/log >&2; \
	dh_clean; rm -rf $(BUILD_DIR)/deb/stage; exit $$status
	ls -sh1 $(BUILD_DIR)/deb/*.deb

install: build
	install -Dm755 $(BUILT)/mgn "$(DESTDIR)$(PREFIX)/bin/mgn"
	install -d "$(DESTDIR)$(PREFIX)/lib/manganese"
	install -m755 $(addprefix $(BUILT)/,$(LIBRARIES)) "$(DESTDIR)$(PREFIX)/lib/manganese/"
	install -m755 $(addprefix $(BUILD_DIR)/demos/,$(INSTALLED_DEMOS)) "$(DESTDIR)$(PREFIX)/lib/manganese/"
	$(STRIP) "$(DESTDIR)$(PREFIX)/bin/mgn" "$(DESTDIR)$(PREFIX)/lib/manganese/"*
	rm -rf $(BUILD_DIR)/pages
	$(BUILT)/mgn pages --man $(BUILD_DIR)/pages/man --completions $(BUILD_DIR)/pages/completions
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1"
	install -m644 $(BUILD_DIR)/pages/man/*.1 "$(DESTDIR)$(PREFIX)/share/man/man1/"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man5"
	install -m644 $(BUILD_DIR)/pages/man/*.5 "$(DESTDIR)$(PREFIX)/share/man/man5/"
	install -Dm644 $(BUILD_DIR)/pages/completions/mgn.bash "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/mgn"
	install -Dm644 $(BUILD_DIR)/pages/completions/_mgn "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_mgn"
	install -Dm644 $(BUILD_DIR)/pages/completions/mgn.fish "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/mgn.fish"
	install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system"
	for unit in scripts/systemd/*; do \
	    sed 's|/usr/local/bin/|$(PREFIX)/bin/|' "$$unit" >"$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}" || exit; done
	install -Dm644 scripts/sysusers.conf "$(DESTDIR)$(PREFIX)/lib/sysusers.d/manganese.conf"
	$(MAKE) install-docs
	$(MAKE) -C crates/capi install BUILT="$(CURDIR)/$(BUILT)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" DESTDIR="$(DESTDIR)" STRIP="$(STRIP)"

# The files that help texts and manual pages mention, and the files that these mention.
install-docs:
	for folder in design examples pictures; do install -d "$(DESTDIR)$(PREFIX)/share/doc/manganese/$$folder" || exit; done
	install -m644 *.md LICENSE-* docs/*.md docs/*.html docs/*.json "$(DESTDIR)$(PREFIX)/share/doc/manganese/"
	install -m644 docs/design/* "$(DESTDIR)$(PREFIX)/share/doc/manganese/design/"
	@# README and its like lie beside the pages there.
	sed -i -e 's|](docs/|](|g' -e 's|](\.\./\([A-Z]*\.md\)|](\1|g' "$(DESTDIR)$(PREFIX)/share/doc/manganese/"*.md
	sed -i -e 's|](\.\./\.\./\([A-Z]*\.md\)|](../\1|g' "$(DESTDIR)$(PREFIX)/share/doc/manganese/design/"*.md
	install -m644 docs/examples/* "$(DESTDIR)$(PREFIX)/share/doc/manganese/examples/"
	install -m644 docs/pictures/* "$(DESTDIR)$(PREFIX)/share/doc/manganese/pictures/"
	@# As `make site` has made it.
	if [ -d $(BUILD_DIR)/site/html ]; then \
		rm -rf "$(DESTDIR)$(PREFIX)/share/doc/manganese/html"; \
		cp -r $(BUILD_DIR)/site/html "$(DESTDIR)$(PREFIX)/share/doc/manganese/html"; \
	fi

clean:
	rm -rf $(BUILD_DIR)
