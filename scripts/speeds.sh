# The part of `make demo` about speed; scripts/demo.sh sources this file.

# why NAME: the reason why a row is fast or slow.
why() {
    case $1 in
    iso_demo-immediate) echo "glBegin and glEnd become arrays before they reach the driver" ;;
    iso_demo-commands) echo "no pixels are drawn, and glBegin and glEnd become arrays before they reach the driver" ;;
    iso_demo-arrays | iso_demo-vbo) echo "all vertices of a frame are copied once more, to the server" ;;
    iso_demo-static) echo "the vertices stay at the server; the program and the renderer share the processors" ;;
    glxgears) echo "its frames are short, and each picture comes back to be shown" ;;
    esac
}

# speeds: reads rows. Each row contains a ratio to the local driver's speed and a name. Prints the
# best row and the worst row, whether their ratios are above or below 1. Rows without a ratio do not
# count.
speeds() {
    local rows best worst
    rows=$(grep '^[0-9]' | sort -n) || true
    [ -n "$rows" ] || return 0
    worst=${rows%%$'\n'*}
    best=${rows##*$'\n'}
    echo "Fastest: ${best#* }, ${best%% *} times the local driver's speed: $(why "${best#* }")."
    echo "Slowest: ${worst#* }, ${worst%% *} times the local driver's speed: $(why "${worst#* }")."
}
