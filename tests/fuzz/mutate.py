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

BATCH = 200
HANG_S = 20
SHRINK_RUNS = 400
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
    texts = []
    for path in files:
        with open(path, "rb") as f:
            text = f.read()
        if len(text) <= MAX_BYTES // 4:
            texts.append(text)
    return texts


class Mutator:
    def __init__(self, texts, seed):
        self.seed = seed
        self.corpus = [TOKEN.findall(text) for text in texts]
        self.words = sorted({w.encode() for w in [*WORDS, *table_words()]})

    def make(self, index):
        """Mutation INDEX, whatever was made before."""
        digest = hashlib.sha256(b"%d %d" % (self.seed, index)).digest()
        rng = random.Random(int.from_bytes(digest[:8], "big"))
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

    def replace_same_kind(self, rng, tokens):
        """A name for a name, a number for a number: mostly still a program."""
        word = re.compile(rb"[A-Za-z_]") if rng.random() < 0.7 else re.compile(rb"\d")
        places = [i for i, t in enumerate(tokens) if word.match(t)]
        pool = [t for t in tokens if word.match(t)]
        pool += [t for t in self.words if word.match(t)]
        if places and pool:
            tokens[rng.choice(places)] = rng.choice(pool)

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
    runs, tokens = 0, TOKEN.findall(text)
    size = max(1, len(tokens) // 2)
    while runs < SHRINK_RUNS:
        at, cut = 0, False
        while at < len(tokens) and runs < SHRINK_RUNS:
            shorter = tokens[:at] + tokens[at + size :]
            runs += 1
            if target.run([b"".join(shorter)]) == 0:
                tokens, cut = shorter, True
            else:
                at += size
        if size == 1 and not cut:
            break
        size = max(1, size // 2)
    return b"".join(tokens)


def report(args, target, index, text):
    name = os.path.join(args.keep, f"crash-{args.seed}-{index}.fusion")
    short = shrink(target, text)
    with open(name, "wb") as f:
        f.write(short)
    print(f"mutation {index} of seed {args.seed} kills the target: {name}")
    print(f"    {args.target} {name}")
    run = subprocess.run([args.target, name], capture_output=True,
                         timeout=4 * HANG_S, check=False)
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
    texts = read_corpus(args.paths)
    if not texts:
        sys.exit("mutate.py: no .fusion file found")
    mutator, target = Mutator(texts, args.seed), Target(args.target)
    first, crashes = 0, 0
    if target.run(texts) != len(texts):
        sys.exit("mutate.py: the target dies on the programs as they are")
    while first < args.count and crashes < args.max_crashes:
        inputs = [mutator.make(i)
                  for i in range(first, min(args.count, first + BATCH))]
        done = target.run(inputs)
        if done < len(inputs):
            crashes += 1
            try:
                report(args, target, first + done, inputs[done])
            except subprocess.TimeoutExpired:
                print("    (hangs)")
            done += 1
        first += done
    target.stop()
    print(f"fuzz: {first} mutations of {len(texts)} programs, {crashes} crashes")
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
