#!/usr/bin/env bash
# Runs the fuzz targets with coverage guidance. Ends with a table of the runs and the findings.
#
# usage: scripts/fuzz.sh [MINUTES [TARGET]]     fuzz each target, or one, for some minutes
#        scripts/fuzz.sh merge [TARGET]         add inputs that widen coverage to the corpora
#
# JOBS is the number of targets that run at once. The default is the number of processors. Inputs
# that were found are kept in target/fuzz/corpus, so a later run continues from there. Exits with 1
# if there are findings, and with 2 if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-1}
wanted=${2:-}
jobs=${JOBS:-$(nproc)}
place=target/fuzz
machine=$(rustc -vV | sed -n 's/^host: //p')
program=$place/$machine/release/mgn-fuzz
# A decoder that needs more than this for one input, in MiB or seconds, is a finding.
memory=1024
seconds=20

if [ "$minutes" != merge ] && ! [[ $minutes =~ ^[1-9][0-9]*$ ]]; then
    echo "MINUTES is a whole number from 1 on, not $minutes" >&2
    exit 2
fi

if ! command -v c++ >/dev/null; then
    echo "libFuzzer needs a C++ compiler: install g++ or clang" >&2
    exit 2
fi

# Stable Rust has the instrumentation. RUSTC_BOOTSTRAP makes it accept the option for
# AddressSanitizer as well. Only rustup's toolchains include the library of AddressSanitizer.
flags="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
flags+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
export RUSTC_BOOTSTRAP=1
mkdir -p $place
if echo 'fn main() {}' | rustc -Zsanitizer=address -o $place/probe - 2>/dev/null; then
    flags+=" -Zsanitizer=address"
else
    echo "This Rust has no AddressSanitizer: access outside of memory is found only where it crashes." >&2
fi
# The target is named so that build scripts and macros are built without these options.
CARGO_TARGET_DIR=$place RUSTFLAGS=$flags \
    cargo build --release --locked --manifest-path fuzz/Cargo.toml --target "$machine" || exit 2

mapfile -t targets < <("$program")
if [ -n "$wanted" ] && [ "$wanted" != sequences ]; then
    if [[ " ${targets[*]} " != *" $wanted "* ]]; then
        echo "There is no fuzz target $wanted. Targets: ${targets[*]} sequences" >&2
        exit 2
    fi
    targets=("$wanted")
elif [ "$wanted" = sequences ]; then
    targets=()
fi

# Memory that is still in use at the end is no finding. The limit finds memory that grows.
export ASAN_OPTIONS=detect_leaks=0

prepare() {
    mkdir -p "$place/corpus/$1" "$place/seeds/$1" "$place/found/$1" $place/logs
    rm -f "$place/seeds/$1"/*
    "$program" "$1" "$place/seeds/$1"
}

if [ "$minutes" = merge ]; then
    for target in "${targets[@]}"; do
        prepare "$target"
        mkdir -p "fuzz/corpus/$target"
        MGN_FUZZ_TARGET=$target "$program" -set_cover_merge=1 -max_len=2048 \
            "fuzz/corpus/$target" "$place/corpus/$target" 2>&1 | grep -E "MERGE-OUTER: .*(new files|added)" || true
    done
    du -sh --apparent-size fuzz/corpus
    exit 0
fi

fuzz_one() {
    local committed=()
    prepare "$1"
    [ ! -d "fuzz/corpus/$1" ] || committed=("fuzz/corpus/$1")
    MGN_FUZZ_TARGET=$1 "$program" -max_total_time=$((60 * minutes)) -timeout=$seconds \
        -rss_limit_mb=$memory -malloc_limit_mb=$memory -print_final_stats=1 \
        -artifact_prefix="$place/found/$1/" \
        "$place/corpus/$1" "${committed[@]}" "$place/seeds/$1" >"$place/logs/$1" 2>&1 ||
        echo "$1" >>$place/failed
}

rm -f $place/failed
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n || true
    done
    fuzz_one "$target" &
done
wait

# The last number after `word: ` in a target's log.
last() { grep -o "$1: *[0-9]*" "$place/logs/$2" | tail -n 1 | grep -o '[0-9]*$' || echo -; }

row="%-18s %14s %8s %10s %9s\n"
# shellcheck disable=SC2059
printf "$row" target executions edges features findings
status=0
for target in "${targets[@]}"; do
    findings=0
    if [ -e $place/failed ] && grep -qx "$target" $place/failed; then
        findings=1
        status=1
    fi
    # shellcheck disable=SC2059
    printf "$row" "$target" "$(last stat::number_of_executed_units "$target")" "$(last cov "$target")" \
        "$(last ft "$target")" $findings
done

# Random sequences of commands, which the software driver executes.
if [ -z "$wanted" ] || [ "$wanted" = sequences ]; then
    seed=$((RANDOM * 1000000))
    log=$place/logs/sequences
    findings=0
    if ! MGN_FUZZ_MINUTES=$minutes MGN_FUZZ_SEED=$seed env -u RUSTC_BOOTSTRAP \
        cargo test --locked -p mgn-render --test sequences -- --nocapture >$log 2>&1; then
        findings=1
        status=1
    fi
    number=$(grep -o '^[0-9]* sequences' $log | grep -o '^[0-9]*' || echo -)
    # shellcheck disable=SC2059
    printf "$row" sequences "$number" - - $findings
    if [ $findings -ne 0 ]; then
        echo
        echo "sequences: see $log. The sequence with the number N is run by:"
        echo "  MGN_FUZZ_SEED=N MGN_FUZZ_TRACE=1 cargo test -p mgn-render --test sequences -- --nocapture"
    fi
fi

if [ -e $place/failed ]; then
    while read -r target; do
        echo
        echo "$target: see $place/logs/$target"
        input=$(grep -o 'Test unit written to .*' "$place/logs/$target" | cut -d' ' -f5 || true)
        if [ -n "$input" ]; then
            echo "  the input:     $input"
            echo "  to reproduce:  MGN_FUZZ_TARGET=$target $program $input"
            echo "  once mended, add it to fuzz/corpus/$target: cargo test then feeds it."
        fi
    done <$place/failed
fi
exit $status
