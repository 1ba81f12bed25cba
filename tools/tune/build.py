# SPDX-License-Identifier: Apache-2.0
"""The compile step: candidate plans of each problem, a cubin for each plan.

A folder holds NAME.cubin and NAME.json, named by what they are made from, and
index.jsonl, to which a line is added when all plans of a problem are there.
What is there is not made again.
"""

import concurrent.futures
import hashlib
import json
import os
import subprocess

from problem import Bad

INDEX = "index.jsonl"


def fusec_id(fusec):
    with open(fusec, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:12]


def read_lines(path):
    """The objects of a file of JSON lines; a last line that was cut is left
    out."""
    rows = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return rows


def add_line(path, row):
    """Appends in one write; a line that was cut before is ended first."""
    text = json.dumps(row) + "\n"
    if path.exists() and path.stat().st_size:
        with open(path, "rb") as f:
            f.seek(-1, os.SEEK_END)
            if f.read() != b"\n":
                text = "\n" + text
    with open(path, "a", encoding="utf-8") as f:
        f.write(text)


# A plan that uses local memory is none: the only warning that counts.
WARNINGS = ["-Wno-all", "-Wplan-local-memory", "-Werror"]


def section(plan, fusion):
    """What a plan says of one fusion."""
    return plan.split(f"fusion {fusion} {{\n")[1].split("\n}\n")[0] + "\n"


def kernels_of(row):
    """The kernels of a candidate, as its plan names them."""
    lines = section(row["plan"], row["fusion"]).splitlines(keepends=True)
    return "".join(lines[1:-1])


class Builder:
    """Makes the plans of problems in a folder."""

    def __init__(self, fusec, folder, device, most, jobs, kind="cubin"):
        """KIND: what stands beside a manifest, cubin or cu."""
        self.fusec, self.folder, self.device = fusec, folder, device
        self.most, self.jobs, self.kind = most, jobs, kind
        self.id = fusec_id(fusec)

    def _run(self, args):
        return subprocess.run(
            [self.fusec, *args, f"--device={self.device}"], text=True,
            capture_output=True, check=False, stdin=subprocess.DEVNULL)

    def candidates(self, problem):
        r = self._run([*problem.arguments(), f"--candidates={self.most}"])
        if r.returncode:
            raise Bad(f"{problem.key}: {r.stderr.strip()}")
        rows = [json.loads(line) for line in r.stdout.splitlines()]
        names = sorted({row["fusion"] for row in rows})
        if not problem.fusion and len(names) > 1:
            raise Bad(f"{problem.file} has several fusions: choose one of "
                      f"{', '.join(names)} with --fusion")
        rows = list({r["plan"]: r for r in rows
                     if problem.fusion in (None, r["fusion"])}.values())
        if not rows:
            raise Bad(f"{problem.file} has no fusion '{problem.fusion}'")
        return rows

    def name(self, problem, plan):
        """The same for the same compiler, arguments and plan, whose hash stands
        for the program."""
        parts = [self.id, self.kind, self.device, *problem.arguments()[1:],
                 plan]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def compile(self, problem, row):
        """The plan of a row of candidates, with its name and what is wrong with
        it, if anything."""
        entry = {k: row[k] for k in ("rank", "scheduler", "summary",
                                     "predicted_ns", "kernels")}
        entry["name"] = self.name(problem, row["plan"])
        plan = self.folder / f"{entry['name']}.plan"
        plan.write_text(row["plan"], encoding="utf-8")
        why = self._make(problem, entry["name"], [f"--plan={plan}", *WARNINGS])
        plan.unlink()
        if why:
            entry["failed"] = why
        return entry

    def _make(self, problem, name, options):
        """What went wrong, or None when the files of this name are there."""
        if (self.folder / f"{name}.json").exists():
            return None
        # The manifest is written before the cubin: under another name.
        base = self.folder / f"{name}.new"
        r = self._run([*problem.arguments(), *options,
                       f"--emit={self.kind},json", "-o", f"{base}.{self.kind}"])
        if r.returncode:
            return r.stderr.strip()[-400:]
        for suffix in (self.kind, "json"):
            os.replace(f"{base}.{suffix}", self.folder / f"{name}.{suffix}")
        return None

    def mark_shipped(self, problem, rows, plans):
        """Marks the plan that fusec takes by itself; one that is no candidate
        joins them."""
        name = self.name(problem, "")
        if self._make(problem, name, []):
            return
        with open(self.folder / f"{name}.json", encoding="utf-8") as f:
            manifest = json.load(f)
        chosen = section(manifest["plan"], rows[0]["fusion"])
        for row, plan in zip(rows, plans):
            if kernels_of(row) in chosen:
                plan["shipped"] = True
                for suffix in (self.kind, "json"):
                    (self.folder / f"{name}.{suffix}").unlink()
                return
        fusion = next(f for f in manifest["fusions"]
                      if f["name"] == rows[0]["fusion"])
        plans.insert(0, {
            "name": name, "rank": 0, "scheduler": "shipped", "shipped": True,
            "summary": "what fusec takes", "kernels": "",
            "predicted_ns": fusion["variants"][0]["estimated_ns"]})

    def _is_whole(self, row):
        return all("failed" in p or
                   (self.folder / f"{p['name']}.{self.kind}").exists()
                   for p in row["plans"])

    def _todo(self, problems):
        done = {r["key"] for r in read_lines(self.folder / INDEX)
                if r["fusec"] == self.id and r["most"] >= self.most and
                r["device"] == self.device and self._is_whole(r)}
        return [p for p in problems if p.key not in done]

    def build(self, problems, progress):
        """All plans of all problems; those that are refused, with why."""
        self.folder.mkdir(parents=True, exist_ok=True)
        todo, refused = self._todo(problems), []
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for i, problem in enumerate(todo):
                progress(f"compile {i + 1} of {len(todo)}: {problem.key}")
                try:
                    self._build_one(problem, pool)
                except Bad as e:
                    refused.append(str(e))
        return refused

    def _build_one(self, problem, pool):
        rows = self.candidates(problem)
        work = [pool.submit(self.compile, problem, r) for r in rows]
        try:
            plans = [w.result() for w in work]
        except BaseException:
            for w in work:
                w.cancel()
            raise
        self.mark_shipped(problem, rows, plans)
        first = rows[0]
        add_line(self.folder / INDEX, {
            "key": problem.key, "fusec": self.id, "device": self.device,
            "most": self.most, "signature": first["signature"],
            "fusion": first["fusion"], "rows": first["rows"],
            "columns": first["columns"], "floor_ns": first["floor_ns"],
            "dims": problem.dims,
            "check": problem.check, "plans": plans})


def read_index(folder):
    """The last line of each problem, in order of the first."""
    rows = {}
    for row in read_lines(folder / INDEX):
        rows[row["key"]] = row
    return list(rows.values())
