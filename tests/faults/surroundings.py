#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Odd surroundings: locales, time zones, no environment at all, closed standard
files, readers that went away, no current folder, odd limits.

The outputs are the same bytes in all of them.
"""

import itertools
import os
import resource
import subprocess
import sys

import faults
from faults import check, expect, intact, no_temporaries, own_nvrtc, snapshot

ARGS = ["in.fusion", "-MD", "-o", "out.ptx"]
NAMES = ["out.cu", "out.d", "out.json", "out.ptx"]
WARNS = "fusion f(x: f32[M], z: f32[M]) -> (y: f32[M]) {\n    y = x;\n}\n"


def outputs(folder):
    got = snapshot(folder)
    return {n: got.get(n) for n in NAMES}


def clear(folder):
    for name in os.listdir(folder):
        if name != "in.fusion":
            os.unlink(os.path.join(folder, name))


def test_variables(at):
    """locales, time zones and folders that are odd or not there"""
    odd = [{"LC_ALL": v} for v in ("C", "", "POSIX", "C.UTF-8", "de_DE.UTF-8",
                                   "tr_TR.UTF-8", "no_SUCH", "\xff\xfe", "x" * 5000,
                                   "../../..", "ar_EG", "zh_CN.GB18030")]
    odd += [{"TZ": v} for v in ("", "Asia/Kathmandu", "no/such", ":/etc/passwd",
                                "\x01", "UTC-99")]
    odd += [{"TMPDIR": v} for v in ("", "/no/such", "/dev/null", "in.fusion")]
    odd += [{"HOME": "/no/such"}, {"HOME": None}, {"PATH": None}, {"PATH": ""},
            {"LANG": "tr_TR"}, {"LANGUAGE": "x"}, {"PATH": ":::/no:in.fusion"},
            {"MALLOC_PERTURB_": "165"}, {"POSIXLY_CORRECT": "1"},
            {"SOURCE_DATE_EPOCH": "junk"}, {"COLUMNS": "1"}, {"TERM": "\x1b"},
            {"NO_COLOR": "1"}, {"VIRTUAL_ENV": "/no/such"}]
    with faults.new_folder() as folder:
        expect(faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at)), (0,))
        wanted = outputs(folder)
        for env in odd:
            clear(folder)
            r = faults.run([at.fusec, *ARGS], folder, env={**own_nvrtc(at), **env})
            expect(r, (0,))
            check(outputs(folder) == wanted, f"other bytes under {env}")
            check(r.err == "", f"{env}\n{r}")


def test_no_environment(at):
    """an empty environment"""
    with faults.new_folder() as folder:
        expect(faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at)), (0,))
        wanted = outputs(folder)
        clear(folder)
        r = subprocess.run([at.fusec, *ARGS, "--nvrtc", own_nvrtc(at)["FUSEC_NVRTC"]],
                           cwd=folder, env={}, capture_output=True, check=False)
        check(r.returncode == 0, r.stderr.decode())
        check(outputs(folder) == wanted, "other bytes")


def closed(at, folder, which, args, env):
    close = " ".join({0: "<&-", 1: ">&-", 2: "2>&-"}[fd] for fd in which)
    words = " ".join(f"'{a}'" for a in args)
    return faults.run(["sh", "-c", f"exec '{at.fusec}' {words} {close}"], folder,
                      env=env)


def test_closed(at):
    """every combination of closed standard files"""
    with faults.new_folder(WARNS) as folder:
        expect(faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at)), (0,),
               r"\[unused\]")
        wanted = outputs(folder)
        for n in range(4):
            for which in itertools.combinations((0, 1, 2), n):
                clear(folder)
                r = closed(at, folder, which, ARGS, own_nvrtc(at))
                expect(r, (0,))
                check(outputs(folder) == wanted, f"closed {which}: other bytes")
                clear(folder)
                r = closed(at, folder, which, [*ARGS, "--explain"], own_nvrtc(at))
                expect(r, (3,) if 1 in which else (0,), mute=True)
                check(outputs(folder) == wanted or 1 in which,
                      f"closed {which}: other bytes")
                if 1 not in which:
                    check("fallback" in r.out, f"closed {which}: {r}")


def test_closed_failing(at):
    """every combination of closed standard files, in runs that fail"""
    with faults.new_folder(faults.WRONG) as folder:
        before = snapshot(folder)
        for n in range(4):
            for which in itertools.combinations((0, 1, 2), n):
                for args, status in ((ARGS, 1), (["--no-such"], 2),
                                     (["none.fusion", "-o", "x.cu"], 3),
                                     (["in.fusion", "--emit=ast", "-o", "-"],
                                      3 if 1 in which else 0)):
                    r = closed(at, folder, which, args, own_nvrtc(at))
                    expect(r, (status,), mute=2 in which)
                    intact(before, snapshot(folder), r)


def test_closed_input(at):
    """standard input as the source, closed, empty, a folder"""
    with faults.new_folder() as folder:
        args = ["-", "--emit=cu", "-o", "out.cu"]
        r = closed(at, folder, (0,), args, {})
        expect(r, (3,), "cannot read")
        r = faults.run([at.fusec, *args], folder, data=b"")
        expect(r, (1,), "fusion")
        with open("/dev/null", "rb") as null:
            r = subprocess.run([at.fusec, *args], cwd=folder, stdin=null,
                               capture_output=True, check=False)
            check(r.returncode == 1, r.stderr.decode())
        no_temporaries(folder, r)
        check(os.listdir(folder) == ["in.fusion"], "an output was left")
        r = faults.run([at.fusec, *args], folder, data=faults.SOURCE.encode())
        expect(r, (0,))
        # A pipe can be read but once.
        r = faults.run([at.fusec, "-", "--emit=ast,graph", "-MD", "-o",
                        "all.graph"], folder, data=faults.SOURCE.encode())
        expect(r, (0,))
        check({"all.ast", "all.graph", "all.d"} <= set(os.listdir(folder)), str(r))


def test_broken_pipe(at):
    """standard output is a pipe whose reader is gone"""
    with faults.new_folder() as folder:
        for args in (["in.fusion", "--emit=cu", "-o", "-"], ["--help"],
                     ["--list-ops"], ["in.fusion", "-o", "x.cu", "--explain"]):
            read, into = os.pipe()
            os.close(read)
            r = faults.run([at.fusec, *args], folder, stdout=into)
            os.close(into)
            expect(r, (3,), "cannot write 'standard output': Broken pipe")
        read, into = os.pipe()
        os.close(read)
        r = faults.run([at.fusec, "none.fusion", "-o", "x.cu"], folder,
                       stderr=into)
        os.close(into)
        check(r.status == 3, str(r))


def test_slow_pipe(at):
    """a reader that takes a byte at a time gets every byte"""
    source = "".join(faults.SOURCE.replace("f(", f"f{i}(") for i in range(20))
    with faults.new_folder(source) as folder:
        whole = faults.run([at.fusec, "in.fusion", "--emit=cu", "-o", "-"], folder)
        expect(whole, (0,))
        check(len(whole.out) > 3 << 16, "too short to fill a pipe")
        p = subprocess.Popen([at.fusec, "in.fusion", "--emit=cu", "-o", "-"],
                             cwd=folder, stdout=subprocess.PIPE)
        got = bytearray()
        while piece := os.read(p.stdout.fileno(), 777):
            got += piece
        check(p.wait() == 0 and got.decode() == whole.out, "bytes were lost")
        # A pipe that does not wait is a pipe all the same.
        script = ("import os,fcntl,sys;fcntl.fcntl(1,fcntl.F_SETFL,os.O_NONBLOCK);"
                  "os.execv(sys.argv[1],sys.argv[1:])")
        r = faults.run([sys.executable, "-c", script, at.fusec, "in.fusion",
                        "--emit=cu", "-o", "-"], folder)
        expect(r, (0,))
        check(r.out == whole.out, "bytes were lost without waiting")


def test_no_folder(at):
    """the current folder was removed"""
    with faults.new_folder() as folder:
        os.mkdir(os.path.join(folder, "gone"))
        script = (f"cd gone; rmdir ../gone; exec '{at.fusec}' "
                  f"'{folder}/in.fusion' -o '{folder}/out.ptx'")
        expect(faults.run(["sh", "-c", script], folder, env=own_nvrtc(at)), (0,))
        os.mkdir(os.path.join(folder, "gone"))
        script = script.replace(f"'{folder}/out.ptx'", "out.ptx")
        r = faults.run(["sh", "-c", script], folder, env=own_nvrtc(at))
        expect(r, (3,), "cannot write")


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def test_limits(at):
    """few open files, little stack, no processes, no core"""
    with faults.new_folder() as folder:
        for n in (3, 4, 5, 8):
            r = faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at),
                           preexec_fn=limit(resource.RLIMIT_NOFILE, n))
            expect(r, (0, 3, 127), mute=True)
        for n in (64, 256, 512, 1024):
            r = faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at),
                           preexec_fn=limit(resource.RLIMIT_STACK, n << 10))
            # The kernel itself refuses or kills below some size.
            expect(r, (0,) if n >= 512 else (0, 3, -9, -11, 127), mute=True)
        r = faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at),
                       preexec_fn=limit(resource.RLIMIT_NPROC, 1))
        expect(r, (0,))
        no_temporaries(folder, r)


def test_names(at):
    """file names with every odd byte"""
    names = ["a b.fusion", "tab\there.fusion", "quote'\".fusion", "$HOME.fusion",
             "#x.fusion", "new\nline.fusion", "esc\x1b[31m.fusion", "üñí.fusion",
             "\udcff\udcfe.fusion", "%s%n.fusion", "-x.fusion", "a\\b.fusion",
             ":.fusion", "~.fusion", "*.fusion", ".fusion", "x", "x..fusion"]
    for name in names:
        with faults.new_folder() as folder:
            os.rename(os.path.join(folder, "in.fusion"),
                      os.path.join(folder, name))
            r = faults.run([at.fusec, "-MD", "-MF", "dep", "-o", "o.ptx", "--",
                            os.fsencode(name).decode("utf-8", "surrogateescape")],
                           folder, env=own_nvrtc(at))
            expect(r, (0,))
            faults.write(folder, name, faults.WRONG)
            r = faults.run([at.fusec, "--emit=cu", "-o", "o.cu", "--", name],
                           folder)
            expect(r, (1,), r"2:9: error")
            check("\x1b" not in r.err and r.err.count("\n") < 8, str(r))
            r = faults.run([at.fusec, "-fdiagnostics=json", "--emit=cu", "-o",
                            "o.cu", "--", name], folder)
            expect(r, (1,), "unknown")
            check(all(ord(c) >= 32 or c == "\n" for c in r.err), str(r))


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [
        test_variables, test_no_environment, test_closed, test_closed_failing,
        test_closed_input, test_broken_pipe, test_slow_pipe, test_no_folder,
        test_limits, test_names]))
