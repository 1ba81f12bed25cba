#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the field cases; one TAP result a file.

    run.py --fusec EXE --runner EXE [--exec EXE] [--values EXE] [--jobs N] [--only REGEX]
           [--times] FOLDER [-- COMPILER [OPTION...]]

A case is case_NNN_NAME.fusion or case_NNN_NAME.py; README.md says what its lines
mean. COMPILER makes the shared libraries of exec_test; without it (or without
--exec) the EXEC lines of all cases are left out, and the result says so.
"""

import argparse
import concurrent.futures
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMEOUT_S = 300
WORDS = ("EXEC", "EMULATE", "REFUSE", "PRINT", "ERROR", "CHECK", "NOT", "COUNT")
DIRECTIVE = re.compile(r"^# ([A-Z]+): *(.*?) *$", re.MULTILINE)


class Bad(Exception):
    """What is wrong with a case."""


def environment(args):
    env = {k: v for k, v in os.environ.items() if not k.startswith("LC_")}
    env.update(LC_ALL="C", FUSEC=args.fusec, FUSEC_RUN=args.runner or "",
               CXX=args.compiler[0] if args.compiler else "",
               EXEC=shlex.join([args.exec, "%", "--", *args.compiler])
               if args.exec and args.compiler else "",
               EXPR_VALUES=args.values or "")
    return env


def sh(argv, env, cwd):
    try:
        return subprocess.run(argv, capture_output=True, text=True, cwd=cwd,
                              env=env, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise Bad(f"no end after {TIMEOUT_S} s: {shlex.join(argv)}") from None


def run_exec(path, args):
    """All EXEC lines of a file, which exec_test reads itself."""
    if not args.exec or not args.compiler:
        return
    r = sh([args.exec, str(path), "--", *args.compiler], environment(args),
           os.getcwd())
    if r.returncode:
        bad = [s for s in r.stdout.splitlines() if not s.startswith("ok")]
        raise Bad("\n".join([*bad[:20], r.stderr.strip()[:4000]]))


def run_print(path, words, args, folder):
    r = sh([args.fusec, *words, str(path)], environment(args), folder)
    if r.returncode or r.stderr:
        raise Bad(f"exit {r.returncode}: {shlex.join(words)}\n{r.stderr}")
    return r.stdout


def run_error(path, words, args, folder):
    """ID LINE:COLUMN ARGS: fusec says so, exits 1 and writes nothing."""
    name, where, *rest = words
    r = sh([args.fusec, "--emit=cu,json", "-o", "out.cu", *rest, str(path)],
           environment(args), folder)
    pattern = (rf"^{re.escape(str(path))}:{where}: (fatal )?error: .*"
               rf"\[{re.escape(name)}\]$")
    if r.returncode != 1 or not re.search(pattern, r.stderr, re.MULTILINE):
        raise Bad(f"exit {r.returncode}, no {name} at {where}\n{r.stderr}")
    if os.listdir(folder):
        raise Bad(f"{name}: files were written")
    return r.stderr


def run_emulate(path, words, args, folder, status):
    """FUSEC ARGS -- FUSEC-RUN ARGS: runs on the CPU and is checked, or is
    refused with STATUS 1; what fusec-run prints."""
    if not args.runner or not args.compiler:
        return None
    at = words.index("--")
    env = environment(args)
    steps = [(0, [args.fusec, "--emit=cu,json", "-o", "f.json", *words[:at],
                  str(path)]),
             (status, [args.runner, "f.json", "--emulate", "--check", "--cxx",
                       args.compiler[0], *words[at + 1:]])]
    for wanted, argv in steps:
        r = sh(argv, env, folder)
        if r.returncode != wanted:
            raise Bad(f"exit {r.returncode}: {shlex.join(argv)}\n"
                      f"{r.stdout}{r.stderr}")
    return r.stdout + r.stderr


def check_text(word, rest, text):
    """CHECK, NOT and COUNT look at what the run before printed, if one could
    run here."""
    if text is None:
        return
    wanted = None
    if word == "COUNT":
        number, rest = rest.split(None, 1)
        wanted = int(number)
    found = len(re.findall(rest, text, re.MULTILINE))
    if word == "CHECK" and not found or word == "NOT" and found or (
            wanted is not None and found != wanted):
        raise Bad(f"{word}: {rest}: found {found} times in\n{text[:2000]}")


def run_fusion(path, args):
    lines = DIRECTIVE.findall(path.read_text())
    lines = [(word, rest) for word, rest in lines if word in WORDS]
    text = None
    if not lines:
        raise Bad("no line to run")
    for word, rest in lines:
        with tempfile.TemporaryDirectory() as folder:
            if word == "PRINT":
                text = run_print(path, shlex.split(rest), args, folder)
            elif word == "ERROR":
                text = run_error(path, shlex.split(rest), args, folder)
            elif word in ("EMULATE", "REFUSE"):
                text = run_emulate(path, shlex.split(rest), args, folder,
                                   int(word == "REFUSE"))
            elif word != "EXEC":
                check_text(word, rest, text)
    if any(word == "EXEC" for word, _ in lines):
        run_exec(path, args)


def run_script(path, args):
    with tempfile.TemporaryDirectory() as folder:
        r = sh([sys.executable, str(path)], environment(args), folder)
    if r.returncode not in (0, 77):
        raise Bad(f"exit {r.returncode}\n{(r.stdout + r.stderr)[-6000:]}")
    return r.returncode == 77 and r.stdout.strip().splitlines()[-1]


def spent(args):
    """Seconds: of processors where one case runs at a time, else of time."""
    if args.jobs > 1:
        return time.monotonic()
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def run_case(path, args):
    """(name, why it was skipped, what is wrong, seconds)."""
    start = spent(args)
    skipped = bad = None
    try:
        if path.suffix == ".py":
            skipped = run_script(path, args)
        else:
            run_fusion(path, args)
            if "# EXEC:" in path.read_text() and not (
                    args.exec and args.compiler):
                skipped = "no C++ compiler"
    except Bad as e:
        bad = str(e)
    return path.name, skipped, bad, spent(args) - start


def report(number, result, times):
    name, skipped, bad, seconds = result
    line = f"{'not ok' if bad else 'ok'} {number} - {name}"
    if skipped and not bad:
        line += f" # SKIP {skipped}"
    print(line)
    if times:
        print(f"# {seconds:.1f} s")
    for s in (bad or "").splitlines():
        print("# " + s)
    sys.stdout.flush()


def read_arguments():
    argv, compiler = sys.argv[1:], []
    if "--" in argv:
        at = argv.index("--")
        argv, compiler = argv[:at], argv[at + 1:]
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--fusec", required=True)
    p.add_argument("--runner")
    p.add_argument("--exec")
    p.add_argument("--values", help="the program of expr_values.c")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--only", default="", help="a part of the file's name")
    p.add_argument("--times", action="store_true",
                   help="show them; with --jobs 1 those of processors")
    p.add_argument("folder", type=Path)
    args = p.parse_args(argv)
    for name in ("fusec", "runner", "exec", "values"):
        value = getattr(args, name)
        setattr(args, name, value and os.path.abspath(value))
    args.folder = args.folder.resolve()
    args.compiler = compiler
    return args


def main():
    args = read_arguments()
    paths = [p for p in sorted(args.folder.glob("case_*"))
             if p.suffix in (".fusion", ".py") and re.search(args.only, p.name)]
    failed = 0
    print(f"1..{len(paths)}")
    # Longest first would need a table; big files come close to it.
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = [pool.submit(run_case, p, args) for p in paths]
        for i, w in enumerate(waiting):
            result = w.result()
            failed += bool(result[2])
            report(i + 1, result, args.times)
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
