#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places that cannot be written: a full disk, a folder that is read-only, an
output that is a folder, a folder that isn't there.

A full disk is a real one where a mount is allowed (a small tmpfs), and
everywhere a limit on the size of a file, and a stand-in for the system calls
that fails each of them in turn. Root may write what is read-only, so the test
runs as another user then.
"""

import os
import subprocess
import sys

import faults
from faults import (check, expect, failing, intact, no_temporaries, own_nvrtc,
                    snapshot)

ARGS = ["in.fusion", "-MD", "-o", "out.ptx"]
TEXTS = ["--emit=cu,json,plan", "in.fusion", "-o", "out.cu"]
NAMES = ["out.cu", "out.d", "out.json", "out.ptx"]


def with_old(folder, names=tuple(NAMES)):
    for name in names:
        faults.write(folder, name, f"an older {name}\n")


def on_small_disk(at, folder, size, inodes):
    """A run on a tmpfs that holds an old out.ptx; None where none may be."""
    script = (f"mount -t tmpfs -o size={size},nr_inodes={inodes} none disk "
              "2>/dev/null || exit 99; echo old >disk/out.ptx; "
              f"'{at.fusec}' in.fusion -MD -o disk/out.ptx; status=$?; "
              "ls -A disk; cat disk/out.ptx; exit $status")
    ways = ([["unshare", "-m"]] if os.getuid() == 0 else []) + [
        ["unshare", "-rm"]]
    for way in ways:
        r = faults.run([*way, "sh", "-c", script], folder, env=own_nvrtc(at))
        if "unshare" not in r.err and r.status != 99:
            return r
    return None


def test_tmpfs(at):
    """a disk with room for no output, for some, and for all"""
    with faults.new_folder() as folder:
        os.mkdir(os.path.join(folder, "disk"))
        for size, inodes in (("4k", 100), ("8k", 100), ("20k", 100), ("24k", 100),
                             ("32k", 100), ("1m", 2), ("1m", 3), ("1m", 5)):
            r = on_small_disk(at, folder, size, inodes)
            if not r:
                print("# no mount is allowed here: limits and stand-ins alone")
                test_limit(at)
                return
            expect(r, (3,), r"cannot write 'disk/out\.\w+': No space left")
            check(r.out.split() == ["out.ptx", "old"], f"{r}")
        r = on_small_disk(at, folder, "1m", 100)
        expect(r, (0,))
        check(r.out.split()[:4] == NAMES, f"{r}")


def test_limit(at):
    """a limit on the size of files"""
    sizes = [0, 1, 100, 1000, 4096, 10000]
    for size in sizes:
        with faults.new_folder() as folder:
            with_old(folder)
            before = snapshot(folder)
            script = f"ulimit -f 0; trap '' XFSZ; exec '{at.fusec}' {' '.join(ARGS)}"
            if size:
                script = (f"import os,resource,signal;"
                          f"resource.setrlimit(resource.RLIMIT_FSIZE,({size},{size}));"
                          f"signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
                          f"os.execv({at.fusec!r}, [{at.fusec!r}, *{ARGS!r}])")
                r = faults.run([sys.executable, "-c", script], folder,
                               env=own_nvrtc(at))
            else:
                r = faults.run(["bash", "-c", script], folder, env=own_nvrtc(at))
            expect(r, (3,), r"cannot write 'out\.\w+': File too large")
            intact(before, snapshot(folder), r)


def test_limit_signal(at):
    """a limit on the size of files whose signal is not ignored"""
    with faults.new_folder() as folder:
        with_old(folder)
        before = snapshot(folder)
        r = faults.run(["bash", "-c", f"ulimit -f 1; exec '{at.fusec}' "
                        + " ".join(ARGS)], folder, env=own_nvrtc(at))
        expect(r, (3,), r"cannot write 'out\.\w+': File too large")
        intact(before, snapshot(folder), r)


def test_calls(at):
    """every call meets a full disk, is cut short, is interrupted"""
    with faults.new_folder() as folder:
        wanted = None
        for fault in ("none", "disk", "short", "eintr"):
            n, status = 0, 1
            while n == 0 or (n < 200 and fault != "none"):
                n += 1
                for name in NAMES:
                    faults.write(folder, name, "old\n")
                before = snapshot(folder)
                count = os.path.join(folder, "count")
                r = faults.run(
                    [at.fusec, *ARGS], folder,
                    env={**own_nvrtc(at), "FAULT": fault, "FAULT_AT": str(n),
                         "COUNT_TO": count,
                         "LD_PRELOAD": os.path.join(at.parts,
                                                    "libfault_calls.so")})
                with open(count, encoding="ascii") as f:
                    calls = int(f.read())
                os.unlink(count)
                now = snapshot(folder)
                if wanted is None:
                    wanted = now
                status = r.status
                if status == 0:
                    check(now == wanted, f"{fault} {n}: other bytes\n{r}")
                else:
                    check(fault == "disk" or "in.fusion" in r.err
                          or fault == "eintr", f"{fault} {n}\n{r}")
                    expect(r, (3,))
                    intact(before, now, r)
                if calls < n:
                    break
            check(fault == "none" or n > 12, f"{fault}: {n} calls")


def other_user():
    """The words before a command that take root's rights away."""
    if os.getuid() != 0:
        return []
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def test_read_only(at):
    """a folder that is read-only"""
    with faults.new_folder() as folder:
        with_old(folder)
        os.chmod(folder, 0o555)
        before = snapshot(folder)
        r = faults.run([*other_user(), at.fusec, *ARGS], folder, env=own_nvrtc(at))
        os.chmod(folder, 0o755)
        expect(r, (3,), r"cannot write 'out\.\w+': Permission denied")
        intact(before, snapshot(folder), r)


def test_read_only_disk(at):
    """a disk that is read-only, where a mount is allowed"""
    with faults.new_folder() as folder:
        with_old(folder)
        before = snapshot(folder)
        script = (f"mount --bind '{folder}' '{folder}' 2>/dev/null && mount -o "
                  f"remount,ro,bind '{folder}' 2>/dev/null || exit 99; cd "
                  f"'{folder}'; exec '{at.fusec}' {' '.join(ARGS)}")
        for way in (["unshare", "-m"], ["unshare", "-rm"]):
            r = faults.run([*way, "sh", "-c", script], folder, env=own_nvrtc(at))
            if "unshare" not in r.err and r.status != 99:
                expect(r, (3,), "cannot write 'out.*Read-only file system")
                intact(before, snapshot(folder), r)
                return
    print("# no mount is allowed here: permissions alone")
    test_read_only(at)


def test_unreadable(at):
    """a source that may not be read, a folder that may not be searched"""
    with faults.new_folder() as folder:
        os.chmod(os.path.join(folder, "in.fusion"), 0)
        r = faults.run([*other_user(), at.fusec, *TEXTS], folder)
        expect(r, (3,), "in.fusion.*Permission denied")
        os.mkdir(os.path.join(folder, "closed"))
        faults.write(folder, "closed/in.fusion", faults.SOURCE)
        os.chmod(os.path.join(folder, "closed"), 0)
        r = faults.run([*other_user(), at.fusec, "closed/in.fusion", "--emit=cu",
                        "-o", "-"], folder)
        os.chmod(os.path.join(folder, "closed"), 0o755)
        expect(r, (3,), "closed/in.fusion.*Permission denied")


def test_is_folder(at):
    """each output in turn is a folder"""
    for name in NAMES:
        with faults.new_folder() as folder:
            with_old(folder, [n for n in NAMES if n != name])
            os.mkdir(os.path.join(folder, name))
            failing(at, folder, ARGS, (3,), f"cannot write '{name}': Is a dir",
                    env=own_nvrtc(at))


def test_no_folder(at):
    """the folder of an output is not there, is a file, is too long a name"""
    with faults.new_folder() as folder:
        for place, why in (("no/out.cu", "No such file"),
                           ("in.fusion/out.cu", "Not a directory"),
                           ("x" * 300 + ".cu", "File name too long"),
                           ("x" * 250 + ".cu", "File name too long"),
                           ("y/" * 3000 + "out.cu", "File name too long")):
            failing(at, folder, ["in.fusion", "-o", place], (3,), why)
        failing(at, folder, ["in.fusion", "-MD", "-MF", "no/out.d", "-o",
                             "out.cu"], (3,), "cannot write 'no/out.d'")


def test_source_is_folder(at):
    """the source is a folder, is missing, is a device"""
    with faults.new_folder() as folder:
        failing(at, folder, [".", "-o", "out.cu"], (3,), "Is a directory")
        failing(at, folder, ["no.fusion", "-o", "out.cu"], (3,), "No such file")
        failing(at, folder, ["/dev/null", "-o", "out.cu"], (1,), "fusion")


def test_link(at):
    """outputs that are links: to a file, to nothing, to themselves"""
    with faults.new_folder() as folder:
        os.mkdir(os.path.join(folder, "far"))
        faults.write(folder, "far/real.cu", "old\n")
        os.symlink("far/real.cu", os.path.join(folder, "out.cu"))
        r = faults.run([at.fusec, "in.fusion", "-o", "out.cu"], folder)
        expect(r, (0,))
        check(os.path.islink(os.path.join(folder, "out.cu")), "link replaced")
        with open(os.path.join(folder, "far/real.cu"), encoding="utf-8") as f:
            check("__global__" in f.read(), "the file behind it is not new")
        os.symlink("none.cu", os.path.join(folder, "dangling.cu"))
        expect(faults.run([at.fusec, "in.fusion", "-o", "dangling.cu"], folder),
               (0,))
        os.symlink("loop.cu", os.path.join(folder, "loop.cu"))
        expect(faults.run([at.fusec, "in.fusion", "-o", "loop.cu"], folder), (0,))
        no_temporaries(folder, r)


def test_devices(at):
    """/dev/full, /dev/null and a pipe by name"""
    with faults.new_folder() as folder:
        failing(at, folder, ["in.fusion", "--emit=cu", "-o", "/dev/full"], (3,),
                "cannot write '/dev/full': No space left")
        r = faults.run([at.fusec, "in.fusion", "--emit=cu", "-o", "/dev/null"],
                       folder)
        expect(r, (0,))
        check(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"),
              "/dev/null was replaced")
        with open("/dev/full", "wb") as full:
            r = faults.run([at.fusec, "in.fusion", "--emit=cu", "-o", "-"],
                           folder, stdout=full)
            expect(r, (3,), "cannot write 'standard output'")
            r = faults.run([at.fusec, "--help"], folder, stdout=full)
            expect(r, (3,), "cannot write 'standard output'")
            r = faults.run([at.fusec, "in.fusion", "-o", "out.cu", "--explain"],
                           folder, stdout=full)
            expect(r, (3,), "cannot write 'standard output'")
        os.unlink(os.path.join(folder, "out.cu"))
        os.mkfifo(os.path.join(folder, "pipe.cu"))
        reader = subprocess.Popen(["cat", "pipe.cu"], cwd=folder,
                                  stdout=subprocess.PIPE)
        r = faults.run([at.fusec, "in.fusion", "-o", "pipe.cu"], folder)
        expect(r, (0,))
        text = reader.communicate(timeout=faults.HANG_S)[0]
        check(b"__global__" in text and text.endswith(b"\n"), "pipe: cut short")


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [
        test_tmpfs, test_limit, test_limit_signal, test_calls, test_read_only,
        test_read_only_disk, test_unreadable, test_is_folder, test_no_folder,
        test_source_is_folder, test_link, test_devices]))
