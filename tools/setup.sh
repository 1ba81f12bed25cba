#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# setup.sh [--dev] [--check]: bring in what building and testing fusec needs.
#
# Debian packages come through apt-get. Where no CUDA Toolkit is found, NVRTC
# and nvcc come as Python wheels into the project's virtual environment .venv,
# where fusec looks last. A second run finds everything and says nothing.
#
#   --dev    also clang, its tools and sanitizers, shellcheck, and the
#            locales that tests try (.ci/run)
#   --check  change nothing; name what is missing, exit 1 if anything is
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
    build-essential bison flex libcmocka-dev
    libgmp-dev libjansson-dev libmpfr-dev meson ninja-build pkg-config
    python3 python3-jsonschema python3-numpy python3-venv
)
dev_packages=(
    clang clang-format clang-tidy libclang-rt-14-dev locales shellcheck
)

# One toolkit version for every machine without its own, so that the PTX they
# print is the same.
wheels=(
    nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-nvcc==13.0.88
    nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
    nvidia-cuda-runtime==13.0.96
)

check=false
for arg in "$@"; do
    case $arg in
    --dev) packages+=("${dev_packages[@]}") ;;
    --check) check=true ;;
    *)
        echo "usage: tools/setup.sh [--dev] [--check]" >&2
        exit 2
        ;;
    esac
done

say() {
    echo "setup: $*"
}

die() {
    echo "setup: $*" >&2
    exit 1
}

# Prints the packages of the list that dpkg doesn't know as installed.
missing_packages() {
    local p
    for p in "${packages[@]}"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null |
            grep -qx installed || echo "$p"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "not root and no sudo; run as root: $*"
    fi
}

install_packages() {
    local log
    log=$(mktemp)
    say "installing Debian packages: $*"
    if ! { as_root apt-get update -q &&
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "$@"; } \
        >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get failed"
    fi
    rm -f "$log"
}

# True when a folder of a toolkit holds NVRTC.
has_nvrtc() {
    local f
    for f in "$1"/lib64/libnvrtc.so* "$1"/lib/libnvrtc.so* \
        "$1"/targets/*/lib/libnvrtc.so* "$1"/lib/x86_64-linux-gnu/libnvrtc.so*; do
        [ -e "$f" ] && return 0
    done
    return 1
}

have_toolkit() {
    local nvcc
    if [ -n "${CUDA_HOME:-}" ] && has_nvrtc "$CUDA_HOME"; then
        return 0
    fi
    nvcc=$(command -v nvcc) || return 1
    # A wrapper script hides where the toolkit lies; nvcc itself knows.
    nvcc=$("$nvcc" --dryrun -c -x cu /dev/null 2>&1 |
        sed -n 's/^#\$ TOP=//p') || return 1
    [ -n "$nvcc" ] && has_nvrtc "$nvcc"
}

# Prints the wheels that .venv lacks, by their metadata folders.
missing_wheels() {
    local w name
    for w in "${wheels[@]}"; do
        name=${w%%==*}
        compgen -G ".venv/lib/python3*/site-packages/${name//-/_}-${w##*==}.dist-info" \
            >/dev/null || echo "$w"
    done
}

install_wheels() {
    say "no CUDA Toolkit found; installing into .venv: $*"
    [ -x .venv/bin/pip ] ||
        /usr/bin/python3 -m venv --system-site-packages .venv
    .venv/bin/pip install --quiet --disable-pip-version-check --no-deps "$@" ||
        die "pip failed"
}

ok=true
if command -v dpkg-query >/dev/null; then
    mapfile -t lacking < <(missing_packages)
    if [ ${#lacking[@]} != 0 ]; then
        if $check; then
            say "missing Debian packages: ${lacking[*]}"
            ok=false
        else
            install_packages "${lacking[@]}"
        fi
    fi
else
    die "not a Debian system; install what stands for: ${packages[*]}"
fi

if ! have_toolkit; then
    mapfile -t lacking < <(missing_wheels)
    if [ ${#lacking[@]} != 0 ]; then
        if $check; then
            say "no CUDA Toolkit and not in .venv: ${lacking[*]}"
            ok=false
        else
            install_wheels "${lacking[@]}"
        fi
    fi
fi
$ok
