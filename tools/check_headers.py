#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does every header compile alone?

    check_headers.py --cc "gcc" [-I DIR]... FOLDER...

Each .h file below FOLDER is compiled as the only include of an empty C file, with
warnings as errors.
"""

import argparse
import concurrent.futures
import os
import shlex
import subprocess
import sys

FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-fsyntax-only", "-Wall",
         "-Wextra", "-Wstrict-prototypes", "-Werror", "-x", "c", "-"]


def compile_alone(command, header):
    """None when HEADER compiles, else what the compiler said."""
    text = f'#include "{os.path.abspath(header)}"\nextern int not_empty;\n'
    run = subprocess.run(command + FLAGS, input=text, text=True,
                         capture_output=True, check=False)
    return None if run.returncode == 0 else f"{header}:\n{run.stderr}"


def headers(folders):
    for folder in folders:
        for base, _, names in sorted(os.walk(folder)):
            yield from (os.path.join(base, n) for n in sorted(names)
                        if n.endswith(".h"))


def main(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", default=os.environ.get("CC", "cc"))
    p.add_argument("-I", action="append", default=[], dest="include")
    p.add_argument("folders", nargs="+", metavar="FOLDER")
    opt = p.parse_args(argv)
    command = shlex.split(opt.cc) + [f"-I{d}" for d in opt.include]
    found = list(headers(opt.folders))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda h: compile_alone(command, h), found))
    faults = [r for r in results if r is not None]
    for fault in faults:
        print(fault)
    print(f"headers: {len(found) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
