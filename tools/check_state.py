#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is there mutable state at file scope?

    check_state.py BUILD

Looks through the object files of the compiler's own static libraries in BUILD for
objects that live in a writable section. A compilation keeps all its state in the
structures of its stages, so there is none. Tables of pointers that the loader
writes once (.data.rel.ro) are constant.
"""

import glob
import os
import re
import subprocess
import sys

WRITABLE = re.compile(r"^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)(?!\.rel\.ro)")


def writable_objects(library):
    """(object file, symbol, section) of what could change while we run."""
    text = subprocess.run(["objdump", "-t", library], check=True,
                          capture_output=True, text=True).stdout
    unit = "?"
    for line in text.splitlines():
        if ":     file format" in line:
            unit = line.split(":")[0]
            continue
        found = re.match(r"[0-9a-f]+ .{6}(.) (\S+)\s+([0-9a-f]+) (.*)$", line)
        if found and WRITABLE.match(found.group(2)) and int(found.group(3), 16):
            name = found.group(4).split()[-1]
            if found.group(1) == "O" or found.group(2) == "*COM*":
                yield unit, name, found.group(2)


def main(argv):
    if len(argv) != 2:
        sys.exit("usage: check_state.py BUILD")
    libraries = [p for top in ("src", "schedulers", "grammar", "templates")
                 for p in sorted(glob.glob(os.path.join(argv[1], top, "**/lib*.a"),
                                           recursive=True))]
    faults = 0
    for library in libraries:
        for unit, name, section in writable_objects(library):
            print(f"{os.path.basename(library)}: {unit}: {name} in {section}")
            faults += 1
    print(f"state: {len(libraries)} libraries, {faults} faults")
    return 1 if faults or not libraries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
