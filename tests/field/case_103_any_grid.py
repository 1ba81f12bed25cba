# SPDX-License-Identifier: Apache-2.0

"""Field case 103: a kernel whose blocks wait for each other was launched with more
of them than the device holds. Here no block waits for another unless the plan
says so: the number of partial sums is in the plan, whatever the device, any number
gives the gradient within its bound, and a finish that needs more blocks at once
than the device holds is refused."""

from field import fusec, manifest, np, run
from programs import LAYERNORM_BWD, all_launches

SIZES = ["-DT=f32", "-DN=96"]


def data():
    rng = np.random.default_rng(103)
    x = {k: rng.standard_normal((37, 96)).astype(np.float32)
         for k in ("dy", "x")}
    x["mean"] = x["x"].mean(axis=1)
    x["rstd"] = (1 / x["x"].std(axis=1)).astype(np.float32)
    x["weight"] = rng.standard_normal(96).astype(np.float32)
    return x


def grids(rows):
    tree = manifest(LAYERNORM_BWD, *SIZES, f"--set=v0.k0.grid_rows={rows}")
    first = tree["fusions"][0]["variants"][0]["launches"][0]
    assert not any(x["cooperative"] for x in all_launches(tree))
    return first["grid"]


for n in (1, 7, 132, 264):
    assert grids(n) == [str(n), "1", "1"], n
x = data()
xhat = (x["x"].astype(float) - x["mean"][:, None]) * x["rstd"][:, None]
want = (x["dy"] * xhat).sum(axis=0)
bound = 16 * 2**-24 * np.abs(x["dy"] * xhat).sum(axis=0)
for n in (1, 7, 132):
    out = run(LAYERNORM_BWD, x,
              options=[*SIZES, f"--set=v0.k0.grid_rows={n}"])
    assert (np.abs(out["dweight"] - want) <= bound).all(), n
_, why = fusec(LAYERNORM_BWD, *SIZES, "--set=v0.k0.finish=grid",
               "--set=v0.k0.grid_rows=20000", "--emit=cu", "-o", "f.cu", status=1)
assert "finish grid needs all 20000 blocks at once" in why, why
