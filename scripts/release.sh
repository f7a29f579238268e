#!/usr/bin/env bash
# Makes a release from a clean checkout: sets the version, dates the changelog, runs `.ci/run`,
# builds the packages and the bills of materials, commits and tags. It pushes nothing.
#
# usage: scripts/release.sh [--no-checks] VERSION
#
# VERSION is MAJOR.MINOR.PATCH (https://semver.org). It must be later than the current version, or
# equal to it if that version has not been released. --no-checks leaves out `.ci/run`, for a commit
# that has just passed it.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
    echo "release: $*" >&2
    exit 1
}
checks=yes
[ "${1:-}" != --no-checks ] || { checks=no; shift; }
[ $# -eq 1 ] || { sed -n '/^# usage/{s/^# //p;q}' "$0" >&2; exit 2; }
version=$1
[[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] ||
    die "$version is not a version; write MAJOR.MINOR.PATCH, for example 0.2.0"
old=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
[ "$(printf '%s\n%s\n' "$old" "$version" | sort -V | tail -n 1)" = "$version" ] ||
    die "$version is earlier than the current version, $old"
! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || die "the tag v$version exists already"
[ -z "$(git status --porcelain)" ] || die "the working tree has changes; commit or stash them first"

# The entries of the coming release.
changes() { sed -n '/^## \[Unreleased\]$/,/^## \[[0-9]/{/^## /d;p}' CHANGELOG.md; }
notes=$(changes)
grep -q '^- ' <<<"$notes" || die "CHANGELOG.md has no entries under [Unreleased]"

# If a step fails, the checkout is as it was before.
trap 'git checkout --quiet -- . && echo "release: failed; nothing has been changed" >&2' ERR

today=$(date +%F)
sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $today/" CHANGELOG.md
sed -i -e "s/^version = \"$old\"$/version = \"$version\"/" \
    -e "s/^\(mgn-[a-z]* = { version = \)\"$old\"/\1\"$version\"/" Cargo.toml
sed -i "0,/^version = \"$old\"$/s//version = \"$version\"/" python/Cargo.toml fuzz/Cargo.toml
# Only the versions of our own packages change in the lock files.
for lock in Cargo.lock python/Cargo.lock fuzz/Cargo.lock; do
    sed -i "/^name = \"mgn-/{n;s/^version = \"$old\"$/version = \"$version\"/}" "$lock"
done
{
    printf 'manganese (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n' "$version"
    printf ' -- The Manganese authors <manganese@localhost>  %s\n\n' "$(LC_ALL=C date -R)"
    [ "$old" = "$version" ] || cat debian/changelog
} >debian/changelog.new
mv debian/changelog.new debian/changelog

[ $checks = no ] || bash .ci/run
make deb sbom
git commit --quiet --all --message "Release $version"
git tag --annotate "v$version" --cleanup=verbatim --message "Manganese $version
$notes"
trap - ERR

echo "Manganese $version is committed and tagged, and its packages are in target/deb. To publish it:"
echo "  git push origin HEAD v$version"
