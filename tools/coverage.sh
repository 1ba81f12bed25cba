#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# coverage.sh [-b BUILD] [SUITE...]: line and branch coverage of the compiler.
#
# Builds with gcc's coverage in BUILD (default: build-cov), runs the suites named
# (default: unit golden exec fuzz faults) and prints tools/coverage.py's table. Below
# 90 % of the lines of src, schedulers and grammar the exit status is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

build="build-cov"
if [ "${1-}" = -b ]; then
    build=$2
    shift 2
fi
[ $# -gt 0 ] || set -- unit golden exec fuzz faults
suites=()
for suite; do suites+=(--suite "$suite"); done

[ -f "$build/build.ninja" ] ||
    CC=gcc meson setup "$build" -Db_coverage=true -Dbuildtype=debug
ninja -C "$build"
find "$build" -name '*.gcda' -delete
meson test -C "$build" --no-rebuild -t 4 "${suites[@]}" || true
python3 tools/coverage.py "$build" --least 90
