#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden tests: what fusec prints and writes, compared byte by byte.

    golden.py [--fusec EXE] [--runner EXE] [--update] [--jobs N] PATH...
    golden.py [--fusec EXE] --roundtrip PATH...

A case is NAME.fusion (or NAME.run, where no program is needed) with NAME.expect
beside it; PATH is a case or a folder of cases. tests/golden/README.md describes
the lines that a case may hold:

    # RUN: --emit=graph -o - %s      a run of fusec; %s is the case's own file
    # RUN: fusec-run out.json ...    a run of fusec-run
    # SHOW: out.cu                   the content of a file, once it was written
    # SHOW: out.cu after TEXT        the same, without the lines up to one with TEXT
    # HIDE: WORD...                  leaves lines with one of the words out of it
    # USES: ../other.fusion          a file to lay beside the case

All runs of a case share one new folder and see no path outside it. A run that
fails must leave no file and must not die by a signal. --update writes the
.expect files. --roundtrip checks that a program printed by --emit=fusion is read
back as the same bytes.
"""

import argparse
import concurrent.futures
import difflib
import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TIMEOUT_S = 120
# Where tools/setup.sh lays NVRTC when there is no CUDA Toolkit.
VENV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".venv")
EXIT_REJECTED = 4  # keeps BASE.rejected.cu, by contract


class Bad(Exception):
    """A case that is wrong whatever its .expect says."""


def directives(text, word):
    pattern = rf"^\s*#\s*{word}:[ \t]*(.*?)[ \t]*$"
    return re.findall(pattern, text, re.MULTILINE)


def snapshot(folder):
    """Relative path -> content of every file below FOLDER."""
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def as_lines(data):
    """Text for the .expect file, with a mark where the last newline is missing."""
    text = data.decode("utf-8", "backslashreplace")
    if text and not text.endswith("\n"):
        text += "\n[no newline at the end]\n"
    return text


def shown(data, after, hidden):
    """The part of a file that its case wants to see."""
    lines = as_lines(data).splitlines(True)
    if after:
        first = [i for i, line in enumerate(lines) if after in line]
        if not first:
            raise Bad(f"no line to show holds '{after}'")
        lines = lines[first[0] + 1:]
    return "".join(s for s in lines if not any(w in s for w in hidden))


def environment(home):
    drop = ("LANG", "LANGUAGE", "NO_COLOR", "COLORTERM", "CLICOLOR_FORCE")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    env = {k: v for k, v in env.items() if not k.startswith("LC_")}
    env.update(LC_ALL="C", TZ="UTC", HOME=home, TERM="dumb")
    if os.path.isdir(VENV):
        env["VIRTUAL_ENV"] = os.path.realpath(VENV)
    return env


def execute(tools, words, folder):
    """Runs one RUN line: ([NAME=VALUE ...] [fusec-run] arguments [< FILE])."""
    env, stdin = environment(folder), subprocess.DEVNULL
    while words and re.match(r"[A-Z_][A-Z0-9_]*=", words[0]):
        env.update([words.pop(0).split("=", 1)])
    if len(words) >= 2 and words[-2] == "<":
        stdin = open(os.path.join(folder, words[-1]), "rb")
        words = words[:-2]
    name = "fusec"
    if words and words[0] in tools:
        name = words.pop(0)
    try:
        return subprocess.run(
            [name] + words, executable=tools[name], cwd=folder, env=env,
            stdin=stdin, capture_output=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise Bad(f"no end after {TIMEOUT_S} s") from None
    except OSError as e:
        raise Bad(f"{tools[name]}: {e.strerror}") from None
    finally:
        if stdin is not subprocess.DEVNULL:
            stdin.close()


def check_failure(run, line, changed):
    """What holds for every run, whatever the case expects."""
    log = run.stderr.decode("utf-8", "replace")[-2000:]
    if run.returncode < 0:
        raise Bad(f"'{line}' died by signal {-run.returncode}\n{log}")
    if b"Sanitizer" in run.stderr or b"runtime error:" in run.stderr:
        raise Bad(f"'{line}': the sanitizer spoke\n{log}")
    if run.returncode == EXIT_REJECTED:
        changed = [n for n in changed if not n.endswith(".rejected.cu")]
    if run.returncode != 0 and changed:
        raise Bad(f"'{line}' failed but left {', '.join(changed)}")


def spelled_out(tools, line):
    """The RUN line as a shell would want it: with the name of the program."""
    settings, rest = re.fullmatch(
        r"((?:[A-Z_][A-Z0-9_]*=\S*\s+)*)(.*)", line).groups()
    if rest.split()[:1] and rest.split()[0] in tools:
        return settings + rest
    return f"{settings}fusec {rest}".strip()


def run_line(tools, case, line, show, folder):
    """One RUN line; returns its part of the .expect text. SHOW gives for the name
    of a file what turns its content into the text to show."""
    line = line.replace("%s", os.path.basename(case))
    before = snapshot(folder)
    run = execute(tools, shlex.split(line), folder)
    after = snapshot(folder)
    changed = sorted(n for n in after if after[n] != before.get(n))
    gone = sorted(n for n in before if n not in after)
    check_failure(run, line, changed + gone)
    out = [f"$ {spelled_out(tools, line)}\n", as_lines(run.stdout)]
    if run.stderr:
        out += ["[stderr]\n", as_lines(run.stderr)]
    files = f"files: {' '.join(changed)}" if changed else "no output file"
    out.append(f"[exit {run.returncode}] [{files}]\n")
    for name in changed:
        if name in show:
            out += [f"[file {name}]\n", show[name](after[name])]
    return "".join(out).replace(folder, "$DIR")


def show_rules(text):
    """File name -> function from its content to the text to show."""
    hidden = " ".join(directives(text, "HIDE")).split()
    rules = {}
    for line in directives(text, "SHOW"):
        name, _, after = line.partition(" after ")
        rules[name] = functools.partial(shown, after=after, hidden=hidden)
    return rules


def actual_text(tools, case):
    with open(case, encoding="utf-8", errors="surrogateescape") as f:
        text = f.read()
    lines, show = directives(text, "RUN"), show_rules(text)
    if not lines:
        raise Bad("has an .expect file but no RUN line")
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        folder = os.path.realpath(folder)
        shutil.copy(case, folder)
        for name in " ".join(directives(text, "USES")).split():
            shutil.copy(os.path.join(os.path.dirname(case), name), folder)
        got = [run_line(tools, case, line, show, folder) for line in lines]
        for name in show:
            if not any(f"[file {name}]\n" in part for part in got):
                raise Bad(f"no run wrote '{name}', which it is to show")
    return "\n".join(got)


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def test_expect(tools, case, update):
    """None when the case passes, else the reason."""
    path = os.path.splitext(case)[0] + ".expect"
    try:
        got = actual_text(tools, case)
    except (Bad, OSError, ValueError) as e:
        return f"{case}: {e}\n"
    want = read_text(path)
    if got == want:
        return None
    if update:
        with open(path, "w", encoding="utf-8", newline="\n") as f:
            f.write(got)
        print(f"wrote {path}")
        return None
    return "".join(difflib.unified_diff(
        want.splitlines(True), got.splitlines(True), path, "this run"))


def print_again(tools, path, folder):
    run = execute(tools, ["--emit=fusion", "-o", "-", path], folder)
    check_failure(run, f"--emit=fusion {path}", [])
    if run.returncode != 0:
        raise Bad(f"--emit=fusion: exit {run.returncode}\n{run.stderr.decode()}")
    if not run.stdout:
        raise Bad("--emit=fusion printed nothing")
    return run.stdout


def test_roundtrip(tools, case, _update):
    """None when printing what was printed gives the same bytes."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        again = os.path.join(folder, os.path.basename(case))
        try:
            first = print_again(tools, os.path.abspath(case), folder)
            with open(again, "wb") as f:
                f.write(first)
            second = print_again(tools, again, folder)
        except (Bad, OSError) as e:
            return f"{case}: {e}\n"
    if first == second:
        return None
    return "".join(difflib.unified_diff(
        as_lines(first).splitlines(True), as_lines(second).splitlines(True),
        f"{case}, printed", f"{case}, printed again"))


def is_case(path, roundtrip):
    expect = read_text(os.path.splitext(path)[0] + ".expect")
    if roundtrip:  # what is to be refused, or imported, cannot be printed
        program = re.search(r"^\s*fusion\b", read_text(path), re.MULTILINE)
        return bool(path.endswith(".fusion") and program and
                    "[exit 1]" not in expect)
    if not path.endswith((".fusion", ".run")):
        return False
    return bool(expect) or bool(directives(read_text(path), "RUN"))


def collect(paths, roundtrip):
    """All cases of PATHS, and the .expect files that belong to none."""
    cases, orphans = [], []
    for path in paths:
        files = [path]
        if os.path.isdir(path):
            files = [os.path.join(b, n) for b, _, ns in os.walk(path) for n in ns]
        cases += [f for f in sorted(files) if is_case(f, roundtrip)]
        for f in sorted(files):
            base = os.path.splitext(f)[0]
            if f.endswith(".expect") and not (
                    os.path.exists(base + ".fusion") or
                    os.path.exists(base + ".run")):
                orphans.append(f)
    return cases, orphans


def options(argv):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--fusec", default=os.environ.get("FUSEC", "build/fusec"))
    p.add_argument("--runner",
                   default=os.environ.get("FUSEC_RUN", "build/tools/fusec-run"))
    p.add_argument("--update", action="store_true")
    p.add_argument("--roundtrip", action="store_true")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("paths", nargs="+", metavar="PATH")
    return p.parse_args(argv)


def main(argv):
    opt = options(argv)
    tools = {"fusec": os.path.abspath(opt.fusec),
             "fusec-run": os.path.abspath(opt.runner)}
    test = test_roundtrip if opt.roundtrip else test_expect
    cases, orphans = collect(opt.paths, opt.roundtrip)
    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        results = list(pool.map(lambda c: test(tools, c, opt.update), cases))
    failures = [r for r in results if r is not None]
    failures += [f"{path}: belongs to no case\n" for path in orphans]
    sys.stdout.write("\n".join(failures))
    passed = len(cases) - (len(failures) - len(orphans))
    print(f"golden: {passed} passed, {len(failures)} failed")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
