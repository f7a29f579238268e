#!/usr/bin/env bash
# Runs the README's commands in fresh, minimal Debian roots, like a new user, and then removes the
# roots.
#
# usage: scripts/fresh-root.sh [--suite NAME] [--keep] [GOAL...]
#
#   demo        `make demo`, as root
#   machine     `make test-machine` in the root of `demo`: the tests that depend most on Mesa
#   test        `make test`, as root, in the root of `demo`
#   user        `make demo`, as an ordinary user with sudo; reuses the build of `demo`
#   packages    `make deb` in the root of `demo`; another root, without compiler or Rust, installs
#               the packages and draws glxgears into a picture
#
# With PROFILE=dev, programs are built with the profile that the tests use. This takes half the
# time, because `test` builds them anyway.
#
# The default goals are: demo, test, user, packages. --suite names a release of Debian (default:
# trixie). --keep keeps the roots and prints their paths.
#
# A root contains debootstrap's minbase variant, `make`, and the source tree: the tracked files of
# the working tree, with their changes. It uses the network of this machine, its Debian mirror,
# apt's settings for proxies and expired package lists, its proxy variables and its extra
# certificates (/usr/local/share/ca-certificates). It has its own mounts, processes and shared
# memory. Downloads are kept in target/fresh-root for later runs.
#
# Exits with 0 if all goals passed, with 1 if a goal failed, and with 77 if no root can be made.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=trixie
keep=no
goals=()
while [ $# -gt 0 ]; do
    case $1 in
    --suite)
        suite=${2:?--suite needs the name of a Debian release}
        shift
        ;;
    --keep) keep=yes ;;
    demo | machine | test | user | packages) goals+=("$1") ;;
    *)
        sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#goals[@]} -gt 0 ] || goals=(demo test user packages)

cannot() {
    echo "fresh-root: no root can be made: $1" >&2
    exit 77
}
[ "$(id -u)" -eq 0 ] || cannot "this needs root (sudo $0)"
if ! command -v debootstrap >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y install debootstrap </dev/null >&2 ||
        { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install debootstrap; } </dev/null >&2 ||
        cannot "debootstrap is not installed and could not be (apt-get install debootstrap)"
fi
unshare --mount --pid --ipc --fork true 2>/dev/null || cannot "this system allows no new mount and process namespaces"

cache=$PWD/target/fresh-root/$suite
mkdir -p "$cache/debs/partial" "$cache/crates"
roots=$(mktemp -d /var/tmp/manganese-root.XXXXXX)
finish() {
    if [ $keep = yes ]; then
        echo "fresh-root: the roots are kept: $roots" >&2
    else
        # Their mounts were in namespaces that no longer exist.
        rm -rf --one-file-system "$roots"
    fi
}
trap finish EXIT
# debootstrap makes device files as well.
mknod "$roots/device" c 1 3 2>/dev/null || cannot "this system allows no device files in $roots"
# The first process of a root's namespace. When it ends, all other processes there end.
first=
trap '[ -z "$first" ] || kill -KILL "$first" 2>/dev/null; exit 130' INT TERM

# The first Debian mirror among this machine's package sources.
mirror() {
    local found
    found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        sed -n -e 's/^URIs: *\([^ ]*\/debian\)\/\{0,1\}\( .*\)\{0,1\}$/\1/p' \
            -e 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\/debian\)\/\{0,1\} .*/\2/p' | head -n 1)
    echo "${found:-http://deb.debian.org/debian}"
}

# base: the minimal root of this suite, made once for each run.
base() {
    if [ ! -d "$roots/base" ]; then
        echo "fresh-root: debootstrap $suite" >&2
        # An older debootstrap has no script for this suite. The script of unstable works.
        local scripts=/usr/share/debootstrap/scripts script=()
        [ -e "$scripts/$suite" ] || script=("$scripts/sid")
        if ! debootstrap --variant=minbase --cache-dir="$cache/debs" "$suite" "$roots/base" "$(mirror)" "${script[@]}" >"$roots/debootstrap.log" 2>&1; then
            tail -n 5 "$roots/debootstrap.log" >&2
            echo "fresh-root: debootstrap $suite failed, see above" >&2
            exit 1
        fi
    fi
}

# new NAME: a root with the base and the source tree in /manganese, and no other files.
new() {
    base
    cp -a "$roots/base" "$roots/$1"
    cp -L /etc/resolv.conf "$roots/$1/etc/resolv.conf" 2>/dev/null || true
    mkdir -p "$roots/$1/usr/local/share/ca-certificates" "$roots/$1/manganese"
    cp /usr/local/share/ca-certificates/*.crt "$roots/$1/usr/local/share/ca-certificates/" 2>/dev/null || true
    # The package lists of a frozen mirror have expired. The root accepts them if this machine does.
    apt-config dump Acquire::Check-Valid-Until >"$roots/$1/etc/apt/apt.conf.d/valid-until" 2>/dev/null || true
    apt-config dump | grep -E '^Acquire::https?::Proxy(::[^ ]*)? ' >"$roots/$1/etc/apt/apt.conf.d/proxy" || true
    # A new root has no CA certificates, and needs them to download packages from an https mirror.
    if [[ $(mirror) == https:* ]]; then
        cp -L /etc/ssl/certs/ca-certificates.crt "$roots/$1/etc/apt/certificates.crt"
        echo 'Acquire::https::CAInfo "/etc/apt/certificates.crt";' >"$roots/$1/etc/apt/apt.conf.d/certificates"
    fi
    git ls-files -z | tar --null --create --files-from=- --owner=0 --group=0 | tar --extract --directory="$roots/$1/manganese"
}

# inside NAME COMMAND: runs a line of shell in the root, in separate namespaces. Builds are not
# incremental, because each program is built only once, and have no debug information, because no
# debugger is used. Programs are optimised as for a user, unless PROFILE names another profile (see
# the Makefile).
inside() {
    local root=$roots/$1 command=$2 passed=("${profile[@]}") name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [ -z "${!name:-}" ] || passed+=("$name=${!name}")
    done
    mkdir -p "$root/cargo/registry" "$root/var/cache/apt/archives/partial"
    unshare --mount --pid --ipc --uts --fork --kill-child --propagation private -- \
        env -i "${passed[@]}" HOME=/root CARGO_HOME=/cargo CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 LANG=C.UTF-8 TERM=dumb CI="${CI:-}" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        bash -euc '
            root=$1 cache=$2
            hostname fresh
            mount --bind "$root" "$root"
            mount -t proc proc "$root/proc"
            mount -t sysfs sysfs "$root/sys"
            mount -t tmpfs -o mode=755 tmpfs "$root/dev"
            for node in null zero full random urandom tty; do
                : >"$root/dev/$node"
                mount --bind "/dev/$node" "$root/dev/$node"
            done
            mkdir "$root/dev/pts" "$root/dev/shm"
            mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
            ln -s pts/ptmx "$root/dev/ptmx"
            ln -s /proc/self/fd "$root/dev/fd"
            mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
            mount --bind "$cache/debs" "$root/var/cache/apt/archives"
            mount --bind "$cache/crates" "$root/cargo/registry"
            cd "$root"
            mkdir -p .before
            pivot_root . .before
            umount -l /.before
            rmdir /.before
            cd /manganese
            exec bash -euc "$3"
        ' fresh-root "$root" "$cache" "$command" </dev/null &
    first=$!
    local status=0
    wait "$first" || status=$?
    first=
    return $status
}

# Settings that are the same for all goals, so that no goal rebuilds what another goal has built.
# With PROFILE=dev, they include the linker that `make test` prefers (links_slowly in
# xtask/src/testing.rs).
tools=make
profile=()
untaken=(--exclude=manganese/target/demo)
if [ "${PROFILE:-release}" = dev ]; then
    tools+=" lld"
    profile=(PROFILE=dev RUSTFLAGS=-Clink-arg=-fuse-ld=lld)
else
    untaken+=(--exclude=manganese/target/debug)
fi

quiet_apt='DEBIAN_FRONTEND=noninteractive apt-get -qq -y'

failed=()
table=""
# goal NAME COMMAND...: runs the command, and records its result and its duration.
goal() {
    local name=$1 started=$SECONDS how=passed
    shift
    echo "== fresh $suite: $name"
    # `set -e` does not apply in a function whose status is tested. So the steps below are joined by
    # && or ||.
    "$@" || { how=FAILED; failed+=("$name"); }
    table+=$(printf '\n  %-10s %-7s %5d s' "$name" $how $((SECONDS - started)))
}

has_built=no
built() {
    [ $has_built = no ] || return 0
    new built &&
        inside built "$quiet_apt update && $quiet_apt install --no-install-recommends $tools >/dev/null" &&
        has_built=yes
}

demo() { built && inside built 'make demo'; }

machine() { built && inside built 'make test-machine'; }

# The sshd is the one that `make test` unpacks. The conformance programs take the three ways that
# differ most: the other three would add five minutes.
tests() { built && inside built 'MGN_NEED_SSHD=1 MGN_WAYS=shm,wall-uneven,stages-wall-tcp make test'; }

user() {
    new user || return
    inside user "$quiet_apt update && $quiet_apt install --no-install-recommends $tools sudo >/dev/null
        useradd --create-home --shell /bin/bash newcomer
        echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/newcomer" || return
    # The files that `demo` has built stay up to date, because the copy keeps their times.
    if [ $has_built = yes ]; then
        tar --create --directory="$roots/built" "${untaken[@]}" manganese |
            tar --extract --directory="$roots/user" || return
    fi
    # Cargo's folder for downloads and its settings for builds are the same as for `demo`.
    # Otherwise, Cargo would build everything again.
    inside user "chown -R newcomer: /manganese /cargo
        su - newcomer --whitelist-environment=CARGO_HOME,CARGO_INCREMENTAL,CARGO_PROFILE_DEV_DEBUG,PROFILE,RUSTFLAGS -c 'cd /manganese && make demo'"
}

# Defines `stripped FILE...`, which fails if one of the files has debug symbols.
stripped='stripped() {
    for file; do
        sections=$(readelf --sections "$file") || exit 1
        if grep -q "\.debug_info" <<<"$sections"; then echo "$file has debug symbols" >&2; exit 1; fi
    done
}'

packages() {
    built && inside built "$stripped
        make deb
        make install DESTDIR=/tmp/installed >/dev/null
        stripped /tmp/installed/usr/local/bin/mgn /tmp/installed/usr/local/lib/manganese/*.so" || return
    new bare || return
    mkdir -p "$roots/bare/packages" &&
        cp "$roots/built/manganese/target/deb/"*.deb "$roots/bare/packages/" || return
    rm -rf "$roots/bare/manganese"
    mkdir "$roots/bare/manganese"
    local started=$SECONDS
    inside bare "$quiet_apt update && $quiet_apt install --no-install-recommends /packages/manganese_*.deb /packages/libmanganese0_*.deb xvfb mesa-utils >/dev/null
        mgn run --headless --save /pictures --frames 10 -- glxgears >/dev/null
        test -s /pictures/frame-000010.png" || return
    echo "packages: from nothing to a picture of glxgears in $((SECONDS - started)) s"
    # A user's program is built with the library. Then everything is removed again.
    inside bare "$stripped
        $quiet_apt install --no-install-recommends /packages/*.deb gcc libc6-dev pkg-config >/dev/null
        stripped /usr/bin/mgn /usr/lib/manganese/libmgn_client.so \$(dpkg -L manganese libmanganese0 | grep -E '\.so(\.|$)')
        gcc -o /tmp/pingpong /usr/share/doc/libmanganese-dev/examples/pingpong.c \$(pkg-config --cflags --libs manganese)
        for package in manganese libmanganese0; do
            test \$(dpkg -L \$package-dbgsym | grep -c 'build-id/.*debug\$') -ge 1 || { echo \"\$package has no debug symbols\" >&2; exit 1; }
        done
        test -e /usr/lib/systemd/system/mgn-server@.service || { echo 'the package has no systemd units' >&2; exit 1; }
        test \$(dpkg -L manganese | grep -c /share/man/) -gt 5 || { echo 'the package has no manual pages' >&2; exit 1; }
        $quiet_apt purge 'manganese*' 'libmanganese*' >/dev/null
        if command -v mgn; then echo 'mgn is still there' >&2; exit 1; fi"
}

for name in "${goals[@]}"; do
    case $name in
    demo) goal demo demo ;;
    machine) goal machine machine ;;
    test) goal test tests ;;
    user) goal user user ;;
    packages) goal packages packages ;;
    esac
done

echo "fresh-root: Debian $suite$table"
[ ${#failed[@]} -eq 0 ] || exit 1
