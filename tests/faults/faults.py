# SPDX-License-Identifier: Apache-2.0
"""What the fault tests share: a folder, a run, the promise, and TAP.

The promise of every run, whatever goes wrong around it:

- it ends by itself, with one of the documented statuses, never by a signal;
- status 0 leaves every output whole; any other status leaves the folder as it
  was, but for BASE.rejected.cu after status 4;
- no temporary stays behind;
- a failure says something.

A test is a function with the argument `at` (struct of paths and options); its
docstring's first line is its name. It calls `check` for what it claims.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import traceback

STATUSES = {0: "done", 1: "input", 2: "usage", 3: "environment", 4: "rejected"}
HANG_S = 120

SOURCE = """fusion f(x: f32[M, N], g: f32[N]) -> (y: f32[M, N], s: f32[M]) {
    y = x * g + 1.0;
    s = sum(x, axis=1);
}
"""
WRONG = "fusion f(x: f32[M]) -> (y: f32[M]) {\n    y = z;\n}\n"


class Failure(Exception):
    """A claim that did not hold."""


def check(holds, text):
    if not holds:
        raise Failure(text)


class Run:
    """One finished process."""

    def __init__(self, command, status, out, err):
        self.command, self.status = command, status
        self.out, self.err = out, err

    def __str__(self):
        return (f"$ {' '.join(self.command)}\n[exit {self.status}]\n"
                f"{self.out[-2000:]}{self.err[-2000:]}")


def _text(data):
    return (data or b"").decode("utf-8", "backslashreplace")


def run(command, cwd, env=None, data=b"", hang=HANG_S, **more):
    """Runs a command; a value None in ENV removes a variable."""
    full = dict(os.environ)
    for key, value in (env or {}).items():
        full.pop(key, None)
        if value is not None:
            full[key] = value
    command = [c if isinstance(c, str) else str(c) for c in command]
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    try:
        done = subprocess.run(command, cwd=cwd, env=full, input=data,
                              timeout=hang, check=False, **more)
    except subprocess.TimeoutExpired as e:
        raise Failure(f"hangs: {' '.join(command)}") from e
    return Run(command, done.returncode, _text(done.stdout), _text(done.stderr))


def own_nvrtc(at, word=None, library="libnvrtc_stub.so"):
    """The environment in which NVRTC is the tests' own library: it answers at
    once, rightly, or with the fault that WORD names (nvrtc.py has them)."""
    return {"FUSEC_NVRTC": os.path.join(at.parts, library), "STUB_NVRTC": word}


def snapshot(folder):
    """{name: bytes} of a folder."""
    found = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as f:
                found[name] = f.read()
        else:
            found[name] = None
    return found


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def expect(r, statuses, words="", mute=False):
    """Ended by itself with one of STATUSES, and said WORDS (a pattern)."""
    check(r.status in statuses, f"exit {r.status}, not {statuses}\n{r}")
    check(not re.search(r"Sanitizer|runtime error:|internal error", r.err),
          f"a report\n{r}")
    check(r.err or mute or not r.status, f"no message\n{r}")
    check(re.search(words, r.out + r.err), f"does not say '{words}'\n{r}")


def intact(before, after, r):
    """The folder is as it was."""
    names = sorted(set(before) ^ set(after))
    check(not names, f"came or went: {names}\n{r}")
    changed = [n for n in before if before[n] != after[n]]
    check(not changed, f"changed: {changed}\n{r}")


def no_temporaries(folder, r):
    left = [n for n in os.listdir(folder) if ".tmp" in n]
    check(not left, f"left behind: {left}\n{r}")


@contextlib.contextmanager
def new_folder(source=SOURCE):
    """A folder with in.fusion."""
    with tempfile.TemporaryDirectory(prefix="fusec-faults-") as folder:
        os.chmod(folder, 0o755)
        write(folder, "in.fusion", source)
        yield folder


def failing(at, folder, args, statuses, words, **more):
    """A run that must fail and change nothing."""
    before = snapshot(folder)
    r = run([at.fusec, *args], folder, **more)
    expect(r, statuses, words)
    intact(before, snapshot(folder), r)
    return r


def _report(number, name, why):
    print(f"{'not ok' if why else 'ok'} {number} - {name}")
    for line in (why or "").splitlines():
        print("# " + line)
    sys.stdout.flush()


def _try(test, at):
    try:
        test(at)
    except Failure as e:
        return str(e)
    except Exception:  # a fault of the test is a failure, too
        return traceback.format_exc()
    return None


def main(doc, tests, options=()):
    """OPTIONS: (flag, count in CI, help) of numbers that --full raises."""
    ap = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
    ap.add_argument("--fusec", required=True, type=os.path.abspath)
    ap.add_argument("--runner", type=os.path.abspath, help="fusec-run")
    ap.add_argument("--parts", type=os.path.abspath,
                    help="the folder of the libraries that stand in for others")
    ap.add_argument("--only", default="", help="tests whose name matches this")
    for flag, count, text in options:
        ap.add_argument("--" + flag, type=int, default=count, help=text)
    at = ap.parse_args()
    chosen = [t for t in tests
              if re.search(at.only, t.__doc__.split("\n", maxsplit=1)[0])]
    failed = 0
    print(f"1..{len(chosen)}")
    for i, test in enumerate(chosen):
        why = _try(test, at)
        failed += why is not None
        _report(i + 1, test.__doc__.split("\n", maxsplit=1)[0], why)
    return 1 if failed else 0
