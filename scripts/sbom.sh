#!/usr/bin/env bash
# Writes the software bills of materials of the released binaries, in CycloneDX's JSON, to target/sbom:
# one file each for the command, the client library and the message library. They list the crates
# that are linked or that compile others (macros), with versions, licences, and the checksums of
# Cargo.lock. C code that a crate brings along (libjpeg-turbo, ring's) belongs to its crate.
#
# usage: scripts/sbom.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# The tool's name for the file of a binary, and ours. Other binaries are not released.
files=(
    crates/cli/mgn_bin=mgn
    crates/client/mgn_client_cdylib=libmgn_client
    crates/capi/manganese_cdylib-staticlib=libmanganese
    crates/icet/mgn_icet_cdylib=libmgn_icet
)
out=target/sbom

# It writes beside the manifests of all crates.
finish() { find crates tests xtask -name '*.cdx.json' -delete; }
trap finish EXIT

# With a date, the same sources give the same files.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || true)}
[ -z "$epoch" ] || export SOURCE_DATE_EPOCH=$epoch
cargo cyclonedx --quiet --format json --spec-version 1.5 --describe binaries --no-build-deps

rm -rf $out
mkdir -p $out
for file in "${files[@]}"; do
    # Crates of this workspace are named by their paths, which say nothing elsewhere.
    sed "s|path+file://$PWD/|path+file:///|g" "${file%=*}.cdx.json" >"$out/${file#*=}.cdx.json"
done
ls -sh1 $out/*.cdx.json
