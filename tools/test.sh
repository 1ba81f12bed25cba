#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test.sh [-b BUILD] [-s SUITE]... [MESON-OPTION...]: configure, build, test.
#
# Builds in BUILD (default: build), runs the suites named (default: all), shows
# what failed, and ends with a line 'N passed, N failed'. The other arguments go
# to 'meson setup' when BUILD is new.
#
#   tools/test.sh -s unit -s golden
#   CC=clang tools/test.sh -b build-asan -Db_sanitize=address,undefined
set -euo pipefail
cd "$(dirname "$0")/.."

build=build
suites=()
setup=()
while [ $# != 0 ]; do
    case $1 in
    -b | -s)
        [ $# -ge 2 ] || {
            echo "usage: test.sh [-b BUILD] [-s SUITE]... [MESON-OPTION...]" >&2
            exit 2
        }
        if [ "$1" = -b ]; then build=$2; else suites+=(--suite "$2"); fi
        shift 2
        ;;
    *)
        setup+=("$1")
        shift
        ;;
    esac
done

# Where there is no toolkit, tests find nvcc where tools/setup.sh laid it.
if ! command -v nvcc >/dev/null; then
    for bin in "$PWD"/.venv/lib/python3*/site-packages/nvidia/cu*/bin; do
        PATH=$PATH:$bin
    done
    export PATH
fi

[ -f "$build/build.ninja" ] || meson setup "$build" "${setup[@]}"
ninja -C "$build"
# meson's own exit status only says that something failed; the summary says what.
meson test -C "$build" --no-rebuild --print-errorlogs "${suites[@]}" || true
python3 tools/test_summary.py "$build/meson-logs/testlog.json"
