#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The launch library and fusec-run when something is missing or does not fit:
no driver, an old one, one that refuses each call, files that are missing, cut
short, of another run or no manifests, no memory.

A stand-in for the driver (stub_cuda.c) is libcuda.so.1 here; its kernels do
nothing. fusec-run's statuses: 1 wrong arguments or results, 2 usage, 3 something
outside; the library's are those of fusec_launch.h.
"""

import contextlib
import ctypes
import json
import os
import re
import shutil
import sys

import faults
from faults import check, expect, own_nvrtc, snapshot

OK, BAD_FILE, BAD_HASH, NO_DRIVER, DRIVER_FAILED = range(5)
BAD_CALL, MISMATCH, OVERLAP, NO_VARIANT, NO_MEMORY = range(5, 10)
SHAPE = ["--shape", "M=3,N=8"]
EMPTY = ["--shape", "M=0,N=8"]


@contextlib.contextmanager
def compiled(at, driver="libcuda_stub.so"):
    """(folder, environment) with out.ptx, out.cu and out.json."""
    with faults.new_folder() as folder:
        r = faults.run([at.fusec, "in.fusion", "-o", "out.ptx"], folder,
                       env=own_nvrtc(at))
        expect(r, (0,))
        os.mkdir(os.path.join(folder, "lib"))
        if driver:
            shutil.copy(os.path.join(at.parts, driver),
                        os.path.join(folder, "lib/libcuda.so.1"))
        yield folder, {"LD_LIBRARY_PATH": os.path.join(folder, "lib"),
                       "STUB_CUDA": None}


def run(at, folder, env, args, statuses, words, mute=False):
    before = snapshot(folder)
    r = faults.run([at.runner, *args], folder, env=env)
    expect(r, statuses, words, mute)
    check(snapshot(folder) == before, f"the folder changed\n{r}")
    return r


def test_stand_in(at):
    """a run with nothing wrong but kernels that do nothing"""
    with compiled(at) as (folder, env):
        run(at, folder, env, ["out.json", *SHAPE, "--check"], (1,),
            "24 of 24 wrong", True)
        # What has no elements is right, whatever the kernels do.
        run(at, folder, env, ["out.json", *EMPTY, "--check"], (0,), "")


def test_no_driver(at):
    """no driver, a broken one, an old one"""
    with compiled(at, None) as (folder, env):
        if not os.path.exists("/dev/nvidiactl"):
            run(at, folder, env, ["out.json", *SHAPE], (3,),
                r"driver is not installed \(libcuda\.so\.1\)")
        faults.write(folder, "lib/libcuda.so.1", "no library\n")
        run(at, folder, env, ["out.json", *SHAPE], (3,), "driver")
    with compiled(at, "libcuda_old_stub.so") as (folder, env):
        run(at, folder, env, ["out.json", *SHAPE], (3,),
            "driver is too old: it has no cu")


def test_driver_errors(at):
    """every call of the driver returns errors"""
    calls = ("cuInit", "cuDeviceGet", "cuDeviceGetName", "cuDevicePrimaryCtxRetain",
             "cuCtxSetCurrent", "cuCtxGetDevice", "cuModuleLoadDataEx",
             "cuModuleGetFunction", "cuFuncSetAttribute", "cuMemAlloc_v2",
             "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuLaunchKernelEx",
             "cuCtxSynchronize")
    with compiled(at) as (folder, env):
        for call in calls:
            for code in (1, 2, 100, 700, 999):
                env["STUB_CUDA"] = f"{call}={code}"
                r = run(at, folder, env, ["out.json", *SHAPE, "--check"], (3,),
                        "")
                check(f"CUDA error {code}" in r.err or "no memory" in r.err,
                      f"{call}={code}\n{r}")
        env["STUB_CUDA"] = "cuMemAlloc_v2=2"
        run(at, folder, env, ["out.json", *SHAPE], (3,),
            r"no memory for 'x' \(96 bytes\)")
        # The driver's own error string fails as well.
        env["STUB_CUDA"] = "cuInit=100 cuGetErrorString=1"
        run(at, folder, env, ["out.json", *SHAPE], (3,), "unknown error.*100")


def test_bench_errors(at):
    """every call that --bench makes returns an error"""
    with compiled(at) as (folder, env):
        for call in ("cuStreamCreate", "cuStreamBeginCapture_v2",
                     "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
                     "cuGraphGetNodes", "cuGraphLaunch", "cuEventCreate",
                     "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime",
                     "cuMemcpyDtoDAsync_v2"):
            env["STUB_CUDA"] = f"{call}=719"
            run(at, folder, env, ["out.json", *EMPTY, "--bench"], (3,),
                "CUDA error 719|nothing is launched")


def test_native(at):
    """--device=native: the row of the driver's device, or why there is none"""
    def device(env, statuses, words=""):
        r = faults.run([at.fusec, "in.fusion", "--device=native", "--emit=json",
                        "-o", "-"], folder, env=env)
        expect(r, statuses, words)
        return json.loads(r.out)["device"] if r.status == 0 else None

    for driver, words in ((None, r"libcuda\.so\.1 not found"),
                          ("libcuda_old_stub.so", "no usable device")):
        with compiled(at, driver) as (folder, env):
            if driver or not os.path.exists("/dev/nvidiactl"):
                device(env, (3,), words)
    with compiled(at) as (folder, env):
        for name, says, row in (
                ("stub", "", "h200"), ("NVIDIA H100 80GB HBM3", "", "h100"),
                ("stub", "sms=78", "h200,sms=78"),
                ("NVIDIA L40S", "major=8 minor=9 sms=142", "l40s"),
                ("NVIDIA L40S", "major=8 minor=9 sms=99", "l40s,sms=99")):
            env.update(STUB_NAME=name, STUB_CUDA=says)
            check(device(env, (0,)) == row, f"{name} {says}: not {row}")
        env["STUB_CUDA"] = "major=7 minor=5"
        device(env, (2,), "no device row for 'NVIDIA L40S'")
        for call in ("cuInit", "cuDeviceGet", "cuDeviceGetName",
                     "cuDeviceGetAttribute"):
            env["STUB_CUDA"] = f"{call}=100"
            device(env, (3,), "no usable device")


def test_several_manifests(at):
    """several plans of one program; one that fails is named"""
    with compiled(at) as (folder, env):
        for suffix in ("ptx", "cu", "json"):
            shutil.copy(os.path.join(folder, f"out.{suffix}"),
                        os.path.join(folder, f"two.{suffix}"))
        both = ["out.json", "two.json"]
        run(at, folder, env, [*both, *SHAPE, "--check"], (1,),
            r"plan out\.json  WRONG\nplan two\.json  WRONG", True)
        run(at, folder, env, [*both, *EMPTY, "--check"], (0,),
            r"plan out\.json  ok\nplan two\.json  ok")
        # Without elements there is nothing to find wrong; elsewhere there is.
        run(at, folder, env, [*both, *EMPTY, "--bench", "--time-shape", "M=3"],
            (1,), r"elements are not written\nplan two\.json  WRONG", True)
        env["STUB_CUDA"] = "cuLaunchKernelEx=700"
        run(at, folder, env, [*both, *SHAPE, "--check"], (3,),
            r"plan out\.json  failed: .*CUDA error 700")
        env["STUB_CUDA"] = "cuGraphInstantiateWithFlags=801"
        run(at, folder, env, [*both, *EMPTY, "--bench"], (3,),
            r"CUDA error 801|nothing is launched")
        env["STUB_CUDA"] = None
        run(at, folder, env, [*both, *SHAPE, "--reference"], (2,), "no more")
        run(at, folder, env, ["out.json", *SHAPE, "--time-shape", "M=3"], (2,),
            "is for --bench")
        run(at, folder, env, ["out.json", *SHAPE, "--replays", "3"], (2,),
            "--replays")
        run(at, folder, env, ["out.json", "no.json", *SHAPE], (3,), "no.json")
        faults.run([at.fusec, "-D", "N=8", "in.fusion", "-o", "other.ptx"],
                   folder, env=own_nvrtc(at))
        run(at, folder, env, ["out.json", "other.json", *SHAPE, "--check"],
            (1,), "of another program than")


def test_timed_in_turn(at):
    """two plans are timed where they agree: -1, the poison, is an integer"""
    with compiled(at) as (folder, env):
        faults.write(folder, "whole.fusion", "fusion f(x: i32[M, N]) -> "
                     "(y: i32[M, N]) { y = x * 2; }")
        for name in ("one", "two"):
            r = faults.run([at.fusec, "whole.fusion", "-o", f"{name}.ptx"],
                           folder, env=own_nvrtc(at))
            expect(r, (0,))
        r = run(at, folder, env, ["one.json", "two.json", "--shape", "M=0,N=0",
                                  "--time-shape", "M=2048,N=1024", "--bench",
                                  "--replays", "1,2"], (0,), "")
        times = re.findall(r"^bench (\w+)\.json  bytes 16777216  time ([\d.]+)",
                           r.out, re.MULTILINE)
        check(times == [("one", "50.000"), ("two", "50.000")], str(r))


def test_missing_files(at):
    """the manifest or what lies beside it is missing or a folder"""
    with compiled(at) as (folder, env):
        run(at, folder, env, ["no.json", *SHAPE], (3,), "no.json.*No such file")
        run(at, folder, env, [".", *SHAPE], (3,), "cannot read|manifest|directory")
        os.rename(os.path.join(folder, "out.ptx"), os.path.join(folder, "x"))
        run(at, folder, env, ["out.json", *SHAPE], (3,),
            r"no \.cubin and no \.ptx beside 'out\.json'")
        os.mkdir(os.path.join(folder, "out.ptx"))
        run(at, folder, env, ["out.json", *SHAPE], (3,), "out.ptx")
        os.rename(os.path.join(folder, "out.cu"), os.path.join(folder, "y"))
        run(at, folder, env, ["out.json", *SHAPE, "--emulate"], (3,), "out.cu")
        run(at, folder, env, ["out.json", *SHAPE, "--reference",
                              "--save-outputs", "no/such"], (3,), "no/such")


def test_mixed_files(at):
    """PTX, cubin and CUDA text of another run, cut short, or changed"""
    with compiled(at) as (folder, env):
        whole = snapshot(folder)
        for name, args in (("out.ptx", []), ("out.cubin", []),
                           ("out.cu", ["--emulate"])):
            text = whole.get(name) or b"\x7fELF"
            for changed in (text[:-1], text[: len(text) // 2], b"", text + b"\n",
                            text.replace(b"e", b"f", 1), text + b"\0"):
                faults.write(folder, name, changed)
                if changed == text:
                    continue
                run(at, folder, env, ["out.json", *SHAPE, *args], (1,),
                    rf"'out\.{name[4:]}' is not the file that its manifest was")
            if name in whole:
                faults.write(folder, name, whole[name])
            else:
                os.unlink(os.path.join(folder, name))


def test_bad_manifests(at):
    """manifests cut at every length, and texts that are none"""
    with compiled(at) as (folder, env):
        whole = snapshot(folder)["out.json"]
        step = max(1, len(whole) // at.cuts)
        for n in range(0, len(whole) - 2, step):
            faults.write(folder, "cut.json", whole[:n])
            run(at, folder, env, ["cut.json", *SHAPE], (1,), "'cut.json': ")
        for text in ("", "{}", "[]", "null", "1", "\0", '{"manifest_version": 2}',
                     "{" * 100000, "[" * 100000, '"' + "x" * 1000000,
                     '{"manifest_version": 1e999}', "\xff\xfe"):
            faults.write(folder, "bad.json", text)
            run(at, folder, env, ["bad.json", *SHAPE], (1,), "'bad.json': ")
        # No hash for the PTX that lies there.
        tree = json.loads(whole)
        tree["toolchain"] = None
        faults.write(folder, "out.json", json.dumps(tree))
        run(at, folder, env, ["out.json", *SHAPE], (1,), "not the file")


def test_sizes(at):
    """sizes that are open, negative, too large for memory or for 64 bits"""
    with compiled(at) as (folder, env):
        for shape, statuses, words in (
                ("M=3", (1,), "dimension 'N' is open"),
                ("M=-1,N=2", (1,), "no extent"), ("M=x,N=2", (1,), "no extent"),
                ("M=1,N=2,K=3", (1,), "no dimension 'K'"),
                ("M=4294967296,N=4294967296", (1,), "too large|overflows"),
                ("M=9223372036854775807,N=1", (1,), "too large|overflows"),
                ("M=9223372036854775808,N=1", (1,), "no extent|too large"),
                ("M=99999999999999999999,N=1", (1,), "no extent|too large"),
                ("M=1099511627776,N=1024", (3,), "out of memory|no memory")):
            for mode in ([], ["--reference"], ["--emulate"]):
                run(at, folder, env, ["out.json", "--shape", shape, *mode],
                    statuses, words)
        run(at, folder, env, ["out.json", "--shape", "M=0,N=0", "--reference"],
            (0,), "")


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int),
                ("ndim", ctypes.c_int),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


# Runs in a process of its own: the driver is chosen by LD_LIBRARY_PATH.
LOADER = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
text = ctypes.create_string_buffer(int(sys.argv[3]))
module = ctypes.c_void_p()
size = ctypes.c_size_t(int(sys.argv[3]))
status = lib.fusec_load(sys.argv[2].encode(), ctypes.byref(module),
                        text if size.value else None, size)
print(status, text.value.decode() if size.value else "")
if status == 0:
    lib.fusec_find.restype = ctypes.c_void_p
    assert not lib.fusec_find(module, b"none")
    f = ctypes.c_void_p(lib.fusec_find(module, None))
    need = ctypes.c_size_t()
    print(lib.fusec_workspace_size(f, None, 0, ctypes.byref(need), text, size),
          text.value.decode())
    lib.fusec_unload(module)
"""


def load(at, folder, env, manifest, size=400):
    lib = os.path.join(os.path.dirname(at.runner), "libfusec_launch.so.1")
    r = faults.run([sys.executable, "-c", LOADER, lib, manifest, size], folder,
                   env={**env, "ASAN_OPTIONS": "detect_leaks=0"})
    check(r.status == 0, str(r))
    status, _, text = r.out.partition(" ")
    return int(status), text


def test_library(at):
    """the statuses and messages of fusec_load"""
    with compiled(at) as (folder, env):
        status, text = load(at, folder, env, "out.json")
        check(status == OK and f"\n{BAD_CALL} " in text, f"{status} {text}")
        for fault, wanted in (("cuInit=3", DRIVER_FAILED),
                              ("cuCtxGetDevice=201", DRIVER_FAILED),
                              ("cuModuleLoadDataEx=218", DRIVER_FAILED),
                              ("cuModuleGetFunction=500", DRIVER_FAILED),
                              ("cuFuncSetAttribute=1", DRIVER_FAILED)):
            env["STUB_CUDA"] = fault
            status, text = load(at, folder, env, "out.json")
            check(status == wanted and "CUDA error" in text,
                  f"{fault}: {status} {text}")
        env["STUB_CUDA"] = "cuCtxGetDevice=201"
        check("no CUDA context is current" in load(at, folder, env,
                                                   "out.json")[1], "context")
        env["STUB_CUDA"] = None
        check(load(at, folder, env, "none.json")[0] == BAD_FILE, "none")
        for size in (0, 1, 2, 10):
            status, text = load(at, folder, env, "none.json", size)
            check(status == BAD_FILE and len(text.strip()) < max(size, 1),
                  f"a message of {size} bytes: {text}")
        faults.write(folder, "out.ptx", "// cut")
        check(load(at, folder, env, "out.json")[0] == BAD_HASH, "hash")
        os.unlink(os.path.join(folder, "out.ptx"))
        check(load(at, folder, env, "out.json")[0] == BAD_FILE, "no PTX")
    with compiled(at, "libcuda_old_stub.so") as (folder, env):
        check(load(at, folder, env, "out.json")[0] == NO_DRIVER, "old driver")


def test_library_memory(at):
    """fusec_load without memory, at each allocation"""
    with compiled(at) as (folder, env):
        count = os.path.join(folder, "count")
        pre = {"LD_PRELOAD": os.path.join(at.parts, "libfail_malloc.so")}
        args = [at.runner, "out.json", *SHAPE]
        faults.run(args, folder, env={**env, **pre, "COUNT_TO": count})
        with open(count, encoding="ascii") as f:
            total = int(f.read())
        os.unlink(count)
        for n in range(1, total + 1, max(1, total // at.allocations)):
            for on in "01":
                r = faults.run(args, folder, env={**env, **pre, "FAIL_AT": str(n),
                                                  "FAIL_ON": on})
                expect(r, (0, 1, 3), "memory|driver|cannot|" if r.status else "")


def test_emulation(at):
    """--emulate without a compiler, with one that fails, without TMPDIR"""
    with compiled(at) as (folder, env):
        for script, words in ((None, "C\\+\\+ compiler"),
                              ("#!/bin/sh\necho a riddle >&2; exit 1\n", "riddle"),
                              ("#!/bin/sh\nexit 0\n", "load|open|shared|cannot"),
                              ("#!/bin/sh\nkill -9 $$\n", "cannot|not compile")):
            path = os.path.join(folder, "cxx")
            if script:
                faults.write(folder, "cxx", script)
                os.chmod(path, 0o755)
            os.makedirs(os.path.join(folder, "tmp"), exist_ok=True)
            r = faults.run([at.runner, "out.json", *SHAPE, "--emulate", "--cxx",
                            path], folder,
                           env={**env, "TMPDIR": os.path.join(folder, "tmp"),
                                "HOME": os.path.join(folder, "tmp"),
                                "XDG_CACHE_HOME": None})
            expect(r, (3,), words)
        r = faults.run([at.runner, "out.json", *SHAPE, "--emulate"], folder,
                       env={**env, "TMPDIR": "/no/such", "HOME": "/no/such",
                            "XDG_CACHE_HOME": "/no/such"})
        expect(r, (3,), "/no/such|temporary|No such")


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [
        test_stand_in, test_no_driver, test_driver_errors, test_bench_errors,
        test_native, test_several_manifests, test_timed_in_turn,
        test_missing_files, test_mixed_files, test_bad_manifests,
        test_sizes, test_library, test_library_memory, test_emulation],
        [("cuts", 60, "lengths of a manifest cut short"),
         ("allocations", 60, "to fail")]))
