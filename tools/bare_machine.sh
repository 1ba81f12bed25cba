#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bare_machine.sh [--keep] [COMMAND...]: do the README's commands work on a
# machine that has nothing?
#
# Makes a minimal Debian of this host's package mirror in a temporary folder,
# clones HEAD into it, and runs there, with no CUDA Toolkit in sight, the commands
# that the README gives (or those named). Of the host only what a network needs
# comes along: package sources, certificates and proxies, as set up at this
# moment. Needs root, debootstrap and git.
#
#   --keep   leave the folder, and say where it is
set -euo pipefail
cd "$(dirname "$0")/.."

suite=bookworm
keep=false
if [ "${1:-}" = --keep ]; then
    keep=true
    shift
fi

die() {
    echo "bare_machine: $*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || die "needs root, for chroot"
for tool in debootstrap git apt-get; do
    command -v "$tool" >/dev/null || die "needs $tool"
done

root=$(mktemp -d "${TMPDIR:-/var/tmp}/bare-machine.XXXXXX")

clean_up() {
    local m
    for m in proc dev; do
        if mountpoint -q "$root/$m"; then
            umount "$root/$m" || umount -l "$root/$m" || keep=true
        fi
    done
    if $keep; then
        echo "bare_machine: kept $root"
    else
        rm -rf --one-file-system "$root"
    fi
}
trap clean_up EXIT
trap 'exit 143' HUP INT TERM

# 'URI codename' of every Debian repository that apt on this host knows.
debian_sources() {
    # shellcheck disable=SC2016  # apt expands these, not the shell
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN)' \
        'Identifier: Packages' |
        awk -v s="$suite" '$3 == "Debian" && index($2, s) == 1 {print $1, $2}' |
        sort -u
}

copy_if_there() {
    local f
    for f in "$@"; do
        if [ -e "$f" ]; then
            mkdir -p "$root$(dirname "$f")"
            cp -RL "$f" "$root$(dirname "$f")/"
        fi
    done
}

make_root() {
    local mirror
    mirror=$(debian_sources | awk -v s="$suite" '$2 == s {print $1; exit}')
    [ -n "$mirror" ] || die "apt on this host has no source for $suite; \
run apt-get update first"
    echo "bare_machine: a minimal $suite in $root"
    debootstrap --variant=minbase "$suite" "$root" "$mirror" \
        >"$root.log" 2>&1 || {
        tail -n 20 "$root.log" >&2
        die "debootstrap failed"
    }
    rm -f "$root.log"
    debian_sources | while read -r uri codename; do
        echo "deb $uri $codename main"
    done >"$root/etc/apt/sources.list"
}

# How this host reaches the package registries.
carry_over() {
    local f
    for f in /etc/apt/apt.conf.d/99*; do
        copy_if_there "$f"
    done
    copy_if_there /etc/apt/apt.conf /etc/apt/auth.conf /etc/apt/auth.conf.d \
        /etc/hosts /etc/resolv.conf /etc/pip.conf "$HOME/.config/pip" \
        "$HOME/.pip" /etc/ssl/certs/ca-certificates.crt \
        /usr/local/share/ca-certificates
    if [ -d /usr/share/keyrings ]; then
        cp -n /usr/share/keyrings/debian-* "$root/usr/share/keyrings/"
    fi
}

network_environment() {
    env | grep -E '^([A-Za-z]+_proxy|[A-Z]+_PROXY|PIP_[A-Z_]+|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)=' |
        grep -v '^PIP_FIND_LINKS=/' || true
}

mount_kernel() {
    mount -t proc proc "$root/proc" 2>/dev/null ||
        mount --bind /proc "$root/proc" ||
        die "cannot mount /proc"
    # debootstrap makes the few devices that are needed, where it may.
    if ! sh -c "echo >'$root/dev/null'" 2>/dev/null; then
        mount --bind /dev "$root/dev" || die "cannot bind /dev"
    fi
}

in_root() {
    mapfile -t settings < <(network_environment)
    env -i HOME="$HOME" PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        TERM=dumb "${settings[@]}" \
        chroot "$root" /bin/bash -c "cd /srv/fusec && $1" </dev/null
}

# The commands of the README: the lines of its code blocks that begin so.
readme_commands() {
    grep -E '^tools/setup\.sh && ' README.md || die "no command in README.md"
}

make_root
carry_over
git clone -q --no-hardlinks . "$root/srv/fusec"
mount_kernel
echo "bare_machine: ready after $SECONDS s"

if [ $# = 0 ]; then
    mapfile -t commands < <(readme_commands)
else
    commands=("$@")
fi
passed=0 failed=0
for command in "${commands[@]}"; do
    start=$SECONDS
    echo "bare_machine: \$ $command"
    if in_root "$command"; then
        result="done"
        passed=$((passed + 1))
    else
        result="FAILED with exit $?"
        failed=$((failed + 1))
    fi
    echo "bare_machine: $result after $((SECONDS - start)) s: $command"
done
echo "bare_machine: $passed passed, $failed failed"
[ $failed = 0 ]
