# SPDX-License-Identifier: Apache-2.0
"""The compile step: the plans of each problem, and one cubin for each plan.

Contenders are what `fusec` chooses (own) and the cheapest candidate of each side
of the choice that issue 402 of nvFuser is about: between the phases of a row only
inputs wait (projection), or computed values do (no_projection). Candidates and
their costs are those of --explain=json; they are forced with --plan. A forced plan
that uses local memory is passed over for the next. What is compiled is named by
the text it is made from, so a second run compiles only what has changed.
"""

import hashlib
import json
import re
import subprocess

import fusions

CONTENDERS = ("own", "projection", "no_projection")
MOST_TRIES = 6


class Failed(Exception):
    """fusec did not do what was asked."""


def fusec_id(fusec):
    return hashlib.sha256(fusec.read_bytes()).hexdigest()[:12]


def side(candidate):
    """projection, no_projection, or None: other ways to keep a row."""
    kind = re.match("no projection|projection|", candidate["summary"]).group()
    return kind.replace(" ", "_") or None


def plan_text(header, fusion, candidate):
    """The candidate as --plan reads it."""
    keys = " ".join(f"{k} {v};" for k, v in candidate["keys"].items())
    buffers = "".join(
        f" buffer {b['buffer']} {{ store {b['store']}; reuse {b['reuse']}; }}"
        for b in candidate["buffers"])
    return (f"{header}\nfusion {fusion} {{ variant 0 {{ kernel 0 "
            f"{candidate['scheduler']} {{ {keys}{buffers} }} }} }}\n")


class Compiler:
    """Makes the cubins of problems in a folder."""

    def __init__(self, fusec, folder, device="h200"):
        self.fusec, self.folder, self.device = fusec.resolve(), folder, device
        self.id = fusec_id(fusec)

    def _run(self, args):
        r = subprocess.run([str(self.fusec), *args], capture_output=True,
                           text=True, check=False, stdin=subprocess.DEVNULL)
        return r.returncode, r.stdout, r.stderr

    def _arguments(self, problem):
        return [str(fusions.program(problem.fusion)), f"-DT={problem.dtype}",
                f"-DM={problem.m}", f"-DN={problem.n}",
                f"--device={self.device}"]

    def _cubin(self, problem, plan):
        """(name, manifest) of a compilation, PLAN forced unless None."""
        args = self._arguments(problem)
        text = fusions.program(problem.fusion).read_text(encoding="utf-8")
        mark = hashlib.sha256("\0".join(
            [self.id, text, *args[1:], plan or ""]).encode()).hexdigest()[:10]
        name = f"{problem.key}-{mark}"
        manifest = self.folder / f"{name}.json"
        if not manifest.exists():
            if plan:
                forced = self.folder / f"{name}.plan"
                forced.write_text(plan, encoding="utf-8")
                args.append(f"--plan={forced}")
            status, _, why = self._run(
                [*args, "--emit=cubin,json", "--no-embed-program", "-o",
                 str(self.folder / f"{name}.cubin")])
            if plan:
                forced.unlink()
            if status:
                raise Failed(why.strip()[-300:] or f"exit status {status}")
        return name, json.loads(manifest.read_text(encoding="utf-8"))

    def candidates(self, problem):
        """(first line of the plan, variants) that fusec considers."""
        path = self.folder / f"{problem.key}.plan"
        status, out, why = self._run([*self._arguments(problem),
                                      "--explain=json", "--emit=plan", "-o",
                                      str(path)])
        if status:
            raise Failed(why.strip()[-300:])
        header = path.read_text(encoding="utf-8").split("\n")[0]
        path.unlink()
        return header, json.loads(out)[0]["variants"]

    def _forced(self, problem, header, candidates, notes):
        """The name of the cheapest of the candidates that compiles, or None."""
        for c in sorted(candidates, key=lambda c: c["total_ns"])[:MOST_TRIES]:
            try:
                name, manifest = self._cubin(
                    problem, plan_text(header, problem.fusion, c))
            except Failed as e:
                notes.append(f"{c['summary']}: {e}")
                continue
            if clean(manifest):
                return name
            notes.append(f"{c['summary']}: uses local memory")
        return None

    def compile(self, problem):
        """The entry of a problem in the index."""
        header, variants = self.candidates(problem)
        first = next(c for c in variants[0]["candidates"] if c["chosen"])
        own, manifest = self._cubin(problem, None)
        notes, plans = [], {"own": own}
        for which in CONTENDERS[1:]:
            if clean(manifest) and side(first) == which:
                plans[which] = own
                continue
            plans[which] = self._forced(
                problem, header, [c for c in variants[0]["candidates"]
                                  if "refused" not in c and
                                  side(c) == which], notes)
        if not clean(manifest):
            notes.append("own: not the first choice, which used local memory")
        return {"key": problem.key, "fusec": self.id, "plans": plans,
                "summary": first["summary"],
                "predicted_us": first["total_ns"] / 1e3, "notes": notes}


def clean(manifest):
    """As planned, and without local memory."""
    tools = manifest["toolchain"]
    return not tools["rejected"] and not any(
        k["stack_bytes"] + k["spill_store_bytes"] + k["spill_load_bytes"]
        for k in tools["kernels"])
