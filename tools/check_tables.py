#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every row of a table seen by a test and by the manual?

    check_tables.py [FOLDER]

- every diagnostic of diags.def stands as [id] in some .expect file;
- every operation that can be called by name is used in some case of
  tests/golden/ops/;
- every option of options.def has an entry in the manual page, and the manual page
  names no other;
- every folder of tests/golden/ is run.
"""

import glob
import os
import re
import sys

MANUAL = "docs/fusec.1"


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8", errors="replace") as f:
        return f.read()


def rows(text, macro, column):
    """The given column of each row 'MACRO(a, "b", ...)', quotes removed."""
    for line in re.findall(rf"^{macro}\((.*)$", text, re.MULTILINE):
        cells = re.findall(r'"(?:\\.|[^"\\])*"|[^,]+', line)
        cells = [c.strip() for c in cells if c.strip()]
        yield cells[column].strip('"'), line


def check_diagnostics(root):
    # Some messages need a broken disk or an odd host; unit and fault tests make
    # those.
    seen = "".join(read(p) for p in glob.glob(
        os.path.join(root, "tests/golden/*/*.expect")))
    seen += "".join(read(p).replace("\\", "") for p in glob.glob(
        os.path.join(root, "tests/faults/*.py")))
    units = "".join(read(p) for p in glob.glob(
        os.path.join(root, "tests/unit/*.c")))
    for name, line in rows(read(root, "src/support/diags.def"), "DIAG", 1):
        enum = "DIAG_" + line.split(",")[0].strip()
        if f"[{name}]" not in seen and not re.search(rf"\b{enum}\b", units):
            yield f"diagnostic '{name}' is in no .expect file, fault test or unit test"


def check_operations(root):
    used = "".join(read(p) for p in glob.glob(
        os.path.join(root, "tests/golden/ops/*.fusion")))
    for name, line in rows(read(root, "src/ir/ops.def"), "OP", 1):
        if "OPF_INTERNAL" in line:
            continue
        if re.fullmatch(r"\w+", name):
            found = re.search(rf"\b{name}\s*\(", used)
        else:
            found = name in used
        if not found:
            yield f"operation '{name}' is in no case of tests/golden/ops"


def check_manual(root):
    manual = re.sub(r"\\-", "-", read(root, MANUAL))
    entries = re.findall(r"^\.It ((?:Fl|Cm|Ar|Xo).*)$", manual, re.MULTILINE)
    named = {"-" + w for e in entries for w in re.findall(r"Fl (-?[\w-]+)", e)}
    options = {name for name, _ in
               rows(read(root, "src/driver/options.def"), "OPTION", 1)}
    for name in sorted(options - named):
        yield f"option '{name}' has no entry in {MANUAL}"
    for name in sorted(named - options):
        yield f"{MANUAL} names '{name}', which is no option"


def check_folders(root):
    listed = set(re.findall(r"'(\w+)'", read(root, "tests/golden/meson.build")))
    for path in sorted(glob.glob(os.path.join(root, "tests/golden/*/"))):
        name = os.path.basename(path.rstrip("/"))
        if name not in listed:
            yield f"tests/golden/{name} is not in tests/golden/meson.build"


def main(argv):
    root = argv[1] if len(argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..")
    faults = []
    for check in (check_diagnostics, check_operations, check_manual, check_folders):
        try:
            faults += check(root)
        except OSError as e:
            faults.append(f"{os.path.relpath(e.filename, root)}: {e.strerror}")
    for fault in faults:
        print(fault)
    print(f"tables: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
