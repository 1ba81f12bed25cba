# SPDX-License-Identifier: Apache-2.0
"""The compile step: the plans of each problem, and one cubin for each plan.

Contenders are what `fusec` chooses (own) and the cheapest candidate of each
side of the choice that issue 402 of nvFuser is about: between the phases of a
row only inputs wait (projection), or computed values do (no_projection).
Candidates and their costs are those of --candidates; they are forced with
--plan. A forced plan that uses local memory is passed over for the next. What
is compiled is named by the text it is made from, so a second run compiles only
what has changed.
"""

import hashlib
import json
import re
import subprocess

import fusions

CONTENDERS = ("own", "projection", "no_projection")
CANDIDATES = 1000  # as many as there are
MOST_TRIES = 6     # of a side


class Failed(Exception):
    """fusec did not do what was asked."""


def fusec_id(fusec):
    return hashlib.sha256(fusec.read_bytes()).hexdigest()[:12]


def side(candidate):
    """projection, no_projection, or None: other ways to keep a row."""
    kind = re.match("no projection|projection|", candidate["summary"]).group()
    return kind.replace(" ", "_") or None


def squeezed(plan):
    return " ".join(plan.split())


class Compiler:
    """Makes the cubins of problems in a folder."""

    def __init__(self, fusec, folder, device="h200", tuned=None):
        self.fusec, self.folder, self.device = fusec.resolve(), folder, device
        self.tuned = tuned
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
        measured = self.tuned.read_text(encoding="utf-8") if (
            self.tuned and not plan) else ""
        text = fusions.program(problem.fusion).read_text(encoding="utf-8")
        made_from = [self.id, text, *args[1:], plan or "", measured]
        mark = hashlib.sha256("\0".join(made_from).encode()).hexdigest()
        name = f"{problem.key}-{mark[:10]}"
        manifest = self.folder / f"{name}.json"
        if not manifest.exists():
            if plan:
                forced = self.folder / f"{name}.plan"
                forced.write_text(plan, encoding="utf-8")
                args.append(f"--plan={forced}")
            if measured:
                args.append(f"--tuned={self.tuned}")
            status, _, why = self._run(
                [*args, "--emit=cubin,json", "--no-embed-program", "-o",
                 str(self.folder / f"{name}.cubin")])
            if plan:
                forced.unlink()
            if status:
                raise Failed(why.strip()[-300:] or f"exit status {status}")
        return name, json.loads(manifest.read_text(encoding="utf-8"))

    def candidates(self, problem):
        """What fusec considers and could launch, the cheapest first."""
        status, out, why = self._run([*self._arguments(problem),
                                      f"--candidates={CANDIDATES}"])
        if status:
            raise Failed(why.strip()[-300:])
        return [json.loads(line) for line in out.splitlines()]

    def _forced(self, problem, candidates, own, notes):
        """The name of the cheapest of the candidates that compiles, or None;
        OWN is the name of a plan that is there already, and its text."""
        for c in sorted(candidates,
                        key=lambda c: c["predicted_ns"])[:MOST_TRIES]:
            if squeezed(c["plan"]) == own[1]:
                return own[0]
            try:
                name, manifest = self._cubin(problem, c["plan"])
            except Failed as e:
                notes.append(f"{c['summary']}: {e}")
                continue
            if clean(manifest):
                return name
            notes.append(f"{c['summary']}: uses local memory")
        return None

    def compile(self, problem):
        """The entry of a problem in the index."""
        candidates = self.candidates(problem)
        name, manifest = self._cubin(problem, None)
        own = name, squeezed(manifest["plan"])
        notes, plans = [], {"own": name}
        for which in CONTENDERS[1:]:
            some = [c for c in candidates if side(c) == which]
            plans[which] = self._forced(problem, some, own, notes)
        if not clean(manifest):
            notes.append("own: not the first choice, which used local memory")
        first = next((c for c in candidates if squeezed(c["plan"]) == own[1]),
                     {"summary": "another plan", "predicted_ns": 0})
        return {"key": problem.key, "fusec": self.id, "plans": plans,
                "summary": first["summary"],
                "predicted_us": first["predicted_ns"] / 1e3, "notes": notes}


def clean(manifest):
    """As planned, and without local memory."""
    tools = manifest["toolchain"]
    return not tools["rejected"] and not any(
        k["stack_bytes"] + k["spill_store_bytes"] + k["spill_load_bytes"]
        for k in tools["kernels"])
