# SPDX-License-Identifier: Apache-2.0
"""The run step: fusec-run checks all plans of a problem and times those that
are right, in one process; a line of results a problem."""

import re
import subprocess
import time

from build import add_line, read_lines

FASTEST = 0.8        # of the time that the device's memory needs by its row:
LEAST_BYTES = 128e6  # less was not measured right, where so many bytes move
OUTSIDE, CRASHED = 3, -1  # statuses: something is missing; killed or hung
BENCH = re.compile(r"^bench (\S+)  bytes (\d+)  time ([\d.]+) us .*?"
                   r"copy ([\d.]+) us", re.MULTILINE)
PLAN = re.compile(r"^plan (\S+)  (ok|WRONG|failed: .*)$", re.MULTILINE)


class Outside(Exception):
    """What the measuring needs is not there: no result is."""


def shape_text(dims):
    return ",".join(f"{n}={v}" for n, v in dims)


def plan_name(path):
    return path.rsplit("/", 1)[-1].removesuffix(".json")


class Runner:
    """Runs the plans of problems in a folder."""

    def __init__(self, runner, folder, options):
        """OPTIONS: what fusec-run is told beside sizes and plans."""
        self.runner, self.folder, self.options = runner, folder, options

    def _command(self, row, names):
        check = dict(row["check"])
        sizes = [(n, check.get(n, v)) for n, v in row["dims"]]
        args = [self.runner, *(str(self.folder / f"{n}.json") for n in names),
                "--fusion", row["fusion"], "--check",
                "--shape", shape_text(sizes), *self.options]
        if row["check"] and "--bench" in self.options:
            args += ["--time-shape", shape_text(row["dims"])]
        return args

    def _run(self, row, names, timeout):
        """(output, words on what went wrong, status); CRASHED: it was killed,
        or hung."""
        try:
            r = subprocess.run(self._command(row, names), text=True,
                               capture_output=True, check=False,
                               stdin=subprocess.DEVNULL, timeout=timeout)
        except subprocess.TimeoutExpired:
            return "", f"took more than {timeout:g} s", CRASHED
        if r.returncode < 0:
            return "", f"died by signal {-r.returncode}", CRASHED
        return r.stdout, r.stderr.strip(), r.returncode

    def measure(self, row, timeout):
        """The result of a problem of the index."""
        names = [p["name"] for p in row["plans"] if "failed" not in p]
        result = {"key": row["key"], "fusec": row["fusec"], "us": {},
                  "wrong": {}, "failed": {}, "checked": 0}
        while names:
            out, why, status = self._run(row, names, timeout)
            if status == CRASHED:
                names = self._find_crash(result, row, names, why, timeout)
            else:
                names = self._read(result, row, names, out, why, status)
        return result

    def _find_crash(self, result, row, names, why, timeout):
        """Tries each plan alone; those that are left."""
        bad = names
        if len(names) > 1:
            bad = [n for n in names
                   if self._run(row, [n], timeout)[2] == CRASHED]
        for n in bad or names:
            result["failed"][n] = why
        return [n for n in names if n not in result["failed"]]

    def _read(self, result, row, names, out, why, status):
        """Takes over what was said; the plans that are to be run again."""
        if len(names) == 1 and not PLAN.search(out):
            out += self._verdict(names[0], out, why, status)
        verdicts = PLAN.findall(out)
        if status == OUTSIDE and not verdicts:
            raise Outside(why)
        for path, verdict in verdicts:
            name = plan_name(path)
            if verdict.startswith("failed"):
                result["failed"][name] = verdict[8:]
                return [n for n in names if n != name]
            if verdict == "WRONG":
                result["wrong"][name] = "a wrong result"
        result["checked"] = len({path for path, _ in verdicts})
        self._read_times(result, row, names, out)
        known = {*result["us"], *result["wrong"], *result["failed"]}
        if "--bench" in self.options or status not in (0, 1):
            for n in names:
                if n not in known:
                    result["failed"][n] = why[-400:] or f"exit status {status}"
        return []

    @staticmethod
    def _verdict(name, out, why, status):
        if status == 0:
            return f"\nplan {name}  ok\n"
        if "WRONG" in out:
            return f"\nplan {name}  WRONG\n"
        if status == OUTSIDE:
            return ""
        return f"\nplan {name}  failed: {' '.join(why.split()) or status}\n"

    @staticmethod
    def _read_times(result, row, names, out):
        for path, size, us, copy in BENCH.findall(out):
            name = plan_name(path) if len(names) > 1 else names[0]
            result["bytes"], result["copy_us"] = int(size), float(copy)
            least = FASTEST * row["floor_ns"] / 1e3
            if int(size) >= LEAST_BYTES and float(us) < least:
                result["failed"][name] = "faster than the memory allows"
            elif name not in result["wrong"]:
                result["us"][name] = float(us)

    def run(self, rows, path, timeout, seconds, progress):
        """Adds a line to PATH for each problem that has none; none is begun
        after so many seconds. How many are left."""
        done = {(r["key"], r["fusec"]) for r in read_lines(path)}
        todo = [r for r in rows if (r["key"], r["fusec"]) not in done]
        start = time.monotonic()
        for i, row in enumerate(todo):
            if seconds and time.monotonic() - start > seconds:
                return len(todo) - i
            progress(f"run {i + 1} of {len(todo)}: {row['key']}")
            add_line(path, self.measure(row, timeout))
        return 0
