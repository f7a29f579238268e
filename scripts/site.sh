#!/usr/bin/env bash
# Makes the documentation site: target/site/html, from the pages that docs/site/SUMMARY.md lists.
#
# The pages keep their positions in the repository, so their links stay as they are. Files that
# pages link to are copied beside them.
set -euo pipefail
cd "$(dirname "$0")/.."

site=target/site
source=$site/source
rm -rf $site
mkdir -p $source
cp docs/site/book.toml docs/site/SUMMARY.md $source/

# links PAGE: the local files that a page links to.
links() {
    { grep -o ']([^)# ]*' "$1" || true; } | sed 's/^](//' | grep -v '://' | sort -u
}

mapfile -t pages < <(links docs/site/SUMMARY.md)
for page in "${pages[@]}"; do
    install -D -m644 "$page" "$source/$page"
    while read -r link; do
        [ -n "$link" ] || continue
        file=$(realpath -m --relative-to=. "$(dirname "$page")/$link")
        if [ -f "$file" ] && [ "${file%.md}" = "$file" ]; then
            install -D -m644 "$file" "$source/$file"
        fi
    done < <(links "$page")
done

mdbook build "$source"

# A page that is not in SUMMARY.md has no HTML, so a link to it would not work.
status=0
for page in "${pages[@]}"; do
    page=$site/html/${page%.md}.html
    while read -r link; do
        if [ ! -e "$(dirname "$page")/$link" ]; then
            echo "$page: a link to $link, which is not there; is its page in docs/site/SUMMARY.md?" >&2
            status=1
        fi
    done < <(sed -n '/<main>/,/<\/main>/p' "$page" | { grep -o 'href="[^"#:]*["#]' || true; } | sed 's/^href="//; s/["#]$//; /^$/d' | sort -u)
done
echo "The site: $site/html/index.html"
exit $status
