# Everything a checkout can do. `make demo`, `make test` and `make test-apps` install what they miss, through apt-get.
#
#   make build     the mgn command, the client library and the demos, optimised
#   make demo      run iso_demo and glxgears through a server; pictures in target/demo
#   make test      all tests but the gallery
#   make test-apps the gallery: other people's programs, compared with direct rendering
#   make stress    endpoints: more messages and orders than make test tries
#   make miri      the parts of endpoints that need no system calls, checked by Miri (nightly Rust)
#   make bench     measure, against direct rendering
#   make lint      formatting, clippy, licences
#   make install   into PREFIX (/usr/local), under DESTDIR
#   make clean     remove what was built

SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= $(shell command -v cargo || echo $(HOME)/.cargo/bin/cargo)
export CARGO

TARGET := target
# The scripts and tests look there.
export CARGO_TARGET_DIR := $(CURDIR)/$(TARGET)
LIBRARIES := libmgn_client.so libmgn_fixed_clock.so

.PHONY: all build demo test test-apps stress miri bench lint install clean programs deps-build deps-demo deps-test deps-apps deps-bench registry

all: build

deps-build:
	@scripts/deps.sh build
deps-demo:
	@scripts/deps.sh demo
deps-test:
	@scripts/deps.sh test
deps-apps:
	@scripts/deps.sh apps
deps-bench:
	@scripts/deps.sh bench

build: deps-build
	"$(CARGO)" build --release --locked -p mgn-cli -p mgn-client -p mgn-bench -p mgn-capi
	$(MAKE) -C crates/verify/fixed_clock OUT=$(CURDIR)/$(TARGET)/release
	$(MAKE) -C demos OUT=$(CURDIR)/$(TARGET)/demos

# The C programs of the tests.
programs: deps-test
	$(MAKE) -C demos OUT=$(CURDIR)/$(TARGET)/demos
	$(MAKE) -C tests/conformance OUT=$(CURDIR)/$(TARGET)/conformance

registry: deps-test
	scripts/registry.sh

demo: deps-demo build
	scripts/demo.sh

test: deps-test registry programs
	scripts/test.sh

# In release mode, as users run it: some of these programs are heavy.
test-apps: deps-apps build
	"$(CARGO)" test --release --locked -p mgn-tests --features gallery --test gallery -- --nocapture

stress:
	"$(CARGO)" test --release --locked -p mgn-fabric --lib -- --ignored --nocapture

miri:
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows" "$(CARGO)" +nightly miri test --locked -p mgn-fabric --lib -- \
	  block:: endpoint::head endpoint::memory endpoint::simulated --skip of_all_lengths --skip cancelled

bench: deps-bench build
	mkdir -p $(TARGET)/bench
	$(CC) -O2 -Wall -Wextra -o $(TARGET)/bench/calls crates/bench/programs/calls.c -lGL -lX11
	"$(CARGO)" run --release --locked -p mgn-bench --bin mgn-bench
	$(TARGET)/release/mgn tune --output $(TARGET)/bench/tune.toml
	MGN_TUNE=$(TARGET)/bench/tune.toml "$(CARGO)" run --release --locked -p mgn-bench --bin mgn-bench-messages

lint:
	"$(CARGO)" fmt --all --check
	"$(CARGO)" clippy --workspace --all-targets --locked -- -D warnings
	"$(CARGO)" deny --locked check

install: build
	install -Dm755 $(TARGET)/release/mgn "$(DESTDIR)$(PREFIX)/bin/mgn"
	install -d "$(DESTDIR)$(PREFIX)/lib/manganese"
	install -m755 $(addprefix $(TARGET)/release/,$(LIBRARIES)) "$(DESTDIR)$(PREFIX)/lib/manganese/"
	install -m755 $(TARGET)/demos/iso_demo "$(DESTDIR)$(PREFIX)/lib/manganese/"
	rm -rf $(TARGET)/pages
	$(TARGET)/release/mgn pages --man $(TARGET)/pages/man --completions $(TARGET)/pages/completions
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1"
	install -m644 $(TARGET)/pages/man/*.1 "$(DESTDIR)$(PREFIX)/share/man/man1/"
	install -Dm644 $(TARGET)/pages/completions/mgn.bash "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/mgn"
	install -Dm644 $(TARGET)/pages/completions/_mgn "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_mgn"
	install -Dm644 $(TARGET)/pages/completions/mgn.fish "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/mgn.fish"
	install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system"
	for unit in scripts/systemd/*; do \
	    sed 's|/usr/local/bin/|$(PREFIX)/bin/|' "$$unit" >"$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}" || exit; done
	$(MAKE) -C crates/capi install BUILT="$(CURDIR)/$(TARGET)/release" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)"

clean:
	rm -rf $(TARGET)
