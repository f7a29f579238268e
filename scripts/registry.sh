#!/usr/bin/env bash
# Fetches the registry of OpenGL, gl.xml, into target/registry. The file comes from a package on
# PyPI, which is pinned by its checksum. The package is downloaded but never installed.
set -euo pipefail
cd "$(dirname "$0")/.."

package=glad2==2.0.8
wheel_sha256=cfe84018233043554710aa747d0bf4be55015154f8bcd451765d1984bcc9d70b
xml_sha256=5f6729a142ec29f58967381b9efd4bd41ba90749a0f8bffb52bf457d54263461
dir=target/registry

is_right() { echo "$xml_sha256  $1" | sha256sum --check --status 2>/dev/null; }

if is_right $dir/gl.xml; then
    exit 0
fi
mkdir -p $dir
temporary=$(mktemp -d $dir/fetch.XXXXXX)
trap 'rm -rf "$temporary"' EXIT
echo "$package --hash=sha256:$wheel_sha256" >"$temporary/requirements.txt"
if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --require-hashes --dest "$temporary" -r "$temporary/requirements.txt" </dev/null; then
    echo "scripts/registry.sh: $package could not be fetched from PyPI; is there a network?" >&2
    exit 1
fi
python3 - "$temporary"/glad2-*.whl "$temporary/gl.xml" <<'PYTHON'
import sys
import zipfile

wheel, xml = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive, open(xml, "wb") as out:
    out.write(archive.read("glad/files/gl.xml"))
PYTHON
if ! is_right "$temporary/gl.xml"; then
    echo "scripts/registry.sh: the registry in $package is not the one expected" >&2
    exit 1
fi
mv "$temporary/gl.xml" $dir/gl.xml
