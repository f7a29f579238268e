#!/usr/bin/env bash
# The checks of `make test`, which first installs and builds everything they need. The comparison
# with direct rendering is one of the workspace's tests (tests/harness). Pages are viewed in
# Chromium if it is installed, and other hosts are reached if there is an sshd, which
# scripts/deps.sh unpacks. With MGN_NEED_CHROMIUM and MGN_NEED_SSHD in the environment, a missing
# program is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests interrupt programs with SIGINT. Programs that a shell starts in the background would ignore
# it, and so would the tests.
env --default-signal=INT cargo xtask test
# The check needs rustfmt, because the generated code is formatted.
if command -v rustfmt >/dev/null; then
    cargo xtask generate --check
else
    echo "skipped: cargo xtask generate --check, for want of rustfmt"
fi
