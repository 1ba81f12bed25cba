#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# examples/make-project as its user runs it: a parallel build, exactly the
# dependents of a touched import rebuilt, goldens that match, and a readable diff
# after a change. make_project.sh FUSEC PROJECT
set -euo pipefail

fusec=$(realpath "$1") dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Where there is no toolkit NVRTC lies in the project's virtual environment.
venv=$(realpath "$2/../..")/.venv
if [ -z "${VIRTUAL_ENV:-}" ] && [ -d "$venv" ]; then
    export VIRTUAL_ENV=$venv
fi
cp -r "$2/." "$dir"
cd "$dir"
passed=0 failed=0

expect() { # NAME COMMAND...: the command must succeed
    if "${@:2}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
    fi
}

built() { make FUSEC="$fusec" | sed -n 's|.* kernels/\(.*\)\.fusion$|\1|p'; }
touched() { # FILE WANT: what is rebuilt after touching FILE
    sleep 1.1 # older file systems keep whole seconds
    touch "$1"
    [ "$(built)" = "$2" ]
}
check_fails() {
    ! make check FUSEC="$fusec" >log 2>&1 && grep -q '^+.*1e-05' log
}

if ! make -j2 FUSEC="$fusec" >log 2>&1; then
    grep -q no-nvrtc log && exit 77
    cat log
    exit 1
fi
expect "nothing to do the second time" test -z "$(built)"
expect "norms.fusion rebuilds its dependent" touched lib/norms.fusion pre_norm
expect "activations.fusion rebuilds its dependent" \
    touched lib/activations.fusion mlp_act
cp "$fusec" new-fusec
expect "a new compiler rebuilds all" test "$(fusec=$dir/new-fusec built | wc -l)" = 3
expect "goldens match" make -s check FUSEC="$fusec"
sed -i 's/1e-6/1e-5/' kernels/pre_norm.fusion
expect "a changed kernel shows in a diff" check_fails
echo "$passed passed, $failed failed"
[ $failed = 0 ]
