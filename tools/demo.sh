#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh: build fusec, compile layer normalization's backward pass, show what came
# out, and check its results, on the GPU or, without one, emulated on the CPU.
set -euo pipefail
cd "$(dirname "$0")/.."

out=out
emulate=()
if ! [ -e /dev/nvidiactl ] && ! [ -e /dev/dxg ]; then
    emulate=(--emulate)
fi

show() {
    echo "\$ $*"
    "$@"
}

[ -f build/build.ninja ] || meson setup build
ninja -C build
mkdir -p "$out"
show build/fusec examples/layernorm_bwd.fusion -o "$out/layernorm_bwd.ptx"
show python3 tools/show_manifest.py "$out/layernorm_bwd.json"
show build/tools/fusec-run "$out/layernorm_bwd.json" \
    --shape M=64 --shape N=256 --check "${emulate[@]}"
