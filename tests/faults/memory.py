#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory runs out: one allocation after the other fails, those of jansson, of
flex and of the C library included, once alone and once with all that follow;
and the address space is limited at many levels.

Each run ends with a documented status, says so, and leaves the folder alone.
"""

import os
import random
import sys

import faults
from faults import check, expect, intact, own_nvrtc, snapshot

ALL = "--emit=ast,graph,dot,fusion,plan,kernel,cu,json"
SOURCES = {
    "plain": faults.SOURCE,
    "wrong": faults.WRONG,
    "import": 'import "in2.fusion";\nfusion f(x: bf16[M, N]) -> (y: bf16[M, N]) '
              "{\n    y = softmax(two(x));\n}\n",
}


def preload(at, number, also):
    return {"LD_PRELOAD": os.path.join(at.parts, "libfail_malloc.so"),
            "FAIL_AT": str(number), "FAIL_ON": "1" if also else "0"}


def count_allocations(at, folder, command, env):
    count = os.path.join(folder, "count")
    r = faults.run(command, folder,
                   env={**env, **preload(at, 0, False), "COUNT_TO": count})
    expect(r, (0, 1), mute=True)
    with open(count, encoding="ascii") as f:
        n = int(f.read())
    os.unlink(count)
    return n


def choose(total, most):
    """The first and last few of 1..total, and some between."""
    if total <= most:
        return range(1, total + 1)
    rng = random.Random(5)
    few = most // 4
    middle = rng.sample(range(few + 1, total - few + 1), most - 2 * few)
    return [*range(1, few + 1), *sorted(middle),
            *range(total - few + 1, total + 1)]


def sweep(at, folder, command, env=None, statuses=(0, 1, 3), prepare=None):
    """Fails allocations of a command; how many runs failed."""
    env = env or {}
    if prepare:
        prepare(folder)
    total = count_allocations(at, folder, command, env)
    check(total > 2, f"only {total} allocations: the preload does not work")
    failed = 0
    for also in (False, True):
        for n in choose(total, at.allocations):
            if prepare:
                prepare(folder)
            before = snapshot(folder)
            r = faults.run(command, folder, env={**env, **preload(at, n, also)})
            check(r.status in statuses, f"allocation {n} of {total}: {r}")
            # Without any memory even the message may be lost.
            expect(r, statuses, mute=True)
            failed += r.status != 0
            if r.status != 0:
                intact(before, snapshot(folder), r)
                check(r.err, f"allocation {n} of {total}: no message\n{r}")
    return failed


def old_outputs(folder):
    for kind in ("ast graph dot fusion plan kernel cu json ptx d count "
                 "rejected.cu").split():
        path = os.path.join(folder, "out." + kind)
        if os.path.exists(path):
            os.unlink(path)
    faults.write(folder, "out.cu", "old\n")
    faults.write(folder, "out.json", "old\n")


def prepared(source):
    folder = faults.new_folder(SOURCES[source])
    return folder


def test_front_to_back(at):
    """each allocation of a run that makes everything but PTX"""
    with prepared("plain") as folder:
        failed = sweep(at, folder, [at.fusec, ALL, "in.fusion", "-MD", "-o",
                                    "out.cu"], prepare=old_outputs)
        check(failed, "nothing failed")


def test_import(at):
    """each allocation of a run that imports"""
    with prepared("import") as folder:
        faults.write(folder, "in2.fusion", "def two(x) = x * 2.0;\n")
        sweep(at, folder, [at.fusec, "--emit=cu,json", "in.fusion", "-MD", "-o",
                           "out.cu", "--explain=json"], prepare=old_outputs)


def test_wrong(at):
    """each allocation of a run over a wrong source"""
    with prepared("wrong") as folder:
        for form in ("text", "json"):
            sweep(at, folder, [at.fusec, "in.fusion", "-o", "out.cu",
                               f"-fdiagnostics={form}"], statuses=(1, 3))


def test_ptx(at):
    """each allocation of a run that compiles (the stand-in for NVRTC)"""
    with prepared("plain") as folder:
        sweep(at, folder, [at.fusec, "in.fusion", "-MD", "-o", "out.ptx"],
              env=own_nvrtc(at), prepare=old_outputs)


def test_plan(at):
    """each allocation of a run with a plan out of a manifest, and of --check"""
    with prepared("plain") as folder:
        r = faults.run([at.fusec, "--emit=cu,json", "in.fusion", "-o", "was.cu"],
                       folder)
        expect(r, (0,))
        sweep(at, folder, [at.fusec, "in.fusion", "--plan", "was.json",
                           "--emit=cu", "-o", "out.cu"], prepare=old_outputs)
        sweep(at, folder, [at.fusec, "in.fusion", "--check=cuda,manifest", "-o",
                           "was.cu"])


def test_listings(at):
    """each allocation of what fusec says about itself"""
    with prepared("plain") as folder:
        for option in ("--help", "--list-ops", "--list-plan-keys",
                       "--list-devices"):
            sweep(at, folder, [at.fusec, option])


def test_runner(at):
    """each allocation of fusec-run, as the interpreter"""
    with prepared("plain") as folder:
        r = faults.run([at.fusec, "--emit=cu,json", "in.fusion", "-o", "was.cu"],
                       folder)
        expect(r, (0,))

        def prepare(_):
            for name in ("y", "s"):
                path = os.path.join(folder, name + ".npy")
                if os.path.exists(path):
                    os.unlink(path)

        sweep(at, folder, [at.runner, "was.json", "--reference", "--shape",
                           "M=3,N=5", "--save-outputs", ".", "--threads", "1"],
              prepare=prepare)


def limited(at, folder, command, kilobytes, env):
    limit = f"ulimit -v {kilobytes}; exec \"$@\""
    return faults.run(["bash", "-c", limit, "bash", *command], folder, env=env)


def test_address_space(at):
    """limits on the address space, from far too little to enough"""
    with prepared("plain") as folder:
        for args, env in (
                ([ALL, "in.fusion", "-MD", "-o", "out.cu"], {}),
                (["in.fusion", "-o", "out.ptx"], own_nvrtc(at))):
            done, kilobytes = False, 3000
            while not done:
                check(kilobytes < 1 << 20, "a gigabyte is not enough")
                old_outputs(folder)
                before = snapshot(folder)
                r = limited(at, folder, [at.fusec, *args], kilobytes, env)
                kilobytes += kilobytes // at.steps + 1
                if "loading shared" in r.err or r.status in (127, -11, 1):
                    # The loader of the system gave up, before main.
                    check(kilobytes < 30000, f"at {kilobytes} KB\n{r}")
                    intact(before, snapshot(folder), r)
                    continue
                expect(r, (0, 3), "out of memory|NVRTC not found|" if r.status
                       else "")
                done = r.status == 0
                if not done:
                    intact(before, snapshot(folder), r)


def test_big_source(at):
    """a large program with too little memory"""
    lines = "".join(f"    v{i} = x * {i}.0 + x;\n" for i in range(20000))
    source = ("fusion f(x: f32[M, N]) -> (y: f32[M, N]) {\n" + lines +
              "    y = v0;\n}\n")
    with faults.new_folder(source) as folder:
        command = [at.fusec, "-Wno-all", "--emit=graph", "in.fusion", "-o",
                   "out.graph"]
        statuses = set()
        for kilobytes in (20000, 30000, 50000, 80000, 4000000):
            before = snapshot(folder)
            r = limited(at, folder, command, kilobytes, {})
            expect(r, (0, 3), "out of memory" if r.status else "")
            statuses.add(r.status)
            if r.status:
                intact(before, snapshot(folder), r)
        check(statuses == {0, 3}, f"{statuses}")


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [
        test_front_to_back, test_import, test_wrong, test_ptx, test_plan,
        test_listings, test_runner, test_address_space, test_big_source],
        [("allocations", 60, "to fail, at most, in each sweep"),
         ("steps", 6, "a limit is the last one and a part in this many")]))
