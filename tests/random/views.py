# SPDX-License-Identifier: Apache-2.0
"""Views and joins: one rule an operation, by its name in the table."""

import dataclasses

from builder import Value
from extents import ONE, Extent, product, shape_text


def least(b, extent):
    return min(extent.value(s) for s in b.sizes)


def new(v, text, dims):
    return dataclasses.replace(v, text=text, dims=tuple(dims))


def some_axis(b, v):
    d = b.rng.randrange(len(v.dims))
    return d, d - len(v.dims) if b.chance(0.4) else d


def view_permute(b, v):
    order = list(range(len(v.dims)))
    b.rng.shuffle(order)
    b.used_ops.append(("permute", v.dtype))
    return new(v, f"permute({v.text}, {order})", [v.dims[i] for i in order])


def view_transpose(b, v):
    if len(v.dims) < 2:
        return None
    i, k = b.rng.sample(range(len(v.dims)), 2)
    dims = list(v.dims)
    dims[i], dims[k] = dims[k], dims[i]
    return new(v, f"transpose({v.text}, {i}, {k})", dims)


def view_reshape(b, v):
    dims = list(v.dims)
    if len(dims) > 1 and b.chance(0.7):
        d = b.rng.randrange(len(dims) - 1)
        dims[d:d + 2] = [dims[d] * dims[d + 1]]
    else:
        d = b.rng.randrange(len(dims))
        n = dims[d].number()
        if n is None or n == 0:
            dims.insert(d, ONE)
        else:
            k = b.rng.choice([k for k in range(1, n + 1) if n % k == 0])
            dims[d:d + 1] = [Extent.of(k), Extent.of(n // k)]
    if len(dims) > 6:
        return None
    return new(v, f"reshape({v.text}, {shape_text(dims)})", dims)


def view_broadcast_to(b, v):
    dims = [d for d in v.dims]
    if b.chance(0.5) or ONE not in dims:
        dims.insert(0, Extent.of(b.rng.choice([1, 2, 3])))
    else:
        dims[dims.index(ONE)] = Extent.of(b.rng.choice([2, 5]))
    if len(dims) > 6:
        return None
    return new(v, f"broadcast_to({v.text}, {shape_text(dims)})", dims)


def view_squeeze(b, v):
    at = [d for d, e in enumerate(v.dims) if e == ONE]
    if not at:
        return None
    d = b.rng.choice(at)
    return new(v, f"squeeze({v.text}, axis={d})",
               v.dims[:d] + v.dims[d + 1:])


def view_unsqueeze(b, v):
    d = b.rng.randrange(len(v.dims) + 1)
    if len(v.dims) > 4:
        return None
    if b.chance(0.5):
        items = [":"] * len(v.dims)
        items.insert(d, "None")
        text = f"{v.text}[{', '.join(items)}]"
    else:
        text = f"unsqueeze({v.text}, axis={d})"
    return new(v, text, v.dims[:d] + (ONE,) + v.dims[d:])


def view_pad(b, v):
    widths = [[b.rng.choice([0, 0, 1, 2]), b.rng.choice([0, 0, 1, 3])]
              for _ in v.dims]
    dims = [d + Extent.of(lo + hi) for d, (lo, hi) in zip(v.dims, widths)]
    value, lo, hi = "", v.lo, v.hi
    if b.table.is_float(v.dtype) and b.chance(0.5):
        value = f", value={b.rng.choice([1.5, -2.0, 0.0])}"
        lo, hi = min(lo, -2.0), max(hi, 2.0)
    r = new(v, f"pad({v.text}, {widths}{value})", dims)
    if value and b.table.kind(v.dtype) == "storage":
        r.dtype = "f32"
    r.lo, r.hi = min(lo, 0.0), max(hi, 0.0)
    return r


def view_cat(b, v):
    d, shown = some_axis(b, v)
    same = [w for w in b.pool if w.dtype == v.dtype and w.dims == v.dims]
    w = b.rng.choice(same or [v])
    dims = list(v.dims)
    dims[d] = dims[d] + w.dims[d]
    r = new(v, f"cat([{v.text}, {w.text}], axis={shown})", dims)
    r.lo, r.hi = min(v.lo, w.lo), max(v.hi, w.hi)
    return r


def view_stack(b, v):
    same = [w for w in b.pool if w.dtype == v.dtype and w.dims == v.dims]
    w = b.rng.choice(same or [v])
    d = b.rng.randrange(len(v.dims) + 1)
    if len(v.dims) > 4:
        return None
    r = new(v, f"stack([{v.text}, {w.text}], axis={d})",
            v.dims[:d] + (Extent.of(2),) + v.dims[d:])
    r.lo, r.hi = min(v.lo, w.lo), max(v.hi, w.hi)
    return r


def view_flip(b, v):
    _, shown = some_axis(b, v)
    return new(v, f"flip({v.text}, axis={shown})", v.dims)


def view_roll(b, v):
    _, shown = some_axis(b, v)
    shift = b.rng.choice([0, 1, -1, 3])
    return new(v, f"roll({v.text}, {shift}, axis={shown})", v.dims)


def view_slice(b, v):
    """One axis by an interval, a step or an index."""
    d, _ = some_axis(b, v)
    n, room = v.dims[d].number(), least(b, v.dims[d])
    items, dims = [":"] * len(v.dims), list(v.dims)
    how = b.rng.choice(["from", "to", "middle", "step", "index", "index"])
    if room < 3:
        return None
    if how == "step" and n is not None:
        k = b.rng.choice([2, 3])
        items[d], dims[d] = f"::{k}", Extent.of((n + k - 1) // k)
    elif how == "index":
        items[d] = str(b.rng.choice([0, 1, -1, 2]))
        del dims[d]
    elif how == "from":
        items[d], dims[d] = "1:", dims[d] - 1
    elif how == "middle":
        items[d], dims[d] = "1:-1", dims[d] - 2
    else:
        items[d], dims[d] = ":-2", dims[d] - 2
    return new(v, f"{v.text}[{', '.join(items)}]", dims)


def view_size(b, v):
    d, shown = some_axis(b, v)
    hi = max(v.dims[d].value(s) for s in b.sizes)
    return Value(f"size({v.text}, {shown})", "i64", (), 0.0, float(hi))


def view_iota(b, v):
    d, _ = some_axis(b, v)
    hi = max(v.dims[d].value(s) for s in b.sizes)
    index = ", ".join([":"] + ["None"] * (len(v.dims) - 1 - d))
    text = f"iota({v.dims[d]})" + (f"[{index}]" if "None" in index else "")
    dims = (v.dims[d],) + (ONE,) * (len(v.dims) - 1 - d)
    return Value(text, "i64", dims, 0.0, float(hi))


RULES = {"permute": view_permute, "transpose": view_transpose,
         "reshape": view_reshape, "broadcast_to": view_broadcast_to,
         "squeeze": view_squeeze, "unsqueeze": view_unsqueeze,
         "pad": view_pad, "cat": view_cat, "stack": view_stack,
         "flip": view_flip, "roll": view_roll, "size": view_size,
         "iota": view_iota}


def step_view(b, v):
    """A drawn view, join or leaf of the value, or None where none fits."""
    if not v.dims:
        return None
    v = b.keep(v, always=True)
    if b.chance(0.2):
        return view_slice(b, v)
    op = b.rng.choice([o for o in b.table.drawn
                       if o["class"] in ("view", "join", "leaf")])
    made = RULES[op["name"]](b, v)
    if made is not None and op["name"] != "permute":
        b.used_ops.append((op["name"], v.dtype))
    return made
