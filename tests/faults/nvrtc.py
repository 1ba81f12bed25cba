#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An NVRTC that is missing, old, broken, mute, talkative or slow.

Most runs load a stand-in (stub_nvrtc.c). What needs the real one says so in a
comment of the TAP output where there is none.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

import faults
from faults import check, expect, failing, intact, own_nvrtc, snapshot

ARGS = ["in.fusion", "-MD", "-o", "out.ptx"]


def old(folder):
    for name in ("out.cu", "out.d", "out.json", "out.ptx"):
        faults.write(folder, name, f"old {name}\n")


def broken(at, word, words, statuses=(3,), **more):
    with faults.new_folder() as folder:
        old(folder)
        return failing(at, folder, ARGS, statuses, words,
                       env=own_nvrtc(at, word), **more)


def taken(at, word, words=""):
    """A run that succeeds all the same; its outputs."""
    with faults.new_folder() as folder:
        r = faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at, word))
        expect(r, (0,), words)
        got = snapshot(folder)
        tree = json.loads(got["out.json"])
        check(got["out.ptx"].startswith(b"//"), f"no PTX\n{r}")
        return r, tree


def test_missing(at):
    """no NVRTC where it is said to be"""
    with faults.new_folder() as folder:
        old(folder)
        os.mkdir(os.path.join(folder, "empty"))
        faults.write(folder, "text.so", "no library\n")
        faults.write(folder, "zero.so", "")
        for place, why in (("no/such.so", "No such file"), ("empty", "empty"),
                           ("text.so", "invalid ELF|too short"),
                           ("zero.so", "too short"), ("/dev/null", "null")):
            r = failing(at, folder, [*ARGS, "--nvrtc", place], (3,),
                        r"\[no-nvrtc\]", env=own_nvrtc(at))
            check(place in r.err and re.search(why, r.err), str(r))
            r = failing(at, folder, ARGS, (3,), r"\[no-nvrtc\]",
                        env={"FUSEC_NVRTC": place})
            check("FUSEC_NVRTC '" + place in r.err, str(r))
            failing(at, folder, ["--print-nvrtc", "--nvrtc", place], (3,),
                    r"\[no-nvrtc\]")
        # CUDA text and plans need none.
        r = faults.run([at.fusec, "in.fusion", "--emit=cu,json,plan", "-o",
                        "x.cu"], folder, env={"FUSEC_NVRTC": "no/such.so"})
        expect(r, (0,))


def test_truncated(at):
    """a library that is cut short, or filled with zeros in the middle"""
    with open(os.path.join(at.parts, "libnvrtc_stub.so"), "rb") as f:
        whole = f.read()
    with faults.new_folder() as folder:
        old(folder)
        for n in (1, 16, 64, 100, 1000, 4096, 8000):
            faults.write(folder, "cut.so", whole[:n])
            failing(at, folder, [*ARGS, "--nvrtc", "./cut.so"], (3,),
                    r"\[no-nvrtc\]")
        faults.write(folder, "cut.so", b"\0" * 64 + whole[64:])
        failing(at, folder, [*ARGS, "--nvrtc", "./cut.so"], (3,), "invalid ELF")


def test_old(at):
    """a library from before nvrtcGetCUBIN"""
    with faults.new_folder() as folder:
        old(folder)
        failing(at, folder, ARGS, (3,), "lacks 'nvrtcGetCUBINSize'",
                env=own_nvrtc(at, library="libnvrtc_stub_old.so"))


def test_architecture(at):
    """a library that does not know the architecture"""
    with faults.new_folder() as folder:
        old(folder)
        r = failing(at, folder, [*ARGS, "--arch=sm_90"], (3,), "does not know",
                    env=own_nvrtc(at, "old"))
        check(re.search(r"NVRTC 99\.9 \('[^']*libnvrtc_stub\.so'\) does not know "
                        r"sm_90; it knows sm_75, sm_80 ", r.err), str(r))
        r = faults.run([at.fusec, "--print-nvrtc"], folder, env=own_nvrtc(at))
        expect(r, (0,), "architectures sm_75, sm_80, sm_89, sm_90, sm_100\n")
        check(r.out.splitlines()[1] == "version 99.9", str(r))


def test_errors(at):
    """every call returns every error"""
    for status in [*range(1, 6), *range(7, 14), 99, -1]:
        for call in ("create", "compile"):
            broken(at, f"{call}={status}", r"NVRTC_ERROR.*\[compiler-failed\]")
    for call in ("ptx-size", "ptx"):
        broken(at, f"{call}=5", r"returned no PTX \[compiler-failed\]|no PTX: ")
    for call in ("cubin-size", "cubin"):
        broken(at, f"{call}=5", "returned no cubin")
    taken(at, "version-fails=3")
    for call in ("log-size", "log"):
        taken(at, f"{call}=5", r"\[no-report\]")


def test_refusal(at):
    """a refused text is kept and named, with the log and without"""
    for word, log in (("refuses", r"error: no\\x1b|error: no\\u001b|error: no.*sense"),
                      ("refuses-mutely", ""), ("refuses-at-length", "no sense"),
                      ("compile=6", "")):
        with faults.new_folder() as folder:
            old(folder)
            before = snapshot(folder)
            r = faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at, word))
            expect(r, (4,), r"kept as 'out\.rejected\.cu'")
            expect(r, (4,), log)
            check("\033" not in r.err, "an escape reaches the terminal")
            check(len(r.err) < 20000, f"{len(r.err)} bytes of log")
            after = snapshot(folder)
            kept = after.pop("out.rejected.cu")
            check(b"__global__" in kept, "the text was not kept")
            intact(before, after, r)


def test_refusal_kept_nowhere(at):
    """a refused text that cannot be kept"""
    with faults.new_folder() as folder:
        old(folder)
        os.mkdir(os.path.join(folder, "out.rejected.cu"))
        failing(at, folder, ARGS, (4,), "could not be written",
                env=own_nvrtc(at, "refuses"))


def test_builtins_stub(at):
    """NVRTC without its builtins library: the file and the place are named"""
    r = broken(at, "builtins", r"failed to open libnvrtc-builtins\.so\.99\.9")
    check(os.path.join(at.parts, "libnvrtc_stub.so") in r.err, str(r))


def real_nvrtc(at, folder):
    """The path of the installed NVRTC, or None and a word about it."""
    r = faults.run([at.fusec, "--print-nvrtc"], folder)
    if r.status == 0:
        return r.out.splitlines()[0]
    print("# no NVRTC is installed here: the stand-in alone")
    return None


def test_builtins(at):
    """the installed NVRTC cannot open its builtins"""
    with faults.new_folder() as folder:
        where = real_nvrtc(at, folder)
        if not where:
            test_builtins_stub(at)
            return
        old(folder)
        r = failing(at, folder, ARGS, (3,), r"libnvrtc-builtins\.so\.\d+",
                    env={"HIDE_LIBRARY": "builtins", "LD_PRELOAD": os.path.join(
                        at.parts, "libhide_library.so")})
        check(where in r.err, str(r))


def test_empty(at):
    """no log, no PTX, no cubin"""
    _, tree = taken(at, "empty-log", r"fu_f_v0_k0.*\[no-report\]")
    check(tree["toolchain"]["kernels"] == [], "resources out of nothing")
    broken(at, "empty-ptx", "returned no PTX")
    broken(at, "no-bytes", "returned no PTX")
    broken(at, "empty-cubin", "returned no cubin")


def test_logs(at):
    """logs without a last newline, very long, and of one long line"""
    _, plain = taken(at, None)
    for word in ("no-newline", "huge-log", "long-line"):
        start = time.monotonic()
        r, tree = taken(at, word)
        check(tree == plain, f"{word}: another manifest\n{r}")
        check(time.monotonic() - start < 20, f"{word}: slow")


SOFTMAX = """fusion f(x: f32[8192, 4096]) -> (y: f32[8192, 4096])
{
    y = softmax(x);
}
"""


def test_spills(at):
    """plans that take local memory are given up; --explain and the manifest say so"""
    with faults.new_folder(SOFTMAX) as folder:
        r = faults.run([at.fusec, *ARGS, "--explain"], folder,
                       env=own_nvrtc(at, "spills=2"))
        expect(r, (0,), r"\[plan-rejected\]")
        given_up = [int(n) for n in re.findall(
            r"^        given up: plan (\d+), which took 24 bytes of local memory$",
            r.out, re.MULTILINE)]
        tree = json.loads(snapshot(folder)["out.json"])["toolchain"]
        check(given_up == [c["candidate"] for c in tree["rejected"]
                           if c["variant"] == 0], r.out)
        check(len(given_up) == 2 and given_up[0] == 1, r.out)
        check(re.search(r"^    \* [2-9]\d* inner_persistent", r.out, re.MULTILINE),
              r.out)
        check(" estimated, 26 reported; " in r.out, r.out)


def test_versions(at):
    """versions of all ages"""
    for version in (1, 75, 112, 129, 130, 999):
        taken(at, f"version={version}")


def test_hangs(at):
    """an NVRTC that hangs is ended by SIGTERM, and nothing is left"""
    with faults.new_folder() as folder:
        old(folder)
        before = snapshot(folder)
        env = {k: v for k, v in own_nvrtc(at, "hangs").items() if v}
        p = subprocess.Popen([at.fusec, *ARGS], cwd=folder,
                             env={**os.environ, **env})
        time.sleep(0.5)
        check(p.poll() is None, "did not hang")
        p.terminate()
        check(p.wait(timeout=10) == -signal.SIGTERM, f"exit {p.returncode}")
        check(snapshot(folder) == before, "the folder changed")


def test_crashes(at):
    """an NVRTC that aborts takes nothing with it"""
    with faults.new_folder() as folder:
        old(folder)
        before = snapshot(folder)
        r = faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at, "crashes"))
        check(r.status == -signal.SIGABRT, str(r))
        check(snapshot(folder) == before, "the folder changed")


def test_nvcc(at):
    """an nvcc that is missing, fails, dies, or writes nothing"""
    for script, statuses, words in (
            (None, (3,), "no nvcc"),
            ("#!/bin/sh\nexit 0\n", (3,), r"\[compiler-failed\]"),
            ("#!/bin/sh\necho a riddle; exit 2\n", (4,), "a riddle"),
            ("#!/bin/sh\nkill -9 $$\n", (3,), r"\[compiler-failed\]"),
            ("#!/no/such/interpreter\n", (3,), r"\[compiler-failed\]")):
        with faults.new_folder() as folder:
            old(folder)
            os.makedirs(os.path.join(folder, "cuda/bin"))
            os.mkdir(os.path.join(folder, "tmp"))
            if script:
                path = faults.write(folder, "cuda/bin/nvcc", script)
                os.chmod(path, 0o755)
            before = snapshot(folder)
            r = faults.run([at.fusec, *ARGS, "--compiler=nvcc"], folder,
                           env={"CUDA_HOME": "cuda", "PATH": "/nowhere",
                                "TMPDIR": os.path.join(folder, "tmp")})
            expect(r, statuses, words)
            after = snapshot(folder)
            after.pop("out.rejected.cu", None)
            intact(before, after, r)
            check(not os.listdir(os.path.join(folder, "tmp")), "tmp is not empty")
    with faults.new_folder() as folder:
        old(folder)
        failing(at, folder, [*ARGS, "--compiler=nvcc"], (3,),
                "temporary folder|no nvcc", env={"TMPDIR": "/no/such/folder"})


def test_nvcc_killed(at):
    """SIGTERM while nvcc runs ends it and leaves no folder"""
    with faults.new_folder() as folder:
        os.makedirs(os.path.join(folder, "cuda/bin"))
        os.mkdir(os.path.join(folder, "tmp"))
        path = faults.write(folder, "cuda/bin/nvcc",
                            "#!/bin/sh\necho $$ >../../pid\nexec sleep 100\n")
        os.chmod(path, 0o755)
        p = subprocess.Popen([at.fusec, *ARGS, "--compiler=nvcc"], cwd=folder,
                             env={**os.environ, "CUDA_HOME": "cuda",
                                  "TMPDIR": os.path.join(folder, "tmp")})
        pid = os.path.join(folder, "pid")
        for _ in range(300):
            if os.path.exists(pid) and os.path.getsize(pid):
                break
            time.sleep(0.1)
        p.terminate()
        check(p.wait(timeout=20) == -signal.SIGTERM, f"exit {p.returncode}")
        check(not os.listdir(os.path.join(folder, "tmp")), "tmp is not empty")
        with open(pid, encoding="ascii") as f:
            number = int(f.read())
        check(not os.path.exists(f"/proc/{number}"), "nvcc still runs")


def test_max_ptx(at):
    """PTX newer than allowed"""
    with faults.new_folder() as folder:
        old(folder)
        for most in ("7.0", "7.9", "7.10"):
            failing(at, folder, [*ARGS, "--max-ptx", most], (3,),
                    rf"NVRTC 99\.9\.1 makes PTX of version 8\.0, newer than "
                    rf"--max-ptx={most} \[ptx-too-new\]", env=own_nvrtc(at))
        for most in ("8", "8.", ".8", "8.0.1", "x", "-1.0"):
            failing(at, folder, [*ARGS, f"--max-ptx={most}"], (2,), "not a version",
                    env=own_nvrtc(at))
        for most in ("8.0", "8.10", "9.0", "10.0"):
            expect(faults.run([at.fusec, *ARGS, f"--max-ptx={most}"], folder,
                              env=own_nvrtc(at)), (0,))


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [
        test_missing, test_truncated, test_old, test_architecture, test_errors,
        test_refusal, test_refusal_kept_nowhere, test_builtins_stub, test_builtins,
        test_empty,
        test_logs, test_spills, test_versions, test_hangs, test_crashes, test_nvcc, test_nvcc_killed,
        test_max_ptx]))
