#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of .cu files on the CPU, through templates/host.

    emulate.py [--cxx COMPILER] [--only NAME] FILE.cu...

Every case runs with the threads in either order; its values must be those it
says and nothing may be reported, or, where it says `report=KIND`, that must be
reported at a line that ends in // BUG. Prints TAP; exit status 1 when anything is wrong, 77 without
a C++ compiler.
"""

import argparse
import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import FILL, GUARD, read_cases

ROOT = Path(__file__).resolve().parents[3]
HOST = ROOT / "templates" / "host"
ROLES = {"in": 0, "out": 1, "word": 2}  # fu_emu_role: input, output, in place


def c_strings(name):
    """The strings of an array in tools/emulate/load.c."""
    text = (ROOT / "tools" / "emulate" / "load.c").read_text(encoding="utf-8")
    body = re.search(name + r"\[\] = {(.*?)};", text, re.DOTALL)[1]
    return re.findall(r'"([^"]+)"', body)


def kinds():
    """The names of fu_emu_kind, in order."""
    text = (HOST / "fu_emulate_api.h").read_text(encoding="utf-8")
    return re.findall(r'^    X\(\w+,\s+"([^"]+)"', text.replace("\\\n", " "),
                      re.MULTILINE) or \
        re.findall(r'X\([A-Z_]+,\s*"([^"]+)"', text.replace("\\\n", " "))


class Launch(ctypes.Structure):
    """fu_emu_launch_info"""
    _fields_ = [("symbol", ctypes.c_char_p), ("grid", ctypes.c_uint * 3),
                ("block", ctypes.c_uint), ("smem", ctypes.c_size_t),
                ("cluster", ctypes.c_uint), ("cooperative", ctypes.c_int),
                ("pdl", ctypes.c_int), ("sms", ctypes.c_uint),
                ("blocks_per_sm", ctypes.c_uint)]


class Declared(ctypes.Structure):
    """fu_emu_buffer"""
    _fields_ = [("name", ctypes.c_char_p), ("base", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t), ("role", ctypes.c_int),
                ("element", ctypes.c_uint), ("rank", ctypes.c_int),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p)]


class Report(ctypes.Structure):
    """fu_emu_report"""
    _fields_ = [("kind", ctypes.c_int), ("text", ctypes.c_char_p),
                ("pc", ctypes.c_void_p * 4)]


class Library:
    """The emulation of one file."""

    def __init__(self, cxx, file, folder):
        self.path = folder / (file.parent.name + "-" + file.stem + ".so")
        command = [cxx, *c_strings("emulation_flags"), "-I", str(HOST.parent),
                   "-I", str(HOST), "-x", "c++", str(file), "-o",
                   str(self.path), *c_strings("emulation_libraries")]
        subprocess.run(command, check=True)
        self.lib = ctypes.CDLL(str(self.path))
        self.lib.fu_emu_last_report.restype = ctypes.POINTER(Report)
        self.base = next(int(line.split("-")[0], 16)
                         for line in Path("/proc/self/maps").read_text(
                             encoding="ascii").splitlines()
                         if line.endswith(str(self.path)))
        self.kinds = kinds()

    def line(self, pc):
        """The line of the .cu, None where there is none."""
        if not pc:
            return None
        frames = subprocess.run(
            ["addr2line", "-aie", str(self.path), hex(pc - 1 - self.base)],
            capture_output=True, text=True, check=True).stdout
        found = re.search(r"\.cu:(\d+)", frames)
        return int(found[1]) if found else None

    def report(self):
        """(kind, line, text) of what was reported."""
        r = self.lib.fu_emu_last_report().contents
        text = r.text.decode()
        for i in range(4):
            text = text.replace("{%d}" % (i + 1), f"line {self.line(r.pc[i])}")
        return self.kinds[r.kind], self.line(r.pc[0]), text

    def run(self, case, order):
        """(kind, line, text) of a report or None, and the buffers' bytes."""
        self.lib.fu_emu_set_order(order)
        self.lib.fu_emu_forget_all()
        memory = [place(b) for b in case.buffers]
        declared = [
            Declared(b.name.encode(), m.at, len(b.begin), ROLES[b.kind], 1, 0,
                     None, None) for b, m in zip(case.buffers, memory)]
        for d in declared:
            self.lib.fu_emu_declare(ctypes.byref(d))
        pointers = [ctypes.c_void_p(m.at) for m in memory]
        array = (ctypes.c_void_p * len(pointers))(
            *[ctypes.addressof(p) for p in pointers])
        info = Launch(case.kernel.encode(), tuple(case.grid), case.block,
                      case.smem, case.cluster, case.cooperative, 0, 4, 4)
        failed = 0
        for _ in range(case.launches):
            failed = failed or self.lib.fu_emu_launch(ctypes.byref(info), array)
        failed = failed or (case.report is None and self.lib.fu_emu_finish())
        report = self.report() if failed else None
        return report, [m.bytes() for m in memory]


class Memory:
    """Bytes at a multiple of 256."""

    def __init__(self, data):
        self.store = ctypes.create_string_buffer(len(data) + 256)
        self.at = (ctypes.addressof(self.store) + 255) // 256 * 256
        self.size = len(data)
        ctypes.memmove(self.at, data, len(data))

    def bytes(self):
        return ctypes.string_at(self.at, self.size)


def place(buffer):
    return Memory(buffer.begin + bytes([FILL]) * GUARD)


def fault_of(library, case, order):
    """None, or what was wrong."""
    report, got = library.run(case, order)
    if case.report:
        if report and report[0] in case.report and \
                report[1] in (case.lines or [None]):
            return None
        return f"not {' or '.join(case.report)} at lines {case.lines}: {report}"
    if report:
        return "line {1}: {0}: {2}".format(*report)
    faults = (b.fault(g) for b, g in zip(case.buffers, got))
    return next((f for f in faults if f), None)


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cxx", default="g++")
    ap.add_argument("--only", default="", help="kernels whose names contain this")
    ap.add_argument("--verbose", action="store_true", help="print the reports")
    ap.add_argument("files", nargs="+", type=Path)
    args = ap.parse_args()
    if not shutil.which(args.cxx):
        return 77
    number = failed = 0
    with tempfile.TemporaryDirectory(prefix="emulate-") as folder:
        for file in args.files:
            library = Library(args.cxx, file, Path(folder))
            for case in (c for c in read_cases(file) if args.only in c.kernel):
                faults = [fault_of(library, case, order) for order in (0, 1)]
                fault = faults[0] or faults[1]
                number += 1
                failed += fault is not None
                print(f"{'not ok' if fault else 'ok'} {number} - {case}")
                if fault:
                    print(f"# {fault}")
                elif args.verbose and case.report:
                    print(f"# {library.run(case, 0)[0]}")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
