#!/usr/bin/env bash
# Writes the software bills of materials of the released binaries to target/sbom, in CycloneDX's
# JSON format. There is one file each for the command, the client library and the message library.
# The files list the crates that are linked or that compile others (macros), with versions,
# licences, and the checksums of Cargo.lock. C code that a crate contains (libjpeg-turbo, ring's)
# belongs to its crate.
#
# usage: scripts/sbom.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# The file name of each released binary in cargo-cyclonedx, and our name for it.
files=(
    crates/cli/mgn_bin=mgn
    crates/client/mgn_client_cdylib=libmgn_client
    crates/capi/manganese_cdylib-staticlib=libmanganese
    crates/icet/mgn_icet_cdylib=libmgn_icet
)
out=target/sbom

# cargo-cyclonedx writes its files beside the manifests of all crates.
finish() { find crates tests xtask -name '*.cdx.json' -delete; }
trap finish EXIT

# With a fixed date, the same sources give the same files.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || true)}
[ -z "$epoch" ] || export SOURCE_DATE_EPOCH=$epoch
cargo cyclonedx --quiet --format json --spec-version 1.5 --describe binaries --no-build-deps

rm -rf $out
mkdir -p $out
for file in "${files[@]}"; do
    # Crates of this workspace are named by their paths. The path of the checkout means nothing
    # elsewhere.
    sed "s|path+file://$PWD/|path+file:///|g" "${file%=*}.cdx.json" >"$out/${file#*=}.cdx.json"
done
ls -sh1 $out/*.cdx.json
