# SPDX-License-Identifier: Apache-2.0
"""Kernels of CUDA texts of fusec: what the assembler reports of each.

Texts of many programs, devices and types share kernels. Each is compiled once
for an architecture: what NVRTC gets is a text without the kernels that an earlier
text had. Kernels are equal when they and all before the first kernel of their
text are equal but for their names.
"""

import concurrent.futures
import ctypes
import multiprocessing
import os
import re
import subprocess

OPTIONS = ("--ptxas-options=-v", "--std=c++17", "--disable-warnings",
           "--no-cache")
SYMBOL = re.compile(r"\bfu_\w+_v\d+_k\d+\b")
COMMENT = re.compile(r"^//.*\n", re.MULTILINE)


def find_nvrtc(fusec):
    """The library that fusec would take, or None after saying why."""
    found = subprocess.run([fusec, "--print-nvrtc"], capture_output=True,
                           text=True, check=False)
    if found.returncode:
        print(found.stderr.strip())
        return None
    return found.stdout.splitlines()[0]


def devices(fusec):
    """{name: {"arch": number, "smem": bytes}} of fusec's device table."""
    rows = subprocess.run([fusec, "--list-devices"], capture_output=True,
                          text=True, check=True).stdout.splitlines()
    words = rows[0].split()
    found = {}
    for row in rows[1:]:
        cells = dict(zip(words, row.split()))
        found[cells["name"]] = {"arch": int(cells["arch"].split("_")[1]),
                                "smem": int(cells["smem"])}
    return found


def split(text):
    """(what stands before the first kernel, [kernel])."""
    parts = re.split(r'^(?=extern "C" __global__)', COMMENT.sub("", text),
                     flags=re.MULTILINE)
    return parts[0], parts[1:]


def symbol(kernel):
    return SYMBOL.search(kernel).group()


def read_report(log):
    """{symbol: {"registers", "smem", "local"}} of ptxas' words; what functions
    that were not inlined take is everybody's."""
    found, entry, into, shared = {}, None, None, 0
    for line in log.splitlines():
        if m := re.search(r"Compiling entry function '(\w+)'", line):
            entry = found.setdefault(
                m[1], {"registers": 0, "smem": 0, "local": None})
        elif m := re.search(r"Function properties for (\w+)", line):
            into = found.get(m[1])
        elif "bytes stack frame" in line:
            n = sum(int(x) for x in re.findall(r"(\d+) bytes", line))
            if into is None:
                shared += n
            else:
                into["local"] = n
        elif m := re.search(r"Used (\d+) registers", line):
            entry["registers"] = int(m[1])
            m = re.search(r"(\d+) bytes smem", line)
            entry["smem"] = int(m[1]) if m else 0
    for kernel in found.values():
        if kernel["local"] is not None:
            kernel["local"] += shared
    return found


# --- NVRTC, one in each process of the pool -----------------------------------

_library = []


def _open(path):
    _library[:] = [ctypes.CDLL(path)]


def _compile(arch, text):
    """(True when NVRTC took the text, its log)."""
    lib = _library[0]
    options = [f"-arch=sm_{arch}".encode(), *(o.encode() for o in OPTIONS)]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu",
                           0, None, None)
    status = lib.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options))
    lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(max(size.value, 1))
    lib.nvrtcGetProgramLog(program, log)
    lib.nvrtcDestroyProgram(ctypes.byref(program))
    return status == 0, log.value.decode(errors="replace")


class Kernels:
    """Compiles texts. `add` says at once what is new of one; `reports` waits."""

    def __init__(self, library, jobs):
        self.pool = concurrent.futures.ProcessPoolExecutor(
            jobs, multiprocessing.get_context("spawn"), _open, (library,))
        self.where = {}  # (arch, prelude, kernel) -> (future, symbol)
        self.asked = self.compiled = 0

    def close(self):
        self.pool.shutdown(cancel_futures=True)

    def add(self, arch, text):
        """What `reports` takes."""
        prelude, kernels = split(text)
        keys = [(arch, prelude, SYMBOL.sub("K", k)) for k in kernels]
        new = {}
        for key, kernel in zip(keys, kernels):
            if key not in self.where:
                new.setdefault(key, kernel)
        if new:
            job = self.pool.submit(_compile, arch,
                                   prelude + "".join(new.values()))
            for key, kernel in new.items():
                self.where[key] = (job, symbol(kernel))
        self.asked += len(kernels)
        self.compiled += len(new)
        return [(symbol(k), *self.where[key]) for key, k in zip(keys, kernels)]

    @staticmethod
    def reports(added):
        """({symbol: report}, None), or (None, what the compiler said)."""
        found = {}
        for name, job, compiled_as in added:
            ok, log = job.result()
            if not ok:
                return None, log
            found[name] = read_report(log).get(compiled_as)
        return found, None


def faults(reports, log):
    """What is wrong with the kernels of a text: one string each."""
    if reports is None:
        return [f"the compiler refused it:\n{log}"]
    bad = [] if reports else ["no kernel"]
    for name, report in reports.items():
        if report is None or report["local"] is None:
            bad.append(f"{name}: no report")
        elif report["local"]:
            bad.append(f"{name}: {report['local']} bytes of local memory")
    return bad


def cores():
    return len(os.sched_getaffinity(0))
