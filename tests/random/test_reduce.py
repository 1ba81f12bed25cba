#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reducer keeps what fails and drops the rest: a planted failure, which
any program with a reduction `any` over more than one element shows.

    test_reduce.py
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

import reduce

PROGRAM = """# EXEC: M=5 N=70 s=1.5
# EXEC: M=1 N=1 s=2
fusion p9(
    x: bf16[M, N] align(32),
    g: f32[N],
    s: f32
) -> (
    a: bool[M],
    y: f16[M, N]
)
{
    v1 = (x * g + s);
    v2 = exp(v1);
    v3 = any((v2 > 1.0), axis=1);
    a = v3;
    y = tanh(v2);
}
"""

# Stands for random_test: fails when `any` is in the program and N is large.
STUB = f"""#!{sys.executable}
import json, re, sys
text = open(sys.argv[1]).read()
sys.stderr.write("== " + sys.argv[1] + "\\n")
bad = "any(" in text and re.search(r"N=([2-9]|\\d\\d)", text)
if bad:
    sys.stderr.write("mismatch: planted\\n")
print(json.dumps({{"file": sys.argv[1], "status": "failed" if bad else "ok"}}))
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        stub = Path(folder) / "stub"
        stub.write_text(STUB)
        stub.chmod(0o755)
        args = argparse.Namespace(test=stub, compiler=[], timeout=60,
                                  tries=400)
        text, tried = reduce.reduce(args, PROGRAM)
    print(text)
    lines = len(re.findall(r"^    ", text, re.M))
    checks = {"still fails": "any(" in text and "N=2" in text,
              "one statement": text.count(";") == 1,
              "no second size": text.count("EXEC") == 1,
              "short": lines <= 3}
    for what, ok in checks.items():
        print(f"{'ok' if ok else 'not ok'} - {what}")
    print(json.dumps({"tried": tried}))
    sys.exit(0 if all(checks.values()) else 1)


if __name__ == "__main__":
    main()
