# SPDX-License-Identifier: Apache-2.0
"""Kinds of programs, weighted like real fusions: normalizations, reductions of
rows and of columns, pointwise work, transposes, views, and anything at all."""

import dataclasses

from extents import ONE, Extent, broadcast, product
from builder import Value

# How often a type is drawn; 1 where nothing is said.
OFTEN = {"f32": 8, "bf16": 7, "f16": 4, "f64": 2, "i32": 2}


def some_dtype(b, kinds="float"):
    wanted = [t for t, d in b.table.dtypes.items() if d["kernel"]]
    if kinds == "int" or kinds == "float" and not b.chance(0.05):
        wanted = [t for t in wanted
                  if b.table.is_float(t) == (kinds == "float")]
    return b.rng.choices(wanted, [OFTEN.get(t, 1) for t in wanted])[0]


def some_space(b, rank, budget, wide_last=True):
    """The extents of an iteration space, at most `budget` elements."""
    symbolic = b.chance(0.6)
    dims = []
    wide = rank - 1 if wide_last else b.rng.randrange(max(rank, 1))
    if b.chance(0.15) and rank:
        wide = b.rng.randrange(rank)
    largest = {}
    if rank:
        largest[wide] = budget if b.chance(0.6) else 64
        first = b.axis(largest[wide], symbolic or b.chance(0.2))
        extent = max(max(first.value(s) for s in b.sizes), 1)
        left = max(budget // extent, 1)
    for d in range(rank):
        if d == wide:
            dims.append(first)
            continue
        axis = b.axis(max(min(left, 64), 1), symbolic and b.chance(0.9))
        left = max(left // max(b.elements([axis]), 1), 1)
        dims.append(axis)
    return tuple(dims)


def partial(b, space):
    """A shape that broadcasts to the space: a suffix, or with extents 1."""
    rank = len(space)
    if b.chance(0.5) and rank:
        return space[b.rng.randint(min(1, rank), rank):] or space[-1:]
    return tuple(ONE if b.chance(0.5) else d for d in space)


def some_inputs(b, space, kinds="float", dtype=None):
    dtype = dtype or some_dtype(b, kinds)

    def one(dims):
        t = dtype if b.chance(0.8) else some_dtype(b, kinds)
        b.pool.append(b.tensor(dims, t))
    for _ in range(b.rng.choice([1, 1, 2, 2, 3])):
        one(space)
    for _ in range(b.rng.choice([0, 0, 1, 1, 2])):
        one(partial(b, space))
    if b.chance(0.3):
        b.pool.append(b.scalar())


# --- operands ----------------------------------------------------------------

def operand(b, op, taken):
    """A value of the pool that the row takes and whose shape broadcasts with
    those taken, rather a late one; else a literal."""
    dims = ()
    for v in taken:
        dims = broadcast(dims, v.dims)
    fit = [v for v in b.pool
           if b.table.takes(op, v.dtype)
           and broadcast(dims, v.dims) is not None]
    if not fit or (taken and b.chance(0.12)):
        dtype = taken[0].dtype if taken else some_dtype(b)
        if not b.table.takes(op, dtype):
            return None
        if not taken:
            return None
        return b.literal(dtype)
    unread = [v for v in fit if v.text not in b.read]
    if unread and b.chance(0.6):
        return b.rng.choice(unread)
    return b.rng.choice(fit[-4:] if b.chance(0.6) else fit)


def condition(b, like):
    """A bool that broadcasts with a value."""
    bools = [v for v in b.pool
             if v.dtype == "bool"
             and broadcast(v.dims, like.dims) is not None]
    if bools and b.chance(0.6):
        return b.rng.choice(bools)
    compare = b.rng.choice([o for o in b.table.drawn
                            if o["type"] == "bool" and o["arity"] == 2])
    return b.apply(compare, [like, b.literal(like.dtype)])


def same_kind(b, v, dtype):
    """The value as one that may stand beside another type."""
    if b.table.kind(v.dtype) != "bool" and dtype != "bool":
        return v
    if v.dtype == dtype:
        return v
    t = "i32" if v.dtype == "bool" else v.dtype
    return dataclasses.replace(v, text=f"{t}({v.text})", dtype=t)


def pointwise(b, op):
    """A drawn pointwise row on values of the pool, or None."""
    n = len(op["args"])
    operands = []
    while len(operands) < n:
        v = operand(b, op, operands)
        if v is None:
            return None
        operands.append(v)
    if op["name"] == "where":
        operands = [condition(b, operands[1]), operands[1],
                    same_kind(b, operands[2], operands[1].dtype)]
        if operands[1].dtype == "bool" and operands[2].dtype != "bool":
            return None
    if op["name"] == "clamp":
        x = operands[0]
        lo, hi = ((0, 5) if not b.table.is_float(x.dtype) else (-1.5, 2.0))
        operands = [x, Value(str(lo), x.dtype, (), lo, lo),
                    Value(str(hi), x.dtype, (), hi, hi)]
    if op["type"] in ("arith", "bits") or op["type"] == "bool" and n == 2:
        kinds = {v.dtype == "bool" for v in operands}
        if len(kinds) > 1:
            return None
    if all(is_literal(v) for v in operands):
        return None
    alike = n == 2 and (operands[0].text in operands[1].text
                        or operands[1].text in operands[0].text)
    if alike and (op["type"] == "bool" or op.get("jumps")):
        return None
    return b.apply(op, operands)


def is_literal(v):
    return v.text[0].isdigit() or v.text in ("true", "false")


def choose(b, weights):
    """A drawn row: a class by weight, then one of its rows."""
    classes = {c: [o for o in b.table.drawn if o["class"] == c]
               for c in weights}
    names = [c for c in weights if classes[c]]
    c = b.rng.choices(names, [weights[c] for c in names])[0]
    if c == "pointwise":
        simple = [o for o in classes[c] if o["operator"]
                  and o["type"] in ("arith", "float", "bool")]
        if b.chance(0.35):
            return b.rng.choice(simple)
    return b.rng.choice(classes[c])


def step_pointwise(b, tries=12):
    for _ in range(tries):
        v = pointwise(b, choose(b, {"pointwise": 1}))
        if v is not None:
            if v.dtype not in ("bool",) and b.chance(0.08):
                v = cast(b, v)
            return b.add(v)
    return None


def cast(b, v):
    floats = b.table.is_float(v.dtype)
    t = some_dtype(b, "float" if floats and b.chance(0.85) else "any")
    lo, hi = v.lo, v.hi
    if not b.table.is_float(t):
        a, z = b.table.limits(t)
        lo, hi = max(lo, a), min(hi, z)
        if lo > hi or not floats:
            lo, hi = a, z
    b.used_ops.append((f"cast {t}", v.dtype))
    return Value(f"{t}({v.text})", t, v.dims, lo, hi)


# --- reductions --------------------------------------------------------------

def reduction(b, v, axes, keepdim, usual=0.35):
    for _ in range(12):
        op = choose(b, {"reduce": 1})
        if b.chance(usual):
            common = ("sum", "mean", "max")
            op = b.rng.choice([o for o in b.table.drawn
                               if o["name"] in common])
        if op["type"] == "index" and len(axes) not in (1, len(v.dims)):
            continue
        if op["type"] == "logic":
            c = condition(b, v)
            v = c if c.dims == v.dims else b.apply(
                next(o for o in b.table.drawn if o["name"] == ">"),
                [v, b.literal(v.dtype)])
        elif v.dtype == "bool" and op["type"] != "sum":
            continue
        return b.reduce(op, v, axes, keepdim)
    return None


def full_values(b, space):
    return [v for v in b.pool if v.dims == space]


def rows_program(b, space, axes, outer=()):
    """Reductions of some axes with the result used again, in sequence."""
    for _ in range(b.rng.randint(1, 4)):
        for _ in range(b.rng.randint(0, 3)):
            step_pointwise(b)
        v = b.rng.choice(full_values(b, space)[-3:])
        r = reduction(b, v, axes, True)
        if r is None:
            continue
        r = b.add(r)
        if b.chance(0.7):
            use_again(b, space, r)
    for _ in range(b.rng.randint(0, 2)):
        step_pointwise(b)
    late = full_values(b, space)[-2:]
    stats = [v for v in b.pool
             if v.dims != space and v.text not in b.inputs and v.dims]
    if b.chance(0.85) or not stats:
        b.store(late[-1])
    if b.chance(0.25) and len(late) > 1:
        b.store(late[0])
    for v in stats[-2:]:
        if b.chance(0.4) or not b.results:
            b.store(v)
    if outer:
        for _ in range(b.rng.randint(1, 2)):
            v = b.rng.choice(full_values(b, space)[-3:])
            r = reduction(b, v, outer, False, 0.85)
            if r is not None:
                b.store(r)


def use_again(b, space, r):
    ops = [o for o in b.table.drawn
           if o["name"] in ("-", "*", "+", "/", "maximum", "<")
           and len(o["args"]) == 2]
    op = b.rng.choice(ops[:4] if b.chance(0.8) else ops)
    v = b.rng.choice(full_values(b, space)[-3:])
    if not (b.table.takes(op, v.dtype) and b.table.takes(op, r.dtype)):
        return
    b.add(b.apply(op, [v, r]))


# --- kinds of programs -------------------------------------------------------

def budget_of(b):
    return b.rng.choices([64, 512, 3000, 12000], [3, 5, 5, 1])[0]


def draw_pointwise(b):
    space = some_space(b, b.rng.choice([0, 1, 1, 2, 2, 2, 3, 4, 5]),
                       budget_of(b))
    some_inputs(b, space)
    for _ in range(b.rng.randint(1, 8)):
        step_pointwise(b)
    store_some(b)


def store_some(b, most=3):
    made = [v for v in b.pool if v.text not in b.inputs and not is_literal(v)]
    last = made[-most:] or b.pool[-1:]
    b.store(last[-1])
    for v in last[:-1]:
        if b.chance(0.35):
            b.store(v)


def draw_rows(b):
    rank = b.rng.choice([1, 2, 2, 2, 2, 3, 3, 4])
    space = some_space(b, rank, budget_of(b))
    some_inputs(b, space)
    axes = [rank - 1]
    if rank > 2 and b.chance(0.2):
        axes = [rank - 2, rank - 1]
    rows_program(b, space, axes)


def draw_rows_and_columns(b):
    rank = b.rng.choice([2, 2, 2, 3])
    space = some_space(b, rank, budget_of(b))
    some_inputs(b, space)
    rows_program(b, space, [rank - 1], outer=list(range(rank - 1)))


def draw_columns(b):
    rank = b.rng.choice([2, 2, 3])
    space = some_space(b, rank, budget_of(b), wide_last=b.chance(0.5))
    some_inputs(b, space)
    for _ in range(b.rng.randint(0, 4)):
        step_pointwise(b)
    axes = list(range(rank - 1)) if b.chance(0.7) else [0]
    for _ in range(b.rng.randint(1, 3)):
        r = reduction(b, b.rng.choice(full_values(b, space)[-3:]), axes,
                      b.chance(0.3), 0.6)
        if r is not None:
            r = b.add(r)
            b.store(r)
    if not b.results:
        store_some(b)


def draw_reductions(b):
    """Any axes of any rank; what follows works on the reduced shape."""
    rank = b.rng.choice([1, 2, 2, 3, 3, 4, 5])
    space = some_space(b, rank, budget_of(b), wide_last=False)
    some_inputs(b, space)
    for _ in range(b.rng.randint(0, 3)):
        step_pointwise(b)
    for _ in range(b.rng.randint(1, 3)):
        v = b.rng.choice(b.pool[-4:])
        if not v.dims:
            continue
        axes = sorted(b.rng.sample(range(len(v.dims)),
                                   b.rng.randint(1, len(v.dims))))
        r = reduction(b, v, axes, b.chance(0.4))
        if r is not None:
            b.add(r)
        for _ in range(b.rng.randint(0, 2)):
            step_pointwise(b)
    store_some(b)


def draw_prelude(b):
    """What the prelude offers, with work before and after."""
    space = some_space(b, b.rng.choice([2, 2, 3]), budget_of(b))
    some_inputs(b, space)
    for _ in range(b.rng.randint(0, 2)):
        step_pointwise(b)
    v = b.rng.choice([v for v in full_values(b, space)
                      if v.dtype != "bool"][-3:] or [b.tensor(space, "f32")])
    v = b.into(v, "any")
    last = space[-1:]
    name, rest = b.rng.choice([
        ("softmax", 0), ("softmax", 0), ("log_softmax", 0), ("layernorm", 2),
        ("layernorm", 2), ("rmsnorm", 1), ("gelu", 0), ("gelu_tanh", 0)])
    args = [b.tensor(last, some_dtype(b)).text for _ in range(rest)]
    axis = f", axis={b.rng.choice([-1, len(space) - 1])}" * b.chance(0.3)
    text = f"{name}({', '.join([v.text, *args])}{axis * ('gelu' not in name)})"
    t = b.table.arithmetic([v.dtype] + ["f32"])
    for a in args:
        t = b.table.arithmetic([t, b.inputs[a][1]])
    b.add(b.keep(Value(text, t, space, -70.0, 70.0), always=True))
    for _ in range(b.rng.randint(0, 2)):
        step_pointwise(b)
    store_some(b, 2)


def draw_transpose(b):
    rank = b.rng.choice([2, 2, 3, 4])
    space = some_space(b, rank, budget_of(b), wide_last=False)
    order = list(range(rank))
    b.rng.shuffle(order)
    some_inputs(b, space)
    other = b.tensor(tuple(space[i] for i in order), some_dtype(b))
    back = [order.index(d) for d in range(rank)]
    b.used_ops.append(("permute", other.dtype))
    b.add(dataclasses.replace(other, dims=space,
                              text=f"permute({other.text}, {back})"))
    for _ in range(b.rng.randint(1, 5)):
        step_pointwise(b)
    if b.chance(0.5):
        v = b.rng.choice(full_values(b, space)[-3:])
        b.add(view_permute(b, v))
    if b.chance(0.25):
        r = reduction(b, b.rng.choice(full_values(b, space)[-3:]),
                      [b.rng.randrange(rank)], b.chance(0.5))
        if r is not None:
            b.add(r)
    store_some(b)


def draw_integers(b):
    space = some_space(b, b.rng.choice([1, 2, 2, 3]), budget_of(b))
    some_inputs(b, space, "int")
    for _ in range(b.rng.randint(1, 7)):
        step_pointwise(b)
    if b.chance(0.5) and space:
        r = reduction(b, b.rng.choice(full_values(b, space)[-3:]),
                      [b.rng.randrange(len(space))], b.chance(0.5))
        if r is not None:
            b.add(r)
            step_pointwise(b)
    store_some(b)


def draw_anything(b):
    space = some_space(b, b.rng.choice([1, 2, 2, 3, 4]), budget_of(b),
                       wide_last=False)
    some_inputs(b, space, "any")
    for _ in range(b.rng.randint(2, 9)):
        what = b.rng.choices(["point", "reduce", "view"], [5, 2, 3])[0]
        v = b.rng.choice(b.pool[-4:])
        if what == "view":
            made = step_view(b, v)
        elif what == "reduce" and v.dims:
            made = reduction(b, v, [b.rng.randrange(len(v.dims))],
                             b.chance(0.5))
        else:
            step_pointwise(b)
            continue
        if made is not None and b.elements(made.dims) <= 40000:
            b.add(made)
    store_some(b)


def draw_views(b):
    space = some_space(b, b.rng.choice([1, 2, 2, 3]), budget_of(b),
                       wide_last=False)
    some_inputs(b, space, "any" if b.chance(0.3) else "float")
    for _ in range(b.rng.randint(1, 4)):
        v = step_view(b, b.rng.choice(b.pool[-3:]))
        if v is not None and b.elements(v.dims) <= 40000:
            b.add(v)
        step_pointwise(b)
    if b.chance(0.3):
        v = b.rng.choice(b.pool[-3:])
        if v.dims:
            r = reduction(b, v, [len(v.dims) - 1], b.chance(0.5))
            if r is not None:
                b.add(r)
    store_some(b)


from views import step_view, view_permute  # noqa: E402

PROFILES = [(draw_pointwise, 16), (draw_rows, 20), (draw_rows_and_columns, 9),
            (draw_columns, 7), (draw_reductions, 10), (draw_prelude, 10),
            (draw_transpose, 6), (draw_integers, 6), (draw_views, 8),
            (draw_anything, 8)]


def draw(b):
    """A whole program, of a kind by weight."""
    kinds, weights = zip(*PROFILES)
    kind = b.rng.choices(kinds, weights)[0]
    b.kind = kind.__name__[5:]
    kind(b)
