# SPDX-License-Identifier: Apache-2.0

"""Field case 63: which kernel ran depended on the shapes seen before, because
choices were kept by a key that lacked the size. The variant and the launch are a
pure function of the size: two compilations agree to the byte, the conditions stand
in the manifest, and 200 sizes asked in two orders get the same answers."""

import random

from expressions import launches
from field import emit, json, kernels
from programs import LAYERNORM_BWD

first, second = (emit(LAYERNORM_BWD, "json", "-DT=f16") for _ in range(2))
assert first == second
fusion = json.loads(first)["fusions"][0]
guards = [v["guard"] for v in fusion["variants"]]
assert len(guards) > 2 and guards[-1] == "" and all(guards[:-1]), guards

rng = random.Random(63)
sizes = [(rng.choice((0, 1, 7, 64, 1000, 8192, 100000)),
          rng.choice((rng.randint(0, 64), 8 * rng.randint(1, 3000),
                      8 * rng.randint(1, 20000), rng.randint(1, 20000),
                      rng.randint(1, 200000)))) for _ in range(200)]


def answers(order):
    """{size: launches}"""
    found = {}
    for m, n in order:
        at = {"M": m, "N": n}
        at |= {f"{p['name']}.align": 256 for p in fusion["params"]}
        found[m, n] = launches(fusion, at)
    return found


there, back = answers(sizes), answers(reversed(sizes))
assert there == back
assert len({x[0][0] for x in there.values()}) == len(guards), "a variant unused"
