# SPDX-License-Identifier: Apache-2.0

"""Field case 62: a layer-norm backward too long for one kernel was cut into pieces
that were planned one by one, one of them still reduced rows and columns at once
beside four intermediate tensors. What waits between the pieces is at most two full
tensors, and no piece does both."""

from expressions import value
from field import kernels, manifest, schedulers, emit
from programs import LAYERNORM_BWD

ROWS, COLUMNS = 4096, 65536
ARGS = ["-DT=f32", f"-DM={ROWS}", f"-DN={COLUMNS}",
        "--device=a100"]  # where no cluster holds the row

tree = manifest(LAYERNORM_BWD, *ARGS)
f = tree["fusions"][0]
names = {"M": ROWS, "N": COLUMNS}
waits = sum(value(w["bytes"], names) for w in f["workspace"])
assert waits <= 2 * 4 * ROWS * COLUMNS, waits
pieces = schedulers(tree)
assert len(pieces) > 1 and len(f["variants"]) == 1, pieces
assert "inner_outer_persistent" not in pieces, pieces
# Each piece names what it does in a comment of the CUDA text.
text = kernels(emit(LAYERNORM_BWD, "cu", *ARGS))
heads = [line for line in text.splitlines() if line.startswith("// ")]
assert len(heads) == len(pieces), heads
print(pieces, waits, heads)
