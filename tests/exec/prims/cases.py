# SPDX-License-Identifier: Apache-2.0
"""Cases of kernels in a .cu: how each is launched, on what, and what it must give.
README.md has their form."""

import re
import struct

FORMATS = {"u8": "B", "u32": "I", "i32": "i", "u64": "Q", "i64": "q",
           "f32": "f", "f64": "d"}
GUARD = 256  # bytes behind every buffer that must stay as they are
FILL = 0xA5


def values(text, n, names):
    """The expression for i = 0 .. n - 1; names are those of the `let` lines."""
    code = compile(text, text, "eval")
    return [eval(code, {**names, "i": i})  # pylint: disable=eval-used
            for i in range(n)]


def let(names, line):
    name, _, text = line.partition(" = ")
    names[name] = eval(text, names)  # pylint: disable=eval-used


class Buffer:
    """An argument: `in` and `word` begin as given (a word as 0), an `out` as
    garbage; `want` is what must be there in the end, None for `in`."""

    def __init__(self, line, names):
        m = re.fullmatch(r"(in|out|word) (\w+) (\w+)\[(\d+)\] (=|->) (.*)", line)
        if not m:
            raise ValueError(f"cannot read '{line}'")
        kind, self.name, dtype, n, _, expr = m.groups()
        self.kind, self.format = kind, f"<{n}{FORMATS[dtype]}"
        given = struct.pack(self.format, *values(expr, int(n), names))
        self.begin = {"in": given, "word": bytes(len(given)),
                      "out": bytes([FILL]) * len(given)}[kind]
        self.want = given

    def fault(self, got):
        """None, or how the bytes differ from those wanted."""
        size = len(self.want)
        if got[size:] != bytes([FILL]) * (len(got) - size):
            return f"{self.name}: written behind its end"
        if got[:size] == self.want:
            return None
        pairs = zip(struct.unpack(self.format, got[:size]),
                    struct.unpack(self.format, self.want))
        bad = [(i, a, b) for i, (a, b) in enumerate(pairs) if a != b]
        i, a, b = bad[0]
        return f"{self.name}[{i}] is {a}, not {b} ({len(bad)} differ)"


class Case:
    """One launch of a kernel, and its arguments."""

    def __init__(self, file, name, flags):
        self.file, self.kernel = file, name
        grid = [int(n) for n in flags["grid"].split("x")]
        self.grid = (grid + [1, 1])[:3]
        self.block = int(flags["block"])
        self.smem = int(flags.get("smem", 0))
        self.cluster = int(flags.get("cluster", 1))
        self.launches = int(flags.get("launches", 1))
        # None, or the kinds of which one must be reported, and the lines: those
        # that end in "// BUG".
        self.report = flags["report"].split("|") if "report" in flags else None
        self.lines = []
        # "cooperative=right": only the twin that is right is launched so.
        self.cooperative = "cooperative" in flags and not (
            self.report and flags["cooperative"] == "right")
        self.buffers = []

    def __str__(self):
        return f"{self.file.stem} {self.kernel}"


def cases_of_line(file, line):
    """One case, or those of the right twin and the bad one."""
    kind, name, *words = line.split()
    flags = dict(w.partition("=")[::2] for w in words)
    if kind == "CASE":
        return [Case(file, name, flags)]
    right = {k: v for k, v in flags.items() if k != "report"}
    return [Case(file, name, right), Case(file, name + "_bad", flags)]


def read_cases(file):
    cases, now, names = [], [], {}
    text = file.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.endswith("// BUG"):
            now[-1].lines.append(number)
        if re.match(r"// (CASE|TWINS) \w+ grid=", line):
            now = cases_of_line(file, line[3:])
            cases += now
        elif re.match(r"// let \w+ = ", line):
            let(names, line[7:])
        elif re.match(r"// (in|out|word) \w+ \w+\[", line):
            for case in now:
                case.buffers.append(Buffer(line[3:], names))
    if not cases:
        raise ValueError(f"{file}: no cases")
    return cases


def needs(file):
    """90 for "// NEEDS sm_90"."""
    return int(re.search(r"^// NEEDS sm_(\d+)", file.read_text(encoding="utf-8"),
                         re.MULTILINE)[1])
