# SPDX-License-Identifier: Apache-2.0

"""Behind a cut between kernels, arithmetic was left on a raw half type, which the
CUDA compiler refused. Each operation on f16 and bf16, alone, behind a cut, and
between two reductions, compiles: storage types have no operators in the text."""

import re

import field
import toolkit

BINARY = ("+", "-", "*", "/", "%", "<", ">=", "==")


def unary():
    """The names of elementwise functions of one operand."""
    out, _ = field.sh([field.FUSEC, "--list-ops"])
    return [m.group(1) for m in
            re.finditer(r"^([a-z]\w*) +pointwise +1 ", out, re.MULTILINE)]


def expressions():
    yield from (f"{name}(@)" for name in unary())
    yield "-@"
    yield from (f"f32(@ {op} z)" for op in BINARY)
    yield from ("maximum(@, z)", "pow(@, z)", "where(@ > z, @, z)",
                "clamp(@, lo=z)", "fma(@, z, @)")


def fusion(name, kind, forms):
    """One result for each of a few expressions."""
    results, body = [], []
    for i, form in enumerate(forms):
        shape = "M, N" if kind != "between" else "M"
        results.append(f"y{i}: {{T}}[{shape}]")
        value = {"alone": "x", "behind": "s[:, None] * x",
                 "between": "(x - m)"}[kind]
        e = f"{{T}}({form.replace('@', '(' + value + ')')})"
        body.append(f"y{i} = " + (f"sum({e}, axis=1)" if kind == "between" else e))
    return (f"fusion {name}(x: {{T}}[M, N], z: {{T}}[M, N]) -> "
            f"({', '.join(results)})\n{{{{\n"
            "    m = max(x, axis=1, keepdim=true);\n"
            "    s = sum(x, axis=1);\n    " + ";\n    ".join(body) + ";\n}}\n")


def program(dtype, choice):
    """Fusions of up to 16 expressions each; CHOICE: kinds and their expressions."""
    text = "".join(fusion(f"{kind}{i}", kind, forms[i:i + 16])
                   for kind, forms in choice for i in range(0, len(forms), 16))
    text = text.replace("M, N", "8, 256").replace("[M]", "[8]")
    return text.replace("{T}", dtype).replace("{{", "{").replace("}}", "}")


def main():
    forms = list(expressions())
    assert len(forms) > 50, forms
    some = forms[::9]
    toolkit.need_nvrtc()
    for text, arch in (
            (program("bf16", [("alone", forms[1::6])]), "sm_90"),
            (program("f16", [("alone", some), ("behind", some),
                             ("between", some)]), "sm_80"),
            (program("bf16", [("behind", some), ("between", some)]), "sm_80")):
        field.fusec(text, "-Wno-all", f"--arch={arch}", "-o", "f.ptx")
    with open("f.cu", encoding="utf-8") as f:
        field.match(r"struct fu_bf16 \{ fu_u16 bits; \};", f.read())


main()
