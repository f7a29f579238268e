#!/usr/bin/env bash
# What `make test` runs once everything it needs is there. The comparison with direct rendering is
# one of the workspace's tests (tests/harness). Pages are looked at in Chromium where it is
# installed, and other hosts are reached where there is an sshd, which scripts/deps.sh unpacks; with
# MGN_NEED_CHROMIUM and MGN_NEED_SSHD in the environment their absence is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests interrupt programs (SIGINT). A program that a shell starts in the background would ignore
# that.
env --default-signal=INT cargo xtask test
# Formatting what is generated is part of generating it.
if command -v rustfmt >/dev/null; then
    cargo xtask generate --check
else
    echo "skipped: cargo xtask generate --check, for want of rustfmt"
fi
