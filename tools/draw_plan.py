#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A picture of a plan, from what fusec --explain=json says of it.

    fusec FILE.fusion --explain=json | draw_plan.py -o plan.svg
    draw_plan.py --pictures docs/pictures --fusec build/fusec [--check]

The first form draws the chosen candidate, or with --candidate N another one. On
top are the phases of a row and how long each buffer waits, below them the
geometry and the predicted time. The second draws the pictures of
docs/persistent-buffers.md, or checks that they are what it would draw.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

WIDTH, LEFT, RIGHT = 840, 14, 826
BARS, NOTES = 110, 432  # x of the phases, and of what is said beside them
STORES = {  # colour, words
    "register_packed": ("#0072b2", "registers, storage type"),
    "register_f32": ("#56b4e9", "registers, compute type"),
    "ring": ("#009e73", "ring, bulk copies"),
    "shared": ("#7fcdbb", "shared memory"),
    "cluster": ("#cc79a7", "shared memory of the cluster"),
    "workspace": ("#d55e00", "workspace, for later kernels"),
    "reload": ("#e69f00", "read again from L2"),
    "none": ("#bbbbbb", "not kept"),
}
TERMS = (  # key, words, colour
    ("memory_ns", "memory", "#0072b2"),
    ("issue_ns", "issue", "#56b4e9"),
    ("rest", "overlap and last round", "#999999"),
    ("latency_ns", "latency", "#e69f00"),
    ("finish_wait_ns", "finish: wait", "#cc79a7"),
    ("finish_fold_ns", "finish: fold", "#d55e00"),
    ("launch_ns", "launch", "#444444"),
)
FINISHES = {  # where partial results are folded
    "kernel": "a second kernel folds",
    "pdl_kernel": "a second kernel, started early, folds",
    "grid": "all blocks, behind a barrier of the grid, fold",
    "last_block": "the last block folds",
}
EXAMPLE = "examples/layernorm_bwd.fusion"
PICTURES = (  # file, device, bindings
    ("h200-f32-8192", "h200", ("T=f32", "N=8192")),
    ("h200-bf16-8192", "h200", ("T=bf16", "N=8192")),
    ("h200-f32-32768", "h200", ("T=f32", "N=32768")),
    ("a100-bf16-8192", "a100", ("T=bf16", "N=8192")),
    ("h200-bf16-1024", "h200", ("T=bf16", "N=1024")),
)


def text(x, y, words, extra=""):
    for plain, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        words = words.replace(plain, safe)
    return f'<text x="{x:.1f}" y="{y:.1f}"{" " + extra if extra else ""}>' \
           f'{words}</text>'


def box(x, y, width, height, colour, extra=""):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" fill="{colour}"'
            f'{" " + extra if extra else ""}/>')


def line(x1, y1, x2, y2, extra='stroke="#888"'):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'{extra}/>')


def in_bytes(n):
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return f"{n / size:g} {unit}" if n % size == 0 else \
                f"{n / size:.1f} {unit}"
    return f"{n} bytes"


def in_us(ns):
    return f"{ns / 1000:.1f} µs"


def some(n, words):
    return f"{n} {words}{'' if n == 1 else 's'}"


def phase_notes(phase):
    notes = []
    if phase["outer_reductions"]:
        notes.append(f"adds to {some(phase['outer_reductions'], 'column sum')}")
    if phase["writes"]:
        notes.append("writes " + ", ".join(phase["writes"]))
    if phase["inner_reductions"]:
        notes.append(f"ends: {some(phase['inner_reductions'], 'row sum')}")
    return notes


class Columns:
    """Where the phases stand."""

    def __init__(self, phases):
        self.width = (NOTES - 14 - BARS) / phases

    def start(self, phase):
        return BARS + self.width * phase


def draw_heads(phases, columns, top):
    for i, phase in enumerate(phases):
        middle = columns.start(i) + columns.width / 2
        yield text(middle, top, f"phase {i}",
                   'text-anchor="middle" font-weight="bold"')
        for k, note in enumerate(phase_notes(phase)):
            yield text(middle, top + 15 + 13 * k, note,
                       'text-anchor="middle" class="small"')


def draw_buffer(buffer, phases, columns, y):
    colour, words = STORES[buffer["store"]]
    first, last = buffer["first_phase"], buffer["last_phase"]
    size = f", {in_bytes(buffer['bytes'])}" if buffer["bytes"] else ""
    yield text(BARS - 8, y + 15, buffer["buffer"], 'text-anchor="end"')
    if buffer["reuse"] == "rows":
        yield box(BARS, y + 2, columns.width * phases, 20, colour,
                  'fill-opacity="0.3"')
    yield box(columns.start(first) + 2, y + 2,
              columns.width * (last - first + 1) - 4, 20, colour)
    yield text(NOTES, y + 11, words + size)
    yield text(NOTES, y + 23, buffer["reason"], 'class="small"')


def draw_buffers(fusion, chosen, top):
    """The parts, and where the next one starts."""
    phases = chosen.get("phases", fusion["phases"])  # those of a part
    columns = Columns(len(phases))
    notes = max(len(phase_notes(p)) for p in phases)
    y = top + 15 + 13 * notes
    bottom = y + 30 * len(chosen["buffers"])
    out = list(draw_heads(phases, columns, top))
    if chosen["buffers"]:
        out += [text(NOTES, top, "where it waits, bytes of one row",
                     'font-weight="bold"'),
                text(NOTES, top + 15, "pale: stays there over all rows",
                     'class="small"')]
    for i in range(len(phases) + 1):
        out.append(line(columns.start(i), top + 6, columns.start(i), bottom))
    for buffer in chosen["buffers"]:
        out += draw_buffer(buffer, len(phases), columns, y)
        y += 30
    return out, y + 22


def geometry_lines(keys, chosen, columns):
    groups = keys["threads"] // keys["threads_per_row"]
    each = keys["vector"] * keys["vectors_per_thread"]
    row = "a part of a row" if keys["cluster"] > 1 else "a row"
    lines = []
    if keys["persistent"]:
        unit = some(keys["grid_rows"], "cluster" if keys["cluster"] > 1 else
                    "block")
        lines.append(f"grid: {unit} that walk over the rows, "
                     f"{some(chosen['blocks_per_sm'], 'block')} a "
                     "multiprocessor")
    else:
        lines.append("grid: blocks that make one step each, "
                     f"{chosen['blocks_per_sm']} at a time a multiprocessor")
    if keys["cluster"] > 1:
        lines.append(f"cluster: {keys['cluster']} blocks share a row, "
                     f"{-(-columns // keys['cluster'])} columns each")
    lines.append(f"block: {keys['threads']} threads, "
                 f"{some(groups, 'row group')} of {keys['threads_per_row']}; "
                 f"{chosen['registers']} registers a thread (estimate), "
                 f"{in_bytes(chosen['shared_memory'])} of shared memory")
    lines.append(f"thread: {keys['vectors_per_thread']} x {keys['vector']} = "
                 f"{each} elements of {row}")
    if keys["stages"]:
        lines.append(f"ring: {some(keys['stages'], 'slot')} a row group, "
                     "filled ahead of the row that is worked on")
    elif keys["prefetch"]:
        lines.append("the next row's loads are issued before this row is "
                     "reduced")
    lines.append(f"{in_bytes(chosen['inflight_bytes'])} in flight a "
                 "multiprocessor")
    return lines + finish_lines(keys)


def finish_lines(keys):
    """Who folds the partial rows of the column sums."""
    who = FINISHES.get(keys["finish"])
    if not who or not keys["grid_rows"]:
        return []
    return [f"finish: {who} {keys['grid_rows']} partial rows of the column "
            "sums"]


def draw_block(keys, x, y, width, height):
    """Its row groups, each with its slots of the ring."""
    groups = keys["threads"] // keys["threads_per_row"]
    each = (height - 8) / groups
    slots = keys["stages"]
    yield box(x, y, width, height, "#f4f4f4", 'stroke="#666"')
    for group in range(groups):
        at = y + 4 + each * group
        yield box(x + 4, at + 1, width - 8 - 14 * slots, each - 2, "#9ecae1")
        for slot in range(slots):
            yield box(x + width - 4 - 14 * (slots - slot) + 2, at + 1, 12,
                      each - 2, STORES["ring"][0])


def draw_geometry(keys, chosen, columns, top):
    height, cluster = 60, keys["cluster"]
    width = (RIGHT - LEFT) / max(cluster, 2)
    y = top + 12
    what = "a block and its row groups" if cluster == 1 else \
        "the blocks of a cluster, which share a row"
    ring = "; green: slots of the ring" if keys["stages"] else ""
    out = [text(LEFT, top, f"Geometry: {what}{ring}", 'font-weight="bold"')]
    for block in range(cluster):
        out += draw_block(keys, LEFT + width * block, y, width - 6, height)
    y += height + 20
    for words in geometry_lines(keys, chosen, columns):
        out.append(text(LEFT, y, words))
        y += 17
    return out, y + 14


def terms_of(chosen):
    """[(words, colour, ns)] that add up to the total."""
    ns = dict(chosen)
    bound = max(("memory_ns", "issue_ns"), key=lambda k: chosen[k])
    other = ({"memory_ns", "issue_ns"} - {bound}).pop()
    ns[other] = 0
    ns["rest"] = 0
    ns["rest"] = chosen["total_ns"] - sum(ns[key] for key, _, _ in TERMS)
    return [(words, colour, ns[key]) for key, words, colour in TERMS
            if ns[key] > 0]


def draw_legend(terms, top):
    x, y, out = LEFT, top, []
    for words, colour, ns in terms:
        label = f"{words} {in_us(ns)}"
        if x + 32 + 6.4 * len(label) > RIGHT:
            x, y = LEFT, y + 18
        out += [box(x, y - 9, 10, 10, colour), text(x + 14, y, label)]
        x += 32 + 6.4 * len(label)
    return out, y


def draw_time(chosen, floor, top):
    total = chosen["total_ns"]
    scale = (RIGHT - LEFT) / max(total, floor)
    x, terms = LEFT, terms_of(chosen)
    out = [text(LEFT, top, f"Predicted time {in_us(total)}",
                'font-weight="bold"')]
    for _, colour, ns in terms:
        out.append(box(x, top + 12, ns * scale, 24, colour))
        x += ns * scale
    at = LEFT + floor * scale
    out += [line(at, top + 8, at, top + 46, 'stroke="#000" stroke-width="2"'),
            text(at - 5, top + 49, f"a copy of the same bytes: {in_us(floor)}, "
                 f"{chosen['roofline_percent']} % of the predicted time",
                 'text-anchor="end" class="small"')]
    legend, y = draw_legend(terms, top + 70)
    return out + legend, y


def svg(fusion, variant, chosen, title):
    """The picture as text."""
    keys = chosen["keys"]
    head = [text(LEFT, 24, title, 'font-size="15" font-weight="bold"'),
            text(LEFT, 42, f"{chosen['scheduler']}, {chosen['summary']}")]
    rows, y = draw_buffers(fusion, chosen, 68)
    blocks, y = draw_geometry(keys, chosen, variant["columns"], y)
    bar, y = draw_time(chosen, variant["floor_ns"], y)
    size = f'width="{WIDTH}" height="{y + 16:.0f}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {WIDTH} {y + 16:.0f}" '
        'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">',
        "<style>.small { font-size: 10px; fill: #444 }</style>",
        box(0, 0, WIDTH, y + 16, "#ffffff"),
        *head, *rows, *blocks, *bar, "</svg>", ""])


def title_of(fusion, variant, bindings):
    with_types = f" ({', '.join(bindings)})" if bindings else ""
    return (f"{fusion['fusion']}{with_types} on {fusion['device']}: "
            f"{some(fusion['rows'], 'row')} of "
            f"{some(variant['columns'], 'column')}")


def take(explained, args):
    """The fusion, variant and candidate that are asked for; of the candidate
    the kernel, with its own cost where the plan has several."""
    found = [f for f in explained if args.fusion in (None, f["fusion"])]
    if not found:
        sys.exit(f"draw_plan.py: there is no fusion '{args.fusion}'")
    variants = found[0]["variants"]
    if not 0 <= args.variant < len(variants):
        sys.exit(f"draw_plan.py: variants are 0 to {len(variants) - 1}")
    candidates = variants[args.variant]["candidates"]
    if args.candidate is None:
        chosen = next(c for c in candidates if c["chosen"])
    elif 1 <= args.candidate <= len(candidates):
        chosen = candidates[args.candidate - 1]
    else:
        sys.exit(f"draw_plan.py: candidates are 1 to {len(candidates)}")
    if "refused" in chosen:
        sys.exit(f"draw_plan.py: this plan is refused: {chosen['refused']}")
    if not 0 <= args.kernel < len(chosen["kernels"]):
        sys.exit("draw_plan.py: kernels are 0 to "
                 f"{len(chosen['kernels']) - 1}")
    kernel = chosen["kernels"][args.kernel]
    if kernel["scheduler"] == "fallback":
        sys.exit("draw_plan.py: a fallback has no phases to draw")
    return found[0], variants[args.variant], {**chosen, **kernel}


def explain(fusec, program, device, bindings):
    with tempfile.TemporaryDirectory() as folder:
        command = [fusec, program, "--untuned", "--explain=json", "--device=" + device,
                   "-o", os.path.join(folder, "plan.cu")]
        for b in bindings:
            command += ["-D", b]
        return json.loads(subprocess.run(command, check=True,
                                         stdout=subprocess.PIPE).stdout)


def all_pictures(fusec):
    """{file: text}"""
    out = {}
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    default = argparse.Namespace(fusion=None, variant=0, candidate=None,
                                 kernel=0)
    for name, device, bindings in PICTURES:
        tree = explain(fusec, os.path.join(root, EXAMPLE), device, bindings)
        parts = take(tree, default)
        out[name + ".svg"] = svg(*parts, title_of(*parts[:2], bindings))
    return out


def check_pictures(folder, pictures):
    """Names what differs; the exit status."""
    stale = set(pictures) ^ {f for f in os.listdir(folder)
                             if f.endswith(".svg")}
    for name in set(pictures) - stale:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            if f.read() != pictures[name]:
                stale.add(name)
    for name in sorted(stale):
        print(f"{os.path.join(folder, name)}: not what is drawn today; "
              "tools/draw_plan.py --pictures docs/pictures draws it")
    print(f"pictures: {len(pictures)} drawn, {len(stale)} differ")
    return 1 if stale else 0


def write_pictures(folder, pictures):
    os.makedirs(folder, exist_ok=True)
    for name, words in pictures.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8",
                  newline="\n") as f:
            f.write(words)
    return 0


def draw_one(args):
    if args.explained == "-":
        tree = json.load(sys.stdin)
    else:
        with open(args.explained, encoding="utf-8") as f:
            tree = json.load(f)
    parts = take(tree, args)
    words = svg(*parts, args.title or title_of(*parts[:2], ()))
    if args.output == "-":
        sys.stdout.write(words)
        return 0
    with open(args.output, "w", encoding="utf-8", newline="\n") as f:
        f.write(words)
    return 0


def options():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("explained", nargs="?", default="-",
                   help="output of fusec --explain=json; - is standard input")
    p.add_argument("-o", dest="output", default="-", metavar="FILE.svg")
    p.add_argument("--fusion", help="the first one without it")
    p.add_argument("--variant", type=int, default=0, metavar="N")
    p.add_argument("--candidate", type=int, metavar="N",
                   help="by its number in --explain; else the chosen one")
    p.add_argument("--kernel", type=int, default=0, metavar="N",
                   help="of a plan with several")
    p.add_argument("--title", help="another headline")
    p.add_argument("--pictures", metavar="DIR",
                   help="draw those of the documentation")
    p.add_argument("--fusec", default="build/fusec", metavar="PATH")
    p.add_argument("--check", action="store_true",
                   help="with --pictures: compare, write nothing")
    return p.parse_args()


def main():
    args = options()
    if not args.pictures:
        return draw_one(args)
    pictures = all_pictures(args.fusec)
    if args.check:
        return check_pictures(args.pictures, pictures)
    return write_pictures(args.pictures, pictures)


if __name__ == "__main__":
    sys.exit(main())
