#!/usr/bin/env bash
# Shows that the random sequences of commands find the mistakes that they should find: puts each
# mistake in crates/render/tests/mutants into a copy of the renderer, and measures the time until
# the sequences find it. Ends with a table.
#
# usage: scripts/mutants.sh [SEEDS]    with that many seeds for each mistake (5)
#        scripts/mutants.sh check      only check that all mistakes can still be put into the code
#
# Exits with 1 if a mistake was not found within two minutes or cannot be put into the code.
set -euo pipefail
cd "$(dirname "$0")/.."

seeds=${1:-5}
patches=(crates/render/tests/mutants/*.patch)
status=0

if [ "$seeds" = check ]; then
    for patch in "${patches[@]}"; do
        if ! git apply --check "$patch"; then
            echo "$patch does not fit the code: make the same mistake in today's code, and save its diff there" >&2
            status=1
        fi
    done
    exit $status
fi
if ! [[ $seeds =~ ^[1-9][0-9]*$ ]]; then
    echo "SEEDS is a whole number from 1 on, or the word check, not $seeds" >&2
    exit 2
fi

place=$PWD/target/mutants
source=$place/source
rm -rf "$source"
mkdir -p "$source"
git ls-files -z | tar --null -T - -c | tar -x -C "$source"
# The copy needs its own repository. Without one, git would apply the patches to this repository.
git -C "$source" init -q

# build: builds the sequences, and prints the path of the test.
build() {
    cd "$source"
    CARGO_TARGET_DIR=$place/target cargo test --locked -p mgn-render --test sequences --no-run --message-format=json 2>"$place/log" |
        sed -n 's/.*"executable":"\([^"]*\/sequences-[^"]*\)".*/\1/p'
}

# seconds TEST SEED: the time until the sequences find a fault. Empty if they find none.
seconds() {
    local start=$EPOCHREALTIME status=0
    MGN_FUZZ_MINUTES=3 MGN_FUZZ_SEED=$2 timeout $limit "$1" >"$place/found" 2>&1 || status=$?
    case $status in
    # 124: they are still running.
    0 | 124) ;;
    *) echo "$start $EPOCHREALTIME" | awk '{ printf "%.1f\n", $2 - $1 }' ;;
    esac
}

# must_build WHAT: builds, or prints that WHAT does not build and exits.
must_build() {
    test=$(build) || test=
    if [ -z "$test" ]; then
        cat "$place/log" >&2
        echo "$1 does not build" >&2
        exit 1
    fi
}

# A test that fails without a mistake proves nothing.
must_build "the renderer"
limit=10
if [ -n "$(seconds "$test" 1000000)" ]; then
    cat "$place/found" >&2
    echo "The sequences fail without any mistake." >&2
    exit 1
fi
limit=120

row="%-98s %6s %6s %6s\n"
# shellcheck disable=SC2059
printf "$row" mistake least median most
for patch in "${patches[@]}"; do
    git -C "$source" apply "$PWD/$patch"
    must_build "$patch"
    times=()
    for ((seed = 1; seed <= seeds; seed++)); do
        found=$(seconds "$test" $((seed * 1000000)))
        if [ -z "$found" ]; then
            found=">$limit"
            status=1
        fi
        times+=("$found")
    done
    git -C "$source" apply -R "$PWD/$patch"
    mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -V)
    # shellcheck disable=SC2059
    printf "$row" "$(head -n 1 "$patch")" "${times[0]}" "${times[$((seeds / 2))]}" "${times[$((seeds - 1))]}"
done
exit $status
