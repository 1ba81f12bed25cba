# SPDX-License-Identifier: Apache-2.0

"""Field case 107: "cannot find a scheduler", with the reasons in a debug dump only.
Every strategy that refuses says why, with numbers where one counts, in the text
and in JSON; and what can't be compiled at all ends with exit status 1 and one line
that says so, never with a failed assertion."""

import json
import re

from field import fusec
from programs import LAYERNORM_BWD, explain

CONFLICT = """fusion f(x: f32[M, N]) -> (y: f32[M, N], z: f32[N, M])
{
    y = x / sum(x, axis=1, keepdim=true);
    t = transpose(x, 0, 1);
    z = t / sum(t, axis=1, keepdim=true);
}
"""
SCAN = "fusion f(x: f32[N]) -> (y: f32[N])\n{\n    y = cumsum(x, axis=0);\n}\n"
NAMES = ("pointwise", "reduction", "inner_persistent",
         "inner_outer_persistent")


def reasons(text, *argv):
    """{strategy: reason} of the text, and all refused candidates."""
    said = explain(text, *argv)
    whole = dict(re.findall(r"^  (\w+) refuses: (.+)$", said, re.MULTILINE))
    return whole, re.findall(r"refused: (.+)$", said, re.MULTILINE)


def from_json(text, *argv):
    """Every string that stands under a key 'refuses', 'refused' or 'why'."""
    tree = json.loads(fusec(text, "--explain=json", "-o", "f.cu", *argv)[0])
    found = []

    def walk(x):
        if isinstance(x, dict):
            for k, v in x.items():
                if k in ("refuses", "refused", "reason", "why"):
                    found.append(v)
                walk(v)
        elif isinstance(x, list):
            for v in x:
                walk(v)

    walk(tree)
    return [v for v in found if isinstance(v, str)]


def check(text, *argv):
    whole, candidates = reasons(text, *argv)
    everything = from_json(text, *argv)
    for why in [*whole.values(), *candidates]:
        assert why in everything, f"'{why}' is not in {everything}"
    return whole, candidates


whole, candidates = check(LAYERNORM_BWD, "-DN=1000000", "-DT=f32")
assert set(whole) | {"inner_outer_persistent"} == set(NAMES), whole
assert any(len(re.findall(r"\d+", c)) >= 2 for c in
           [*candidates, *whole.values()]), (whole, candidates)
whole, _ = check(CONFLICT)
assert set(whole) == set(NAMES), whole
assert len(set(whole.values())) > 1 and all(len(w) > 10 for w in whole.values())
_, message = fusec(SCAN, "--explain", "-o", "f.cu", status=1)
assert re.search(r"^f\.fusion:3:9: error: operation 'cumsum' has no kernel yet"
                 r" \[not-implemented-yet\]$", message, re.MULTILINE), message
