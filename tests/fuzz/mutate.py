#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a fuzz target on seeded mutations of programs.

    mutate.py --target EXE [--count N] [--seed S] [--keep DIR] PATH...

PATH is a .fusion file or a folder of them. Mutation I of seed S is always the
same text: bytes flipped, inserted and cut; tokens deleted, doubled, swapped and
replaced, by others of the corpus or from a dictionary that is read from the
tables of the compiler. Inputs go to the target in batches, through a pipe; when
the target dies or hangs, the input that did it is found, shortened, written to
DIR (default: the current folder), and named. Exit status 1 then.
"""

import argparse
import glob
import hashlib
import os
import random
import re
import select
import struct
import subprocess
import sys
import time

BATCH = 200
HANG_S = 60
SHRINK_S = 120
MAX_BYTES = 64 * 1024
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TOKEN = re.compile(
    rb"#[^\n]*|\"[^\"\n]*\"|[A-Za-z_]\w*|0[xX][0-9a-fA-F.]+[pP]?[+-]?\w*"
    rb"|\d+\.\d+(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?|->|\.\.\.|\*\*|//|<<|>>"
    rb"|==|!=|<=|>=|&&|\|\||\s+|.", re.DOTALL)

WORDS = """fusion import const type def return requires None true false inf nan pi
    -> ... ** // << >> == != <= >= && || + - * / % & | ^ ~ ! < > = ? : , ; ( ) [ ]
    { } strides align inplace axis keepdim correction dtype value lo hi p _ dim
    0 1 2 3 7 8 9 -1 255 256 1024 65536 2147483647 2147483648 9223372036854775807
    9223372036854775808 0x7fffffffffffffff 0.0 1.0 0.5 -0.0 1e-45 1e38 1e39 1e308
    1e309 1e-320 0x1p-149 0x1.8p3 [0,1] [[0,1],[2,3]] x[:,None] x[...] x[::2]
    x[0:0] -x !x ~x (x) f32(x) bf16(x) i64(x) bool(x)""".split()
NAME = re.compile(rb"[A-Za-z_]")
OPERATORS = b"+ - * / // % ** == != < <= > >= && || & | ^ << >>".split()
NUMBERS = b"0 1 2 3 7 31 64 1023 1e-5 0.0 0.5 -1 -2 2.0 1e38 1e-45 inf nan pi".split()
SHAPES = [b"f32(?)", b"bf16(?)", b"i32(?)", b"bool(?)", b"f64(?)", b"-?", b"(? > 0)",
          b"sum(?, axis=0)", b"max(?, axis=-1, keepdim=true)", b"?[:, None]",
          b"?[None]", b"?[0]", b"?[1:]", b"?[::2]", b"transpose(?, 0, 1)", b"(? + ?)",
          b"where(? > 0, ?, 0)", b"cumsum(?, axis=0)", b"exp(?)", b"softmax(?)",
          b"mean(?)", b"flip(?, axis=0)", b"cat([?, ?], axis=0)",
          b"pad(?, [[1, 1], [0, 2]])", b"iota(3)", b"argmax(?, axis=1)", b"? % 2"]
BYTES = [b"\0", b"\xff", b"\xc3", b"\xe2\x88\x92", b"\xef\xbb\xbf", b"\r\n", b"\t",
         b"#", b'"', b"'", b"\\", b"$", b"."]


def table_words():
    """Names of operations and types, from the tables of the compiler."""
    for path, macro in (("src/ir/ops.def", "OP"), ("src/ir/dtypes.def", "DTYPE")):
        with open(os.path.join(ROOT, path), encoding="ascii") as f:
            for name in re.findall(rf'^{macro}\(\s*\w+,\s*"(\w+)"', f.read(),
                                   re.MULTILINE):
                yield name
    with open(os.path.join(ROOT, "templates/prelude.fusion"), encoding="ascii") as f:
        yield from re.findall(r"^def (\w+)", f.read(), re.MULTILINE)


def read_corpus(paths):
    files = []
    for path in paths:
        if os.path.isdir(path):
            files += sorted(glob.glob(os.path.join(path, "**", "*.fusion"),
                                      recursive=True))
        else:
            files.append(path)
    texts, legal = [], []
    for path in files:
        with open(path, "rb") as f:
            text = f.read()
        if len(text) > MAX_BYTES // 4:
            continue
        texts.append(text)
        if os.path.basename(os.path.dirname(path)) != "diag":
            legal.append(text)
    return texts, legal


class Mutator:
    def __init__(self, texts, legal, seed):
        self.seed = seed
        self.corpus = [TOKEN.findall(text) for text in texts]
        self.legal = [self.code(text) for text in legal]
        self.words = sorted({w.encode() for w in [*WORDS, *table_words()]})
        self.calls = sorted({w.encode() for w in table_words()})

    @staticmethod
    def code(text):
        return [t for t in TOKEN.findall(text) if not t.startswith(b"#")]

    def make(self, index):
        """Mutation INDEX, whatever was made before."""
        digest = hashlib.sha256(b"%d %d" % (self.seed, index)).digest()
        rng = random.Random(int.from_bytes(digest[:8], "big"))
        if self.legal and rng.random() < 0.5:
            tokens = list(rng.choice(self.legal))
            for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
                self.change_gently(rng, tokens)
            return b"".join(tokens)[:MAX_BYTES]
        tokens = list(rng.choice(self.corpus))
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8, 20))):
            self.change_tokens(rng, tokens)
        text = b"".join(tokens)
        if rng.random() < 0.2:
            text = self.change_bytes(rng, text)
        return text[:MAX_BYTES]

    def change_tokens(self, rng, tokens):
        n = len(tokens)
        at = rng.randrange(n + 1) if n else 0
        kind = rng.randrange(8)
        end = min(n, at + rng.choice((1, 1, 1, 2, 3, 5, 10, 40)))
        if kind == 0:
            del tokens[at:end]
        elif kind == 1:
            tokens[at:at] = tokens[at:end] * rng.choice((1, 1, 1, 1, 2, 30, 300))
        elif kind == 2 and n >= 2:
            other = rng.randrange(n)
            at = min(at, n - 1)
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at:at] = [rng.choice(self.words)]
        elif kind == 4:
            source = rng.choice(self.corpus)
            start = rng.randrange(len(source)) if source else 0
            tokens[at:at] = source[start : start + rng.choice((1, 3, 10, 60))]
        elif kind == 5:
            self.replace_same_kind(rng, tokens)
        else:
            tokens[at : at + 1] = [rng.choice(self.words)]

    def change_gently(self, rng, tokens):
        """One change after which the text is mostly still a program."""
        kind = rng.randrange(7)
        names = [i for i, t in enumerate(tokens) if NAME.match(t)]
        called = [i for i in names if tokens[i + 1 : i + 2] == [b"("]]
        values = [i for i in names if i not in called]
        numbers = [i for i, t in enumerate(tokens) if t[:1].isdigit()]
        operators = [i for i, t in enumerate(tokens) if t in OPERATORS]
        ends = [i for i, t in enumerate(tokens) if t in (b";", b"{")]
        if kind <= 1 and values:
            tokens[rng.choice(values)] = tokens[rng.choice(values)]
        elif kind == 2 and called:
            tokens[rng.choice(called)] = rng.choice(self.calls)
        elif kind == 3 and numbers:
            tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
        elif kind == 4 and operators:
            tokens[rng.choice(operators)] = rng.choice(OPERATORS)
        elif kind == 5 and values:
            at = rng.choice(values)
            tokens[at] = rng.choice(SHAPES).replace(b"?", tokens[at])
        elif len(ends) >= 2:
            self.move_statement(rng, tokens, ends)

    def replace_same_kind(self, rng, tokens):
        """A name for a name, a number for a number."""
        word = NAME if rng.random() < 0.7 else re.compile(rb"\d")
        places = [i for i, t in enumerate(tokens) if word.match(t)]
        pool = [t for t in tokens if word.match(t)]
        pool += [t for t in self.words if word.match(t)]
        if places and pool:
            tokens[rng.choice(places)] = rng.choice(pool)

    @staticmethod
    def move_statement(rng, tokens, ends):
        """Takes a statement out, and perhaps puts it, or a copy, elsewhere."""
        which = rng.randrange(len(ends) - 1)
        begin, end = ends[which] + 1, ends[which + 1] + 1
        statement, kind = tokens[begin:end], rng.randrange(3)
        at = rng.choice(ends) + 1
        if kind == 2:
            tokens[at:at] = statement
            return
        del tokens[begin:end]
        if kind == 1:
            at -= min(len(statement), max(0, at - begin))
            tokens[at:at] = statement

    def change_bytes(self, rng, text):
        text = bytearray(text)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(text) + 1)
            kind = rng.randrange(4)
            if kind == 0 and at < len(text):
                text[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                text[at:at] = rng.choice(BYTES)
            elif kind == 2:
                del text[at : at + rng.choice((1, 2, 8, 100))]
            else:
                text[at:] = b""
        return bytes(text)


class Target:
    """The process under test; started again after it died."""

    def __init__(self, exe):
        self.exe = exe
        self.process = None
        self.log = open(os.devnull, "wb")

    def start(self):
        self.process = subprocess.Popen(
            [self.exe, "--frames"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, bufsize=0)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def run(self, inputs):
        """The number of inputs survived."""
        if not self.process:
            self.start()
        frames = memoryview(b"".join(struct.pack("<I", len(t)) + t for t in inputs))
        to, back, done = self.process.stdin, self.process.stdout, 0
        os.set_blocking(to.fileno(), False)
        while done < len(inputs):
            wants = [to] if frames else []
            readable, writable, _ = select.select([back], wants, [], HANG_S)
            if not readable and not writable:
                break
            if readable:
                answer = back.read(4096)
                if not answer:
                    break
                done += len(answer)
            if writable:
                try:
                    frames = frames[to.write(frames[: 1 << 16]) or 0 :]
                except BrokenPipeError:
                    frames = frames[:0]
        if done < len(inputs):
            self.stop()
        return done


def shrink(target, text):
    """A shorter text that still kills the target: cut ever smaller pieces."""
    end, tokens = time.monotonic() + SHRINK_S, TOKEN.findall(text)
    size = max(1, len(tokens) // 2)
    while time.monotonic() < end:
        at, cut = 0, False
        while at < len(tokens) and time.monotonic() < end:
            shorter = tokens[:at] + tokens[at + size :]
            if target.run([b"".join(shorter)]) == 0:
                tokens, cut = shorter, True
            else:
                at += size
        if size == 1 and not cut:
            break
        size = max(1, size // 2)
    return b"".join(tokens)


def report(args, target, index, text):
    """INDEX is the mutation, or none-I for program I of the corpus itself."""
    name = os.path.join(args.keep, f"crash-{args.seed}-{index}.fusion")
    short = shrink(target, text)
    with open(name, "wb") as f:
        f.write(short)
    print(f"mutation {index} of seed {args.seed} kills the target: {name}")
    print(f"    {args.target} {name}")
    try:
        run = subprocess.run([args.target, name], capture_output=True,
                             timeout=HANG_S, check=False)
    except subprocess.TimeoutExpired:
        print("    (hangs)")
        return
    for line in run.stderr.decode("utf-8", "replace").splitlines():
        if re.search(r"internal error|Assertion|ERROR|runtime error|  #[0-6] ", line):
            print("    " + line.strip()[:200])
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--target", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default=".")
    parser.add_argument("--max-crashes", type=int, default=10)
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    texts, legal = read_corpus(args.paths)
    if not texts:
        sys.exit("mutate.py: no .fusion file found")
    mutator, target = Mutator(texts, legal, args.seed), Target(args.target)
    first, crashes = 0, 0
    for i, text in enumerate(texts):
        if target.run([text]) == 0:
            crashes += 1
            report(args, target, f"none-{i}", text)
    while first < args.count and crashes < args.max_crashes:
        inputs = [mutator.make(i)
                  for i in range(first, min(args.count, first + BATCH))]
        done = target.run(inputs)
        if done < len(inputs):
            crashes += 1
            report(args, target, first + done, inputs[done])
            done += 1
        first += done
    target.stop()
    print(f"fuzz: {first} mutations of {len(texts)} programs, {crashes} crashes")
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
