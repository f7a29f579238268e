# The part of `make demo` about speed; scripts/demo.sh sources this file.

# why NAME: what makes a row as fast or slow as it is.
why() {
    case $1 in
    iso_demo-immediate) echo "glBegin and glEnd become arrays before they reach the driver" ;;
    iso_demo-commands) echo "no pixels are drawn, and glBegin and glEnd become arrays before they reach the driver" ;;
    iso_demo-arrays | iso_demo-vbo) echo "all vertices of a frame are copied once more, to the server" ;;
    iso_demo-static) echo "the vertices stay at the server; the program and the renderer share the processors" ;;
    glxgears) echo "its frames are short, and each picture comes back to be shown" ;;
    esac
}

# speeds: reads rows, each a ratio to the local driver's speed and a name, and prints the best one and
# the worst, whether they are above 1 or below. Rows without a ratio do not count.
speeds() {
    local rows best worst
    rows=$(grep '^[0-9]' | sort -n) || true
    [ -n "$rows" ] || return 0
    worst=${rows%%$'\n'*}
    best=${rows##*$'\n'}
    echo "Fastest: ${best#* }, ${best%% *} times the local driver's speed: $(why "${best#* }")."
    echo "Slowest: ${worst#* }, ${worst%% *} times the local driver's speed: $(why "${worst#* }")."
}
