#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do manifests follow docs/manifest.schema.json?

    check_manifest.py MANIFEST.json...
    check_manifest.py --fusec EXE FILE.fusion|FOLDER...

With --fusec the manifests are made first, without a CUDA compiler. Understands
the part of JSON Schema that the schema uses, and refuses a schema that uses
more. Beyond the schema it checks that keys stand in the schema's order, that
launches name declared tensors, workspace and scalars, that they are what the plan
says of clusters and of the finish of column sums, and that hashes of files beside
the manifest hold.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys

from programs import sources

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../docs/manifest.schema.json")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "null": type(None)}
SILENT = {"$schema", "$defs", "title", "description"}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def listed(x):
    return x if isinstance(x, list) else [x]


class Validator:
    """Yields (path, what is wrong)."""

    def __init__(self, schema):
        self.defs = schema["$defs"]
        self.schema = schema

    def check(self, schema, value, at):
        if schema is True:
            return
        if schema is False:
            yield at, "must not be there"
            return
        for word in schema:
            if word not in SILENT:
                rule = getattr(self, "on_" + word.strip("$"), None)
                if rule is None:
                    raise ValueError(f"the schema uses '{word}'")
                yield from rule(schema, schema[word], value, at)

    def on_ref(self, _schema, arg, value, at):
        yield from self.check(self.defs[arg.rsplit("/", 1)[1]], value, at)

    def on_type(self, _schema, arg, value, at):
        if not any(has_type(value, t) for t in listed(arg)):
            yield at, f"is no {arg}"

    def on_const(self, _schema, arg, value, at):
        if value != arg:
            yield at, f"is not {arg!r}"

    def on_enum(self, _schema, arg, value, at):
        if value not in arg:
            yield at, f"{value!r} is none of {arg}"

    def on_pattern(self, _schema, arg, value, at):
        if isinstance(value, str) and not re.search(arg, value):
            yield at, f"{value!r} does not match {arg}"

    def on_minimum(self, _schema, arg, value, at):
        if has_type(value, "number") and value < arg:
            yield at, f"{value} is below {arg}"

    def on_minLength(self, _schema, arg, value, at):
        if isinstance(value, str) and len(value) < arg:
            yield at, "is too short"

    def on_maxLength(self, _schema, arg, value, at):
        if isinstance(value, str) and len(value) > arg:
            yield at, "is too long"

    def on_minItems(self, _schema, arg, value, at):
        if isinstance(value, list) and len(value) < arg:
            yield at, f"has fewer than {arg} items"

    def on_maxItems(self, _schema, arg, value, at):
        if isinstance(value, list) and len(value) > arg:
            yield at, f"has more than {arg} items"

    def on_items(self, _schema, arg, value, at):
        for i, item in enumerate(value if isinstance(value, list) else []):
            yield from self.check(arg, item, f"{at}[{i}]")

    def on_required(self, _schema, arg, value, at):
        if isinstance(value, dict):
            for key in arg:
                if key not in value:
                    yield at, f"lacks '{key}'"

    def on_properties(self, _schema, arg, value, at):
        if not isinstance(value, dict):
            return
        for key, item in value.items():
            if key in arg:
                yield from self.check(arg[key], item, f"{at}.{key}")

    def on_additionalProperties(self, schema, _arg, value, at):
        if not isinstance(value, dict):
            return
        known = list(schema["properties"])
        for key in value:
            if key not in known:
                yield at, f"has the unknown key '{key}'"
        if [k for k in known if k in value] != [k for k in value if k in known]:
            yield at, "has its keys in another order than the schema"

    def on_oneOf(self, _schema, arg, value, at):
        tried = [list(self.check(s, value, at)) for s in arg]
        if sum(not t for t in tried) != 1:
            yield from min(tried, key=len) or [(at, "fits several forms")]


def check_names(manifest):
    """Arguments of launches name what the fusion declares."""
    for fusion in manifest["fusions"]:
        names = {"tensor": set(), "scalar": set(), "i64": None,
                 "workspace": {w["name"] for w in fusion["workspace"]}}
        for p in fusion["params"]:
            is_tensor = p["role"] in ("input", "output")
            names["tensor" if is_tensor else "scalar"].add(p["name"])
        for v, variant in enumerate(fusion["variants"]):
            for launch in variant["launches"]:
                for arg in launch["args"]:
                    known = names[arg["kind"]]
                    if known is not None and arg["value"] not in known:
                        yield (f"{fusion['name']} variant {v}: no "
                               f"{arg['kind']} '{arg['value']}'")


def planned_kernels(plan):
    """{(fusion, variant): [{key: word}, ...]} of the plan's kernels, in order."""
    found = {}
    for name, fusion in re.findall(r"^fusion (\w+) \{\n(.*?)^\}", plan,
                                   re.MULTILINE | re.DOTALL):
        for index, text in re.findall(
                r"variant (\d+)[^{]*\{\s*(kernel 0 .*?)(?=\bvariant |\Z)",
                re.sub(r'"[^"]*"', "", fusion), re.DOTALL):
            found[name, int(index)] = [
                kernel_keys(k) for k in re.split(r"(?=\bkernel \d+ \w+ \{)", text)
                if k.startswith("kernel")]
    return found


def kernel_keys(kernel):
    keys = dict(re.findall(r"(\w+) ([\w]+);", kernel.split("buffer")[0]))
    keys["scheduler"] = kernel.split()[2]
    return keys


def kernel_faults(plan, launches):
    """What of a kernel's launch, and of that which folds, is not as planned."""
    finish, first = plan["finish"], launches[0]
    cluster = int(first["cluster"][0]) * int(first["cluster"][1])
    if cluster != int(plan["cluster"]):
        yield f"a cluster of {cluster} blocks, planned {plan['cluster']}"
    if first["cooperative"] != (finish == "grid"):
        yield f"cooperative is {first['cooperative']}, finish {finish}"
    for launch in launches[1:]:
        if launch["pdl"] != (finish == "pdl_kernel") or launch["cooperative"]:
            yield f"{launch['kernel']} is launched unlike finish {finish}"


def launch_faults(plans, launches, zeroed):
    """What of a variant's launches is not as its plan says."""
    at = 0
    for plan in plans:
        end = at + 1 + (plan["finish"] in ("kernel", "pdl_kernel"))
        if end <= len(launches):
            yield from kernel_faults(plan, launches[at:end])
        at = end
    if at != len(launches):
        yield f"{len(launches)} launches, planned {at}"
    if zeroed != any(p["finish"] in ("grid", "last_block") for p in plans):
        yield f"zeroed workspace: {zeroed}, not as planned"


def check_launches(manifest):
    """Launches are what the plan says."""
    plans = planned_kernels(manifest["plan"])
    for fusion in manifest["fusions"]:
        zero = {w["name"] for w in fusion["workspace"] if w["zero"]}
        for v, variant in enumerate(fusion["variants"]):
            where = f"{fusion['name']} variant {v}"
            plan = plans.get((fusion["name"], v))
            used = {a["value"] for launch in variant["launches"]
                    for a in launch["args"] if a["kind"] == "workspace"}
            if plan is None:
                yield f"{where} is not in the plan"
            elif all(k["scheduler"] != "fallback" for k in plan):
                for what in launch_faults(plan, variant["launches"],
                                          bool(used & zero)):
                    yield f"{where}: {what}"


def check_hashes(path, manifest):
    base = os.path.splitext(path)[0]
    toolchain = manifest["toolchain"] or {}
    for suffix, want in (("cu", manifest["cuda_sha256"]),
                         ("ptx", toolchain.get("ptx_sha256")),
                         ("cubin", toolchain.get("cubin_sha256"))):
        name = f"{base}.{suffix}"
        if want and os.path.exists(name):
            with open(name, "rb") as f:
                if hashlib.sha256(f.read()).hexdigest() != want:
                    yield f"'{name}' has another hash"


def faults(validator, name, text, path=None):
    manifest = json.loads(text)
    found = [f"{at or '(all)'} {what}" for at, what in
             validator.check(validator.schema, manifest, "")]
    if not found:
        found += check_names(manifest)
        found += check_launches(manifest)
        if path:
            found += check_hashes(path, manifest)
    return [f"{name}: {f}" for f in found]


def make(fusec, path):
    run = subprocess.run([fusec, "--emit=json", "-o", "-", path],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{path}: exit {run.returncode}\n{run.stderr}")
    return run.stdout


def main():
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    ap.add_argument("--fusec")
    ap.add_argument("path", nargs="+")
    opt = ap.parse_args()
    with open(SCHEMA, encoding="utf-8") as f:
        validator = Validator(json.load(f))
    count, bad = 0, []
    for path in sources(opt.path) if opt.fusec else opt.path:
        count += 1
        if opt.fusec:
            bad += faults(validator, path, make(opt.fusec, path))
            continue
        with open(path, encoding="utf-8") as f:
            bad += faults(validator, path, f.read(), path)
    for line in bad:
        print(line)
    print(f"manifests: {count} checked, {len(bad)} faults")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
