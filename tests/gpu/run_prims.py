#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The device primitives, one by one: compiled for every target, and run.

    run_prims.py compile  [--nvrtc LIB] [--text EXE] [--arch N,...] FILE.cu...
    run_prims.py gpu      [--nvrtc LIB] [--repeat N] FILE.cu...
    run_prims.py sanitize [--nvrtc LIB] FILE.cu...

`compile` gives each file to NVRTC for sm_80, 90, 100 and 120: it must be taken
from the target on that the file NEEDS, and refused below it; nothing may spill.
With --text (the program tests/gpu/template_text) what NVRTC gets is the file
behind the part of templates/ that it uses, as fusec writes it. `gpu` runs every
case that isn't a planted bug on the GPU, --repeat times, and compares what it
wrote; `sanitize` runs `gpu` under compute-sanitizer's memcheck, racecheck and
synccheck. The form of the cases: tests/exec/prims/README.md. Needs Python, NVRTC
and, but for `compile`, a GPU's driver. Exit status 1 when anything is wrong, 77
when nothing could run.
"""

import argparse
import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "exec" / "prims"))
from cases import FILL, GUARD, needs, read_cases  # noqa: E402 pylint: disable=C0413


# --- NVRTC --------------------------------------------------------------------

def load(names, why):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    print(f"{why} not found: tried {', '.join(names)}")
    sys.exit(77)


def find_nvrtc(fusec):
    found = subprocess.run([fusec, "--print-nvrtc"], capture_output=True,
                           text=True, check=False)
    if found.returncode:
        print(found.stderr.strip())
        sys.exit(77)
    return found.stdout.splitlines()[0]


class Nvrtc:
    """A few calls of NVIDIA's run-time compiler."""

    def __init__(self, given):
        names = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                 "/usr/local/cuda/lib64/libnvrtc.so"]
        self.lib = load([given] if given else names, "NVRTC")

    def fetch(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        data = ctypes.create_string_buffer(max(size.value, 1))
        getattr(self.lib, f"nvrtcGet{what}")(program, data)
        return data.raw[:size.value]

    def compile(self, file, text, arch):
        """(cubin or None, log)"""
        options = [f"-arch=sm_{arch}".encode(), b"-std=c++17",
                   b"--ptxas-options=-v", b"--fmad=false",
                   b"-I" + str(ROOT / "templates").encode(),
                   b"-I" + str(file.parent).encode()]
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(),
                                    file.name.encode(), 0, None, None)
        status = self.lib.nvrtcCompileProgram(
            program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.fetch(program, "ProgramLog").decode(errors="replace")
        cubin = self.fetch(program, "CUBIN") if status == 0 else None
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return cubin, log.rstrip("\0")


def text_of(file, exe):
    if not exe:
        return file.read_text(encoding="utf-8")
    return subprocess.run([exe, str(file)], check=True, capture_output=True,
                          text=True).stdout


def compile_fault(nvrtc, file, text, arch):
    cubin, log = nvrtc.compile(file, text, arch)
    if arch < needs(file):
        if cubin or "requires" not in log:
            return f"should be refused below sm_{needs(file)}: {log}"
        return None
    if not cubin:
        return log
    spills = re.findall(r"(\d+) bytes (?:stack frame|spill)", log)
    if not spills or any(n != "0" for n in spills):
        return f"uses local memory: {log}"
    return None


def run_compile(args):
    nvrtc = Nvrtc(args.nvrtc)
    failed = done = 0
    for file in args.files:
        text = text_of(file, args.text)
        for arch in args.arch:
            fault = compile_fault(nvrtc, file, text, arch)
            done += 1
            failed += fault is not None
            if fault:
                print(f"{file.name} for sm_{arch}: {fault}")
    print(f"compile: {done - failed} passed, {failed} failed")
    return failed


# --- the driver ---------------------------------------------------------------

class Attribute(ctypes.Structure):
    """CUlaunchAttribute; its value as words."""
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int),
                ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    """CUlaunchConfig"""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
                ("smem", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)),
                ("n_attributes", ctypes.c_uint)]


COOPERATIVE, CLUSTER = 2, 4  # CU_LAUNCH_ATTRIBUTE_...


class Gpu:
    """The first GPU, through the driver's library."""

    def __init__(self):
        self.lib = load(["libcuda.so.1", "libcuda.so"], "the CUDA driver")
        if self.lib.cuInit(0):
            print("no GPU")
            sys.exit(77)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        numbers = []
        for attribute in (75, 76):  # the compute capability
            n = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(n), attribute, device)
            numbers.append(n.value)
        self.arch = 10 * numbers[0] + numbers[1]

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            raise RuntimeError(f"{name}: CUDA error {status}")

    def module(self, cubin):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def put(self, data):
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", at, data, ctypes.c_size_t(len(data)))
        return at

    def take(self, at, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, at, ctypes.c_size_t(size))
        self.call("cuMemFree_v2", at)
        return data.raw

    def launch(self, module, case, places):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module,
                  case.kernel.encode())
        attributes = []
        if case.cluster > 1:
            attributes.append(Attribute(CLUSTER, 0, (case.cluster, 1, 1)))
        if case.cooperative:
            attributes.append(Attribute(COOPERATIVE, 0, (1,)))
        array = (Attribute * max(len(attributes), 1))(*attributes)
        config = Config(tuple(case.grid), (case.block, 1, 1), case.smem, None,
                        array, len(attributes))
        pointers = (ctypes.c_void_p * len(places))(
            *[ctypes.addressof(p) for p in places])
        for _ in range(case.launches):
            self.call("cuLaunchKernelEx", ctypes.byref(config), function,
                      pointers, None)
        self.call("cuCtxSynchronize")


def run_case(gpu, module, case):
    """Launches; None or what was wrong."""
    guard = bytes([FILL]) * GUARD
    places = [gpu.put(b.begin + guard) for b in case.buffers]
    gpu.launch(module, case, places)
    faults = [b.fault(gpu.take(p, len(b.begin) + GUARD))
              for b, p in zip(case.buffers, places)]
    return next((f for f in faults if f), None)


def run_gpu(args):
    gpu, nvrtc = Gpu(), Nvrtc(args.nvrtc)
    failed = done = 0
    for file in args.files:
        if needs(file) > gpu.arch:
            print(f"{file.name}: needs sm_{needs(file)}, this is sm_{gpu.arch}")
            failed += 1
            continue
        cubin, log = nvrtc.compile(file, text_of(file, args.text), gpu.arch)
        if not cubin:
            print(log)
            failed += 1
            continue
        module = gpu.module(cubin)
        for case in (c for c in read_cases(file) if not c.report):
            fault = None
            for _ in range(args.repeat):
                fault = fault or run_case(gpu, module, case)
            done += 1
            failed += fault is not None
            print(f"{'not ok' if fault else 'ok'} - {case}"
                  + (f": {fault}" if fault else ""), flush=True)
    print(f"gpu: {done} cases x {args.repeat}, {failed} failed")
    return failed


def run_sanitize(args):
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(tool).exists():
        print("compute-sanitizer not found")
        sys.exit(77)
    failed = 0
    for name in ("memcheck", "racecheck", "synccheck"):
        command = [tool, "--tool", name, "--error-exitcode", "9",
                   sys.executable, str(Path(__file__).resolve()), "gpu", "--repeat", "1",
                   *(["--nvrtc", args.nvrtc] if args.nvrtc else []),
                   *map(str, args.files)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        tail = [line for line in run.stdout.splitlines()
                if "SUMMARY" in line or line.startswith("gpu:")]
        good = run.returncode == 0 and len(tail) == 2
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {name}: " + "; ".join(tail))
        if not good:
            print(run.stdout[-6000:] + run.stderr[-2000:])
    return failed


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("mode", choices=["compile", "gpu", "sanitize"])
    ap.add_argument("--nvrtc", help="NVRTC's library (default: searched)")
    ap.add_argument("--fusec", help="the program that knows where NVRTC is")
    ap.add_argument("--text", help="the program template_text")
    ap.add_argument("--arch", default="80,90,100,120",
                    type=lambda s: [int(n) for n in s.split(",")])
    ap.add_argument("--repeat", type=int, default=20)
    ap.add_argument("files", nargs="+", type=Path)
    args = ap.parse_args()
    if args.fusec:
        args.nvrtc = find_nvrtc(args.fusec)
    modes = {"compile": run_compile, "gpu": run_gpu, "sanitize": run_sanitize}
    return 1 if modes[args.mode](args) else 0


if __name__ == "__main__":
    sys.exit(main())
