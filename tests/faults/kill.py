#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run of fusec that is killed, at every call and at random times.

Old outputs lie in the folder. Afterwards each file is the old or the new one,
whole; those that are new come first in the order .cu, dependency file, .json,
.ptx, so that what make looks at is replaced last; and a manifest beside the PTX
of another run is refused. After SIGTERM nothing else lies there.
"""

import os
import random
import signal
import subprocess
import sys
import time

import faults
from faults import check, own_nvrtc

ORDER = ["out.cu", "out.d", "out.json", "out.ptx"]
ARGS = ["in.fusion", "-MD", "-o", "out.ptx"]
OTHER = faults.SOURCE.replace("+ 1.0", "- 3.0")


def compiled(at, folder, source):
    """The four files of a source."""
    faults.write(folder, "in.fusion", source)
    r = faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at))
    faults.expect(r, (0,))
    return {n: faults.snapshot(folder)[n] for n in ORDER}


class Scene:
    """A folder with the outputs of another source, to be compiled over."""

    def __init__(self, at, folder):
        self.at, self.folder = at, folder
        self.new = compiled(at, folder, faults.SOURCE)
        self.old = compiled(at, folder, OTHER)
        # A depfile and PTX of the stub are the same for both; tell them apart.
        self.old["out.d"] = b"out.ptx: in.fusion other.fusion\n"
        self.old["out.ptx"] = b"// an older PTX\n"
        faults.write(folder, "in.fusion", faults.SOURCE)

    def reset(self):
        for name in os.listdir(self.folder):
            if name != "in.fusion":
                os.unlink(os.path.join(self.folder, name))
        for name in ORDER:
            faults.write(self.folder, name, self.old[name])

    def judge(self, what, temporaries):
        """How many files are new; raises when something is wrong."""
        now, state = faults.snapshot(self.folder), []
        for name in ORDER:
            check(now.get(name) in (self.old[name], self.new[name]),
                  f"{what}: {name} is neither old nor new")
            state.append(now[name] == self.new[name])
        check(state == sorted(state, reverse=True),
              f"{what}: replaced out of order {dict(zip(ORDER, state))}")
        others = set(now) - set(ORDER) - {"in.fusion"}
        if not temporaries:
            check(not others, f"{what}: left behind {sorted(others)}")
        check(all(".tmp" in n for n in others), f"{what}: odd files {others}")
        return sum(state)


def every_call(at, fault, death, temporaries):
    with faults.new_folder() as folder:
        scene = Scene(at, folder)
        env = {**own_nvrtc(at), "FAULT": fault,
               "LD_PRELOAD": os.path.join(at.parts, "libfault_calls.so"),
               "ASAN_OPTIONS": "verify_asan_link_order=0"}
        seen, n, status = set(), 0, None
        while status != 0:
            n += 1
            scene.reset()
            env["FAULT_AT"] = str(n)
            r = faults.run([at.fusec, *ARGS], folder, env=env)
            status = r.status
            check(status in (0, -death), f"call {n}: exit {status}\n{r}")
            seen.add(scene.judge(f"call {n}", temporaries))
            check(n < 2000, "no end of calls")
        check(n > 12, f"only {n} calls were seen: the preload does not work")
        return n, seen


def test_kill_calls(at):
    """SIGKILL before every call that touches a file"""
    _, seen = every_call(at, "kill", signal.SIGKILL, True)
    check(seen == {0, 1, 2, 3, 4}, f"not every state was met: {seen}")


def test_term_calls(at):
    """SIGTERM before every call that touches a file"""
    _, seen = every_call(at, "term", signal.SIGTERM, False)
    check(seen >= {0, 4}, f"not every state was met: {seen}")


def random_times(at, number, count):
    rng = random.Random(20)
    with faults.new_folder() as folder:
        scene = Scene(at, folder)
        env = {**os.environ, **{k: v for k, v in own_nvrtc(at).items() if v}}
        start = time.monotonic()
        faults.run([at.fusec, *ARGS], folder, env=own_nvrtc(at))
        span = 1.3 * (time.monotonic() - start)
        died = 0
        for i in range(count):
            scene.reset()
            p = subprocess.Popen([at.fusec, *ARGS], cwd=folder, env=env,
                                 stderr=subprocess.PIPE)
            time.sleep(rng.uniform(0, span))
            p.send_signal(number)
            p.communicate(timeout=faults.HANG_S)
            check(p.returncode in (0, -number), f"run {i}: {p.returncode}")
            died += p.returncode != 0
            scene.judge(f"run {i}", number == signal.SIGKILL)
        check(died > count // 10, f"only {died} of {count} runs were killed")


def test_kill_times(at):
    """SIGKILL at random times"""
    random_times(at, signal.SIGKILL, at.runs)


def test_term_times(at):
    """SIGTERM at random times"""
    random_times(at, signal.SIGTERM, at.runs)


def test_waiting(at):
    """SIGTERM while standard output has no reader"""
    with faults.new_folder(faults.SOURCE) as folder:
        source = "".join(faults.SOURCE.replace("f(", f"f{i}(") for i in range(30))
        faults.write(folder, "in.fusion", source)
        read, into = os.pipe()
        p = subprocess.Popen(
            [at.fusec, "--emit=cu", "in.fusion", "-MD", "-MF", "out.d", "-o", "-"],
            cwd=folder, stdout=into, stderr=subprocess.PIPE)
        os.close(into)
        time.sleep(1)
        check(p.poll() is None, "did not wait for its reader")
        p.terminate()
        p.communicate(timeout=10)
        os.close(read)
        check(p.returncode == -signal.SIGTERM, f"exit {p.returncode}")
        left = sorted(os.listdir(folder))
        check(left == ["in.fusion"], f"left behind: {left}")


def test_ignored(at):
    """a hang-up that is ignored, as nohup does"""
    with faults.new_folder() as folder:
        command = f"trap '' HUP; exec '{at.fusec}' {' '.join(ARGS)}"
        p = subprocess.Popen(["sh", "-c", command], cwd=folder,
                             env={**os.environ, **{k: v for k, v in
                                                   own_nvrtc(at).items() if v}})
        for _ in range(40):
            time.sleep(0.005)
            p.send_signal(signal.SIGHUP)
        check(p.wait(timeout=faults.HANG_S) in (0, -signal.SIGHUP), "failed")
        if p.returncode == 0:
            check(set(ORDER) <= set(os.listdir(folder)), "outputs are missing")


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [test_kill_calls, test_term_calls,
                                   test_kill_times, test_term_times,
                                   test_waiting, test_ignored],
                         [("runs", 60, "of each random test")]))
