# SPDX-License-Identifier: Apache-2.0
"""What is tuned: one fusion of a file at one size."""

import shlex
from collections import namedtuple


class Bad(Exception):
    """A message for the user: something given is wrong."""


class Problem(namedtuple("Problem", "file fusion defines dims bound check")):
    """FILE.fusion, the fusion's name or None, -D texts, ((NAME, extent), ...),
    the names of extents that are bound by -D, and ((NAME, extent), ...) of the
    size at which the reference judges, empty: the same."""

    @property
    def key(self):
        """Its name in every file; it holds no folder."""
        name = self.file.rsplit("/", 1)[-1].removesuffix(".fusion")
        parts = [name + (f":{self.fusion}" if self.fusion else ""),
                 *self.defines]
        parts += [f"{n}={v}" + ("!" if n in self.bound else "")
                  for n, v in self.dims]
        return " ".join(parts)

    def arguments(self):
        """What fusec is told beside the plan."""
        args = [self.file, *(f"-D{d}" for d in self.defines)]
        for name, extent in self.dims:
            args += ([f"-D{name}={extent}"] if name in self.bound else
                     ["--hint", f"{name}={extent}"])
        return args


def parse_dims(text):
    """((NAME, extent), ...) of "M=8192,N=4096"."""
    dims = []
    for item in text.split(","):
        name, _, value = item.partition("=")
        if not name.isidentifier() or not value.isdecimal():
            raise Bad(f"'{text}' is not NAME=EXTENT,...")
        dims.append((name, int(value)))
    if len({n for n, _ in dims}) != len(dims):
        raise Bad(f"'{text}' names a dimension twice")
    return tuple(dims)


def make(file, fusion, defines, dims, bound=(), check=()):
    names = {n for n, _ in dims}
    for name in [*bound, *(n for n, _ in check)]:
        if name not in names:
            raise Bad(f"'{name}' is no dimension of "
                      f"{','.join(sorted(names))}")
    for name, extent in check:
        if name in bound and dict(dims)[name] != extent:
            raise Bad(f"'{name}' is bound: it has one extent")
    return Problem(file, fusion, tuple(defines), dims, tuple(sorted(bound)),
                   tuple(check))


def parse_line(line, base):
    """A line of a problems file: FILE.fusion [-D X=Y]... [fusion=NAME]
    [bind=N,...] [check=M=512,...] M=8192,N=4096. What it leaves out comes from
    BASE, a Problem whose dims are empty."""
    file, fusion, dims = base.file, base.fusion, ()
    defines, bound, check = list(base.defines), base.bound, base.check
    words = iter(shlex.split(line, comments=True))
    for word in words:
        if word.endswith(".fusion"):
            file = word
        elif word.startswith("-D"):
            defines.append(word[2:] or next(words, ""))
        elif word.startswith("fusion="):
            fusion = word[7:]
        elif word.startswith("bind="):
            bound = tuple(word[5:].split(","))
        elif word.startswith("check="):
            check = parse_dims(word[6:])
        else:
            dims = parse_dims(word)
    if not file or not dims:
        raise Bad(f"'{line.strip()}' has no {'size' if file else 'file'}")
    return make(file, fusion, defines, dims, bound, check)


def read(path, base):
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f if line.split("#")[0].strip()]
    return [parse_line(line, base) for line in lines]


def shard(items, text):
    """Part I of N of a list, dealt out in turn; "1/1" is all."""
    first, _, count = text.partition("/")
    if not (first.isdecimal() and count.isdecimal() and
            1 <= int(first) <= int(count)):
        raise Bad(f"--shard: '{text}' is not I/N with I from 1 to N")
    return items[int(first) - 1::int(count)]
