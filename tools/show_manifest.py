#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The facts of a launch manifest that people ask for first.

    show_manifest.py MANIFEST.json

Prints, for each fusion: dimensions, guards, workspace, and for each variant its
launches with registers, local memory and grid, and the values kept on the chip.
docs/manifest.schema.json describes the rest.
"""

import json
import sys


def resources(manifest, symbol):
    toolchain = manifest["toolchain"]
    for k in toolchain["kernels"] if toolchain else []:
        if k["symbol"] == symbol:
            local = k["stack_bytes"] + k["spill_store_bytes"] + k["spill_load_bytes"]
            shared = k["dynamic_smem"]
            return (f"{k['registers']} registers, {local} bytes of local memory, "
                    f"{'?' if shared is None else shared} bytes of shared memory, "
                    f"{k['occupancy_percent'] or '?'} % occupancy")
    return "not compiled"


def show_launch(manifest, launch):
    grid, block = ", ".join(launch["grid"]), launch["block"]
    threads = block[0] * block[1] * block[2]
    print(f"    kernel {launch['kernel']} ({launch['scheduler']})")
    print(f"      grid ({grid}), {threads} threads a block")
    print(f"      {resources(manifest, launch['kernel'])}")


def show_variant(manifest, i, variant):
    print(f"  variant {i}, {'when ' + variant['guard'] if variant['guard'] else 'always'}"
          f"; estimated {variant['estimated_ns'] / 1000:.1f} us")
    for launch in variant["launches"]:
        show_launch(manifest, launch)
    for b in variant["buffers"]:
        print(f"    keeps {b['buffer']} in {b['store']}: {b['reason']}")


def show_fusion(manifest, fusion):
    dims = ", ".join(f"{d['name']} = {d['read'] or d['bound']}"
                     for d in fusion["dims"])
    print(f"fusion {fusion['name']}")
    print(f"  dimensions  {dims or 'none'}")
    print(f"  guards      {' && '.join(fusion['guards']) or 'none'}")
    print(f"  reads       {fusion['bytes_read']} bytes")
    print(f"  writes      {fusion['bytes_written']} bytes")
    for w in fusion["workspace"]:
        print(f"  workspace   {w['name']}: {w['bytes']} bytes")
    for i, variant in enumerate(fusion["variants"]):
        show_variant(manifest, i, variant)


def main(argv):
    if len(argv) != 2:
        sys.exit("usage: show_manifest.py MANIFEST.json")
    with open(argv[1], encoding="utf-8") as f:
        manifest = json.load(f)
    toolchain = manifest["toolchain"]
    made = (f"{toolchain['compiler']} {toolchain['version']}, PTX ISA "
            f"{toolchain['ptx_isa']}" if toolchain else "no PTX")
    print(f"for {manifest['device']} ({manifest['arch']}), by fusec "
          f"{manifest['fusec']}, {made}")
    for fusion in manifest["fusions"]:
        show_fusion(manifest, fusion)


if __name__ == "__main__":
    main(sys.argv)
