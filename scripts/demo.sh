#!/usr/bin/env bash
# Runs iso_demo (also as two copies that make one picture) and glxgears, directly and through a
# server, on an X server without a screen. Leaves pictures of both in target/demo, with summary.txt,
# which contains the rates and says whether the pictures are equal. Fails if any pictures differ.
# Then shows a wall of four renderers in the browser; in a terminal, until Enter is pressed. `make
# demo` builds the programs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/speeds.sh

mgn=${MGN:-target/release/mgn}
out=$PWD/target/demo
# Software rendering works on every machine. With a graphics card, the comparison would be the same.
export LIBGL_ALWAYS_SOFTWARE=1
unset WAYLAND_DISPLAY

rm -rf "$out"
mkdir -p "$out"

# The direct runs need an X server. --headless starts a separate one for each run through a server.
Xvfb -displayfd 3 -screen 0 1920x1200x24 -nolisten tcp -noreset \
    3>"$out/.display" 2>"$out/.xvfb.log" &
xvfb=$!
wall=
trap 'kill $xvfb $wall 2>/dev/null || true; wait $xvfb $wall 2>/dev/null || true; rm -f "$out"/.[a-z]*' EXIT
for _ in $(seq 200); do
    [ -s "$out/.display" ] && break
    kill -0 $xvfb 2>/dev/null || { cat "$out/.xvfb.log" >&2; exit 1; }
    sleep 0.05
done
direct_display=:$(cat "$out/.display")
failed=0

direct() { DISPLAY=$direct_display "$@"; }
ours() { env -u DISPLAY "$mgn" run --headless "$@"; }
rate_in() { sed -n 's/.*"frames_per_second": \([0-9.]*\).*/\1/p' "$1" | head -n 1; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }'; }
# The rows of the table as `RATIO NAME`, for the lines about speed.
ratios=$out/.ratios
say() { printf '%-24s %12s %12s %8s  %s\n' "$@" | tee -a "$out/summary.txt"; }

# compare ONE OTHER: sets `pictures` to whether two pictures are equal.
compare() {
    pictures="bit-identical"
    cmp -s "$1" "$2" || pictures=DIFFERENT failed=1
}

echo "$(nproc) processors, $("$mgn" --version)" | tee "$out/summary.txt"
say program "direct fps" "mgn fps" ratio pictures

# iso NAME OPTION...: a row of iso_demo.
iso() {
    local name=$1 a b
    shift
    set -- --frames 24 --size 800x600 --json "$@"
    direct target/demos/iso_demo "$@" --dump "24:$out/.direct.ppm" >"$out/.direct.json"
    ours --save "$out/$name" --every 12 -- \
        target/demos/iso_demo "$@" --dump "24:$out/.ours.ppm" >"$out/.ours.json"
    a=$(rate_in "$out/.direct.json")
    b=$(rate_in "$out/.ours.json")
    compare "$out/.direct.ppm" "$out/.ours.ppm"
    say "$name" "$a" "$b" "$(ratio "$b" "$a")" "$pictures"
    echo "$(ratio "$b" "$a") $name" >>"$ratios"
}

for mode in immediate arrays vbo static; do
    iso "iso_demo-$mode" --mode "$mode"
done
# The driver spends most of a frame on pixels. This row shows the cost of the commands alone.
iso iso_demo-commands --mode immediate --cull

# Two copies, each with half of the data, must give the picture of one copy with all of the data.
ours -np 2 --composite depth --save "$out/two-copies" --every 12 -- \
    target/demos/iso_demo --mode static --frames 24 --size 800x600 --part %r/%n >/dev/null
compare "$out/iso_demo-static/frame-000024.png" "$out/two-copies/frame-000024.png"
say "iso_demo, two copies" - - - "$pictures"

# glxgears moves by the clock, so `mgn verify` compares its pictures with a clock that counts
# frames.
ours --save "$out/glxgears" --every 20 --frames 60 -- glxgears >/dev/null
pictures=$("$mgn" verify --headless --frames 60 --every 20 -- glxgears 2>&1 | tail -n 1) || failed=1
gears_rate() { sed -n 's/.* = \([0-9.]*\) FPS.*/\1/p' | head -n 1; }
a=$(direct timeout 7 glxgears 2>/dev/null | gears_rate || true)
b=$(ours -- timeout 7 glxgears 2>/dev/null | gears_rate || true)
say glxgears "${a:-0}" "${b:-0}" "$(ratio "${b:-0}" "${a:-0}")" \
    "$pictures"

echo "$(ratio "${b:-0}" "${a:-0}") glxgears" >>"$ratios"

# address_of_wall: waits until the wall is shown, and prints its address for the browser.
address_of_wall() {
    local address
    for _ in $(seq 200); do
        address=$(sed -n 's/.*is shown at \(http:[^ ]*\).*/\1/p' "$out/.wall.log")
        [ -z "$address" ] || { echo "$address"; return; }
        kill -0 $wall 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}
# answers ADDRESS: whether the page can be loaded.
answers() {
    local host=${1#http://} line
    host=${host%%/*}
    exec 4<>"/dev/tcp/${host%:*}/${host##*:}" || return 1
    printf 'GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$host" >&4
    read -r -t 10 line <&4 || true
    exec 4>&-
    [[ $line == *" 200 "* ]]
}

"$mgn" run --headless --wall 2x2 --viewer -- target/demos/iso_demo --mode static --size 800x600 \
    >/dev/null 2>"$out/.wall.log" &
wall=$!

echo
echo "Pictures of the runs through the server: ${out#"$PWD"/}/*/frame-*.png; this table: ${out#"$PWD"/}/summary.txt"
speeds <"$ratios"
if address=$(address_of_wall) && answers "$address"; then
    if [ -t 0 ] && [ -t 1 ]; then
        echo "A wall of four renderers, live in the browser: $address"
        read -r -p "Press Enter to end it. " _ || true
    else
        echo "A wall of four renderers, live in the browser: it answered at ${address%%#*}. To see it:"
        echo "  $mgn run --headless --wall 2x2 --viewer -- target/demos/iso_demo"
    fi
else
    echo "The wall in the browser did not come up:" >&2
    cat "$out/.wall.log" >&2
    failed=1
fi
exit $failed
