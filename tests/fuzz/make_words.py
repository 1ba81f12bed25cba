#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the dictionary of a fuzz target, read from the tables of the compiler.

    make_words.py LANGUAGE [--dict]

LANGUAGE is program, compile (a program and the command line), plan, manifest or
npy. The words come as a C file, or with --dict in libFuzzer's format.
"""

import argparse
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def rows(path, macro):
    """The first string of every row of a table."""
    return re.findall(rf'^{macro}\(\s*\w+,\s*"([^"]+)"', read(path), re.MULTILINE)


def keys():
    """Names of a plan's keys, and the words that some of them take."""
    text = read("src/sched/plan_keys.def")
    for name, words in re.findall(
            r'^(?:BUFFER_)?KEY\(\w+,\s*"(\w+)",[^"N]*(?:NULL|"([^"]*)")', text,
            re.MULTILINE):
        yield name
        yield from words.split()


def token_words():
    """Keywords and signs, from the scanner."""
    text = read("grammar/fusion.l")
    yield from re.findall(r"^([A-Za-z]\w*)\s+return FUSION_", text, re.MULTILINE)
    yield from re.findall(r'^"([^"]+)"\s+return FUSION_', text, re.MULTILINE)


def program():
    yield from token_words()
    yield from rows("src/ir/ops.def", "OP")
    yield from rows("src/ir/dtypes.def", "DTYPE")
    yield from re.findall(r"^def (\w+)", read("templates/prelude.fusion"), re.MULTILINE)
    optional = re.findall(r"(\w+)\?", read("src/front/resolve_op.c"))
    yield from (f"{name}=" for name in optional)
    yield from ("strides", "align", "inplace", "= ", "[:, None]", "[..., None]", "[::2]", "[0:0]", "-1", "\xff", "\xe2\x88\x92",
                "# ", "\r\n")


def compile_words():
    yield from program()
    yield from (name + " " for name in rows("src/driver/options.def", "OPTION"))
    yield from rows("src/device/devices.def", "DEVICE")
    yield from rows("src/support/diags.def", "DIAG")
    yield from (f"{key}=" for key in keys())
    yield from ("#: ", "-D M=", "--hint M=", "--set ", "v0.", "k0.", "sms=", "smem=")


def plan():
    yield from keys()
    yield from rows("schedulers/schedulers.def", "SCHEDULER")
    yield from ("plan 1 graph", "fusion", "variant", "kernel", "buffer", "when", '"',
                "{", "}", ";", "%0", "%1", "#", "x.align >= 16", "N % 8 == 0")


def names_of(schema):
    """Every key and every word that a JSON schema mentions."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from (w for w in schema.get("enum", []) if isinstance(w, str))
        for value in schema.values():
            yield from names_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from names_of(value)


def manifest():
    for name in names_of(json.loads(read("docs/manifest.schema.json"))):
        yield f'"{name}"'
        yield f'"{name}":'
    yield from ("true", "false", "null", "[]", "{}", '""', '"sms"', '"inf"', '"nan"',
                "min(", "max(", "ceil_div(", "&&", "||", "==", "!=", "<=", ">=", "/", "%",
                ".shape[0]", ".stride[1]", ".align", "9223372036854775807", "1e999",
                "\\u0000", "!")


def npy():
    kinds = re.findall(r'"([<|]\w\d)"', read("src/ir/dtypes.def"))
    yield from (f"'{kind}'" for kind in kinds)
    yield from ("'descr': ", "'fortran_order': ", "'shape': ", "False", "True", "(", ")",
                "(0,)", "(3, 4)", ", ", "{", "}", "\x93NUMPY", "\x01\x00", "\x02\x00",
                "'>f4'", "'<c8'", "9223372036854775807")


OCTAL = "\\{:03o}"
LANGUAGES = {"program": program, "compile": compile_words, "plan": plan,
             "manifest": manifest, "npy": npy}


def quoted(word, escape):
    """A string literal; ESCAPE formats the bytes that have no sign of their own."""
    out = ""
    for byte in word.encode("latin-1"):
        char = chr(byte)
        if char in '"\\':
            out += "\\" + char
        else:
            out += char if 32 <= byte < 127 else escape.format(byte)
    return f'"{out}"'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("language", choices=sorted(LANGUAGES))
    parser.add_argument("--dict", action="store_true")
    args = parser.parse_args()
    words = sorted(set(LANGUAGES[args.language]()))
    if args.dict:
        print("\n".join(quoted(w, "\\x{:02x}") for w in words))
        return
    print('#include "harness.h"\n\nconst char *const fuzz_words[] = {')
    for word in words:
        print(f"    {quoted(word, OCTAL)},")
    print("};\nconst unsigned fuzz_n_words = ARRAY_LEN(fuzz_words);")


if __name__ == "__main__":
    main()
