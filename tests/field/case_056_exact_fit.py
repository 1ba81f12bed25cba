# SPDX-License-Identifier: Apache-2.0

"""Field case 56: a kernel that needs every byte of shared memory was refused by a
`<`. A plan is taken on a device that has exactly what it needs, one byte less
refuses it with both numbers, and another plan is chosen then. (That a launch of
more than 48 KiB, counted with static memory, is opted in at the limit is the
launch library's, see tests/unit/test_launch.c.)"""

from field import fusec, manifest, schedulers
from programs import LAYERNORM_BWD

SIZES = ["-DT=f32", "-DN=512"]


def device(smem):
    return f"--device=h200,smem={smem}"


def plan_of(tree):
    return tree["fusions"][0]["variants"][0]["launches"][0]


def shared(tree):
    return int(plan_of(tree)["dynamic_smem"])


roomy = manifest(LAYERNORM_BWD, *SIZES)
need = shared(roomy)
assert need > 4096 and schedulers(roomy)[0] == "inner_outer_persistent", need
with open("roomy.plan", "w", encoding="utf-8") as f:
    f.write(roomy["plan"])
forced = ["--plan=roomy.plan", "--emit=json", "-o", "-"]
for extra in (0, 1, 16):
    text, _ = fusec(LAYERNORM_BWD, *SIZES, device(need + extra), *forced)
    assert f'"dynamic_smem": "{need}"' in text, need + extra
for short in (1, 16):
    _, why = fusec(LAYERNORM_BWD, *SIZES, device(need - short), *forced,
                   status=1)
    assert f"{need}" in why and f"{need - short}" in why, why
    other = manifest(LAYERNORM_BWD, *SIZES, device(need - short))
    assert shared(other) <= need - short
    assert schedulers(other)[0] != "fallback"
