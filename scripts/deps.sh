#!/usr/bin/env bash
# Installs, through apt-get, the packages that `make` needs and this machine lacks. Says which
# packages it installs and why.
#
# usage: scripts/deps.sh build|demo|test|python|aarch64|apps|bench|fuzz|lint|site|sbom|deb|conformance
#
# Does not touch programs that exist already, no matter where they come from. If a missing package
# cannot be installed, prints one clear message and exits with 1.
set -euo pipefail

goal=${1:-}
case $goal in
build | demo | test | python | aarch64 | apps | bench | fuzz | lint | site | sbom | deb | conformance) ;;
*)
    echo "usage: $0 build|demo|test|python|aarch64|apps|bench|fuzz|lint|site|sbom|deb|conformance" >&2
    exit 2
    ;;
esac

# The oldest Rust that builds this project. Debian 13 has it.
rust_wanted=1.85

packages=()
needs=()
extras=()

# want PACKAGE WHY CHECK...: records PACKAGE as missing if the check fails.
want() {
    local package=$1 why=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        packages+=("$package")
        needs+=("$package  ($why)")
    fi
}

# like PACKAGE WHY CHECK...: as want, for packages that `make` can do without.
like() {
    local package=$1
    shift 2
    "$@" >/dev/null 2>&1 || extras+=("$package")
}

# like_paraview WHY: as like, for the release of ParaView whose IceT is in the comparison. Another
# release is useless, and installs hundreds of packages.
like_paraview() {
    case $(candidate paraview-dev) in
    5.11.*) like paraview-dev "$1" test -e /usr/include/paraview-5.11/vtkicet/src/include/IceT.h ;;
    esac
}

have() { command -v "$1"; }
have_for_root() { PATH=$PATH:/sbin:/usr/sbin command -v "$1"; }
header() { have gcc && echo "#include <$1>" | gcc -E -x c - -o /dev/null; }
library() { PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -F "$1 "; }
# Mesa's drivers are one library since 24.2. Before, each driver was a file.
mesa_driver() { compgen -G '/usr/lib/*/dri/swrast_dri.so' || compgen -G '/usr/lib/*/libgallium-*.so' || compgen -G '/usr/lib*/dri/swrast_dri.so'; }
pip() { python3 -m pip --version; }

rust_version() { cargo --version 2>/dev/null | sed -n 's/^cargo \([0-9]*\.[0-9]*\).*/\1/p' || true; }
at_least() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }
# candidate PACKAGE: the version that would be installed. Empty if none is known.
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p' || true; }
packaged_rust() { candidate cargo | sed -n 's/^\([0-9]*\.[0-9]*\).*/\1/p'; }

# See links_slowly in xtask/src/testing.rs.
rust_links_fast() { at_least "$(rust_version)" 1.90; }
rust_is_there() { at_least "$(rust_version)" $rust_wanted; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# sudo may ask for a password at the terminal; apt-get asks no questions.
apt() { as_root sh -c 'DEBIAN_FRONTEND=noninteractive exec apt-get -qq -y "$@" </dev/null' apt "$@"; }

can_install() {
    have apt-get >/dev/null || return 1
    [ "$(id -u)" -eq 0 ] && return 0
    have sudo >/dev/null || return 1
    [ -t 0 ] || sudo -n true 2>/dev/null
}

want ca-certificates "lets cargo and pip trust where they download from" test -e /etc/ssl/certs/ca-certificates.crt
want gcc "C compiler for the demos and for libraries in C" have gcc
want libc6-dev "headers of the C library" header stdio.h
want cmake "builds the JPEG library" have cmake
want nasm "makes the JPEG library fast" have nasm
want libgl-dev "headers of OpenGL" header GL/glx.h
want libegl-dev "headers of EGL" header EGL/egl.h
want libx11-dev "headers of X11" header X11/Xlib.h
case $goal in demo | test | apps | bench | fuzz | conformance)
    want libgl1 "the system's OpenGL library, GLVND" library libGL.so.1
    want libglx-mesa0 "OpenGL for X, to compare with" library libGLX_mesa.so.0
    want libegl1 "the system's EGL library" library libEGL.so.1
    want libegl-mesa0 "EGL, with which the server renders" library libEGL_mesa.so.0
    want libgl1-mesa-dri "Mesa's drivers, one of which needs no graphics card" mesa_driver
    want xvfb "X server without a screen" have Xvfb
    want mesa-utils "glxgears" have glxgears
    ;;
esac
# The system's Python. Another Python does not find the packages of the system.
module() { /usr/bin/python3 -c "import $1"; }
if [ "$goal" = apps ] || [ "$goal" = bench ]; then
    program=want
    [ "$goal" = apps ] || program=like
    $program glmark2-x11 "a benchmark, and a program to compare pictures of" have glmark2
    $program chromium-bsu "another one, with older OpenGL" test -x /usr/games/chromium-bsu
    $program xdotool "plays it" have xdotool
    $program python3-vtk9 "meshes and volumes" module vtk
fi
if [ "$goal" = bench ]; then
    like libopenmpi-dev "messages of Open MPI, to compare with" test -e /usr/lib/*/openmpi/include/mpi.h
    like openmpi-bin "starts them" have mpirun.openmpi
    like libmpich-dev "messages of MPICH" test -e /usr/include/*/mpich/mpi.h
    like mpich "starts them" have mpirun.mpich
    like_paraview "composites with IceT, to compare with"
    like ucx-utils "messages of UCX" have ucx_perftest
    like netpipe-openmpi "measures Open MPI, to compare with" have NPopenmpi
    like netpipe-mpich2 "measures MPICH" have NPmpich2
    like virgl-server "another renderer in another process" have virgl_test_server
fi
if [ "$goal" = bench ] || [ "$goal" = test ]; then
    like iproute2 "gives processes networks of their own, and makes them slow" have_for_root tc
    like nftables "loses packets" have_for_root nft
    like ethtool "has them sent one by one" have_for_root ethtool
fi
if [ "$goal" = aarch64 ]; then
    want gcc-aarch64-linux-gnu "compiles and links programs for 64-bit ARM" have aarch64-linux-gnu-gcc
    want libc6-dev-arm64-cross "headers of its C library" test -e /usr/aarch64-linux-gnu/include/stdio.h
    want qemu-user "runs them" have qemu-aarch64
fi
if [ "$goal" = apps ]; then
    want glmark2-es2-x11 "another one, with OpenGL ES" have glmark2-es2
    want love "a game engine" have love
    want python3-moderngl "OpenGL 3.3 without a window" module moderngl
    want python3-pyglet "windows and sprites" module pyglet
    want python3-vispy "plots" module vispy
    want python3-pygame "SDL" module pygame
    want python3-opengl "OpenGL for Python" module OpenGL
    want python3-pyqt5.qtopengl "Qt's OpenGL widget" module PyQt5.QtOpenGL
    want python3-gi "GTK for Python" module gi
    want godot3 "another game engine" have godot3
    want python3-venv "keeps packages of PyPI apart" module venv
    want gir1.2-gtk-4.0 "GTK 4 for Python" module "gi; gi.require_version('Gtk', '4.0')"
    want gir1.2-gtk-3.0 "GTK's OpenGL area" module "gi; gi.require_version('Gtk', '3.0')"
fi
if [ "$goal" = conformance ]; then
    want piglit "other people's tests of OpenGL" have piglit
    want waffle-utils "tells piglit what the driver has" have wflinfo
fi
if [ "$goal" = test ]; then
    want python3-pip "fetches the registry of OpenGL" pip
    want pkg-config "tells C programs where the message library is" have pkg-config
    want g++ "C++ compiler for the message library's header" have c++
    want man-db "shows its manual pages" have man
    rust_links_fast || like lld "links the many test programs, four times as fast as binutils" have ld.lld
    like openmpi-bin "starts processes of parallel jobs" have mpiexec.openmpi
    like mpich "starts processes of parallel jobs" have mpiexec.hydra
    like libmpich-dev "messages of MPICH, to compare with" test -e /usr/include/*/mpich/mpi.h
    like libopenmpi-dev "composites with IceT, to compare with" test -e /usr/lib/*/openmpi/include/mpi.h
    like_paraview "composites with IceT, to compare with"
    # python3-paraview conflicts with Debian's VTK for Python, which is kept if it is installed.
    case $(candidate python3-paraview) in
    5.11.*) module vtkmodules 2>/dev/null || like python3-paraview "draws by ParaView" module paraview ;;
    esac
    like chromium "looks at the viewer's page" have chromium
    like openssh-client "reaches the other host in tests" have ssh-keygen
    like xauth "shows here the windows of programs over there" have xauth
fi
if [ "$goal" = python ]; then
    want python3-venv "keeps packages of PyPI apart" module ensurepip
    want python3-numpy "arrays" module numpy
    like openmpi-bin "starts processes of parallel jobs" have mpiexec.openmpi
    like mpich "starts processes of parallel jobs" have mpiexec.hydra
    like python3-mpi4py "lets processes find each other" module mpi4py
    like xvfb "X server without a screen" have Xvfb
fi
if [ "$goal" = fuzz ]; then
    want g++ "C++ compiler for libFuzzer" have c++
fi
if [ "$goal" = deb ]; then
    want debhelper "makes Debian packages" have dh
    want dpkg-dev "makes Debian packages" have dpkg-shlibdeps
fi
if ! rust_is_there; then
    # If the lists are empty, the package's version is known only after an update.
    if [ -z "$(packaged_rust)" ] && can_install; then
        apt update || true
    fi
    if at_least "$(packaged_rust)" $rust_wanted; then
        packages+=(cargo rustfmt)
        needs+=("cargo  (Rust's build tool)")
    fi
fi

if [ ${#packages[@]} -gt 0 ]; then
    echo "Missing:" >&2
    printf '  %s\n' "${needs[@]}" >&2
    if ! can_install; then
        echo "Please run as root: apt-get install ${packages[*]}" >&2
        exit 1
    fi
    echo "Installing: apt-get install ${packages[*]}" >&2
    if ! apt install --no-install-recommends "${packages[@]}"; then
        # The lists may be empty or outdated.
        apt update || true
        if ! apt install --no-install-recommends "${packages[@]}"; then
            echo "apt-get could not install ${packages[*]}; see its message above. Is there a network?" >&2
            exit 1
        fi
    fi
    hash -r
fi

# One call for all packages is faster. If one is not available, they are installed one by one.
if [ ${#extras[@]} -gt 0 ]; then
    install_extras() { can_install && apt install --no-install-recommends "$@"; }
    install_extras "${extras[@]}" || for extra in "${extras[@]}"; do
        install_extras "$extra" || echo "skipped: what needs $extra, which could not be installed" >&2
    done
fi

# sshd for the tests of `--ssh`. Installing its package would start a server. So it is only
# unpacked, together with the packages that it needs and this machine lacks.
sshd=$(cd "$(dirname "$0")/.." && pwd)/target/sshd
has_sshd() { have_for_root sshd || [ -x /usr/local/sbin/sshd ] || [ -x "$sshd/usr/sbin/sshd" ]; }
download_sshd() {
    # This takes no locks, because it installs nothing and does not require root.
    apt-get -qq -y -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Dir::Cache::Archives="$sshd.new/packages" \
        --no-install-recommends --download-only install openssh-server </dev/null
}
unpack_sshd() {
    local package
    have apt-get && have dpkg && rm -rf "$sshd.new" && mkdir -p "$sshd.new/packages/partial" || return
    download_sshd || { can_install && apt update && download_sshd; } || return
    for package in "$sshd.new/packages"/*.deb; do
        dpkg -x "$package" "$sshd.new" || return
    done
    rm -rf "$sshd" "$sshd.new/packages" && mv "$sshd.new" "$sshd"
}
if [ "$goal" = test ] && ! has_sshd >/dev/null; then
    echo "Unpacking: openssh-server, into target/sshd; it is not installed" >&2
    if ! unpack_sshd >/dev/null; then
        rm -rf "$sshd.new"
        echo "skipped: what needs sshd, which could not be unpacked" >&2
    fi
fi

if ! rust_is_there; then
    found=$(rust_version)
    echo "cargo ${found:-(none)} is here and $rust_wanted or newer is needed, which this system's packages lack." >&2
    echo "Get it from https://rustup.rs:" >&2
    echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt" >&2
    exit 1
fi

if [ "$goal" = aarch64 ]; then
    if ! have rustup >/dev/null; then
        echo "make test-aarch64 needs rustup, which has Rust's library for 64-bit ARM: https://rustup.rs" >&2
        exit 1
    fi
    rustup --quiet target add aarch64-unknown-linux-gnu
fi

# Clippy and rustfmt come with the same Rust as cargo. cargo-deny and cargo-cyclonedx come from
# crates.io, in versions that Rust 1.85 can build.
if [ "$goal" = lint ]; then
    if ! { cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1; then
        if have rustup >/dev/null; then
            rustup component add clippy rustfmt
        else
            apt install --no-install-recommends rust-clippy rustfmt
        fi
    fi
    if ! cargo deny --version >/dev/null 2>&1; then
        echo "Installing: cargo install cargo-deny" >&2
        cargo install --quiet --locked cargo-deny@0.18.3 --no-default-features
    fi
fi
if [ "$goal" = sbom ] && ! cargo cyclonedx --version >/dev/null 2>&1; then
    echo "Installing: cargo install cargo-cyclonedx" >&2
    cargo install --quiet --locked cargo-cyclonedx@0.5.9
fi

if [ "$goal" = site ] && ! have mdbook >/dev/null; then
    echo "Installing: cargo install mdbook" >&2
    cargo install --quiet --locked mdbook@0.4.52 --no-default-features --features search
fi

# pyvista comes from PyPI, because it needs another VTK than Debian's. Without a network, the
# gallery leaves it out.
pyvista=0.49.1
venv=$(dirname "$0")/../target/gallery-python
if [ "$goal" = apps ] && ! "$venv/bin/python" -c 'import pyvista' 2>/dev/null; then
    echo "Installing: pyvista $pyvista, from PyPI, into target/gallery-python" >&2
    if ! { /usr/bin/python3 -m venv "$venv" && "$venv/bin/pip" install --quiet "pyvista==$pyvista"; } >&2; then
        echo "skipped: pyvista, which could not be installed" >&2
        rm -rf "$venv"
    fi
fi
