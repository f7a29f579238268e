#!/bin/bash
# Checks that the systemd units are confined: `systemd-analyze security` must give each unit an
# exposure of at most 2.0.
set -euo pipefail
cd "$(dirname "$0")/systemd"
if ! command -v systemd-analyze >/dev/null; then
    echo "SKIPPED: systemd-analyze is not installed (package systemd)" >&2
    exit 0
fi
failed=0
for unit in *.service; do
    # The threshold is in tenths.
    if ! said=$(systemd-analyze security --offline=true --no-pager --threshold=20 "./$unit" 2>&1); then
        echo "$said" >&2
        failed=1
    fi
done
exit $failed
