# SPDX-License-Identifier: Apache-2.0
"""The command line of fusec-tune."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import build
import measure
import plot
import problem
import report
from problem import Bad

RESULTS = "results.jsonl"
ABOUT = """Measures the plans of fusions and writes a tuning file for
'fusec --tuned'. Stopped at any time, the same command goes on: what is compiled
and measured is kept in the work folder."""
EXIT_WRONG, EXIT_USAGE, EXIT_OUTSIDE, EXIT_INTERRUPTED = 1, 2, 3, 130


def parser():
    ap = argparse.ArgumentParser(prog="fusec-tune", description=ABOUT)
    ap.add_argument("file", nargs="?", metavar="FILE.fusion")
    ap.add_argument("--fusion", help="which fusion, when there are several")
    ap.add_argument("-D", action="append", default=[], dest="defines",
                    metavar="NAME=VALUE", help="as fusec's")
    ap.add_argument("--shapes", nargs="+", default=[], metavar="M=8192,N=4096",
                    help="sizes to tune; without --bind they inform the cost "
                         "model alone")
    ap.add_argument("--bind", default="", metavar="N,...",
                    help="dimensions that -D binds in each size")
    ap.add_argument("--check-shape", metavar="M=512",
                    help="the size at which the reference judges; elsewhere "
                         "the plans' results are compared with each other")
    ap.add_argument("--problems", type=Path, metavar="FILE",
                    help="more problems, one a line: [FILE.fusion] [-D X=Y] "
                         "[fusion=NAME] [bind=N] [check=M=512] M=8192,N=4096")
    ap.add_argument("--device", default="h200", help="as fusec's")
    ap.add_argument("--plans", type=int, default=24, metavar="N",
                    help="candidates of each problem (default 24)")
    ap.add_argument("-o", dest="output", type=Path, metavar="tuned.txt",
                    help="the tuning file; its name with .tsv and .svg for the "
                         "table and the plot")
    ap.add_argument("--gain", type=float, default=1.01,
                    help="least ratio of times for an entry (default 1.01)")
    steps = ap.add_argument_group("steps")
    steps.add_argument("--dir", type=Path, default=Path("fusec-tune.work"),
                       help="the work folder (default fusec-tune.work)")
    steps.add_argument("--compile-only", type=Path, metavar="DIR",
                       help="fill a work folder; needs no GPU")
    steps.add_argument("--run-only", type=Path, metavar="DIR",
                       help="measure what a work folder holds; needs no "
                            "compiler")
    steps.add_argument("--shard", default="1/1", metavar="I/N",
                       help="part I of N of the problems")
    steps.add_argument("--results", type=Path, metavar="FILE",
                       help=f"where results go (default DIR/{RESULTS}); "
                            "shards that share a folder need one each")
    steps.add_argument("--merge", nargs="+", type=Path, metavar="FILE",
                       help="report on these results")
    add_tools(ap)
    return ap


def add_tools(ap):
    tools = ap.add_argument_group("tools")
    tools.add_argument("--fusec", help="the compiler")
    tools.add_argument("--runner", help="fusec-run")
    tools.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                       help="compilations at a time (default: all cores)")
    tools.add_argument("--gpu", default="0", metavar="N", help="CUDA device")
    tools.add_argument("--replays", default="3,10", metavar="W,N",
                       help="W to warm up, N timed ones (default 3,10)")
    tools.add_argument("--timeout", type=float, default=600, metavar="S",
                       help="seconds for one problem (default 600)")
    tools.add_argument("--seconds", type=float, metavar="S",
                       help="begin no problem after S seconds")
    tools.add_argument("--emulate", action="store_true",
                       help="check the plans on this CPU, time nothing")


def find_tool(given, name, beside):
    """A program: as given, beside this one, in its build folder, on PATH."""
    here = Path(sys.argv[0]).resolve().parent
    places = [given] if given else [here / name, *beside]
    for place in places:
        if os.access(place, os.X_OK) and Path(place).is_file():
            return str(Path(place).resolve())
    found = None if given else shutil.which(name)
    if not found:
        raise Bad(f"{given or name} is not there or no program")
    return found


def problems_of(opt):
    bound = tuple(n for n in opt.bind.split(",") if n)
    check = problem.parse_dims(opt.check_shape) if opt.check_shape else ()
    base = problem.Problem(opt.file, opt.fusion, tuple(opt.defines), (), bound,
                           check)
    found = []
    if opt.shapes and not opt.file:
        raise Bad("--shapes needs FILE.fusion")
    for shape in opt.shapes:
        found.append(problem.make(opt.file, opt.fusion, opt.defines,
                                  problem.parse_dims(shape), bound, check))
    if opt.problems:
        found += problem.read(opt.problems, base)
    if not found:
        raise Bad("nothing to tune: give --shapes or --problems")
    return list({p.key: p for p in found}.values())


class Progress:
    """One line on standard error: rewritten on a terminal, else a line each."""

    def __init__(self):
        self.terminal, self.dirty = sys.stderr.isatty(), False

    def __call__(self, words):
        end = "" if self.terminal else "\n"
        start = "\r\033[K" if self.terminal else ""
        print(start + words, end=end, file=sys.stderr, flush=True)
        self.dirty = self.terminal

    def end(self):
        if self.dirty:
            print(file=sys.stderr)
        self.dirty = False


def compile_step(opt, folder, progress):
    root = Path(sys.argv[0]).resolve().parent.parent
    fusec = find_tool(opt.fusec, "fusec", [root / "build/fusec"])
    todo = problem.shard(problems_of(opt), opt.shard)
    builder = build.Builder(fusec, folder, opt.device, opt.plans, opt.jobs,
                            "cu" if opt.emulate else "cubin")
    refused = builder.build(todo, progress)
    progress.end()
    for why in refused:
        complain(why)
    return EXIT_WRONG if refused else 0


def runner_options(opt):
    if opt.emulate:
        return ["--emulate"]
    return ["--bench", "--replays", opt.replays, "--device", opt.gpu]


def run_step(opt, folder, progress, keys):
    """KEYS: of the problems to run, or None for all of the folder."""
    root = Path(sys.argv[0]).resolve().parent.parent
    runner = find_tool(opt.runner, "fusec-run",
                       [root / "build/tools/fusec-run"])
    rows = build.read_index(folder)
    if keys is not None:
        rows = [r for r in rows if r["key"] in keys]
    else:
        rows = problem.shard(rows, opt.shard)
    if not rows:
        raise Bad(f"'{folder}' holds nothing to run")
    path = opt.results or folder / RESULTS
    left = measure.Runner(runner, folder, runner_options(opt)).run(
        rows, path, opt.timeout, opt.seconds, progress)
    progress.end()
    if left:
        complain(f"out of time: {left} problems are left")
    return rows, path


def report_step(opt, rows, paths):
    results = [r for path in paths for r in build.read_lines(path)]
    measured = report.join(rows, results)
    if not measured:
        raise Bad("no results for these problems")
    faults = list(report.fault_lines(measured))
    for line in faults:
        complain(line)
    if opt.emulate:
        print(f"{len(measured)} problems, "
              f"{sum(m.result['checked'] for m in measured)} plans checked, "
              f"{len(faults)} wrong or failed")
    else:
        print("\n".join(report.summary_lines(measured)))
        write_outputs(opt, measured)
    return EXIT_WRONG if faults else 0


def write_outputs(opt, measured):
    if not opt.output:
        return
    table = "".join(line + "\n" for line in report.plan_lines(measured))
    write(opt.output.with_suffix(".tsv"), table)
    picture = plot.svg(measured)
    if picture:
        write(opt.output.with_suffix(".svg"), picture)
    write(opt.output, report.tuning_file(measured, opt.gain))


def write(path, text):
    """The whole file or none of it."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def complain(words):
    print(f"fusec-tune: {words}", file=sys.stderr)


def act(opt, progress):
    if opt.compile_only:
        return compile_step(opt, opt.compile_only, progress)
    folder = opt.run_only or opt.dir
    if opt.merge:
        return report_step(opt, build.read_index(folder), opt.merge)
    keys, status = None, 0
    if not opt.run_only:
        status = compile_step(opt, folder, progress)
        keys = {p.key for p in problem.shard(problems_of(opt), opt.shard)}
    rows, path = run_step(opt, folder, progress, keys)
    return report_step(opt, rows, [path]) or status


def main(args=None):
    opt = parser().parse_args(args)
    progress = Progress()
    try:
        return act(opt, progress)
    except Bad as e:
        complain(e)
        return EXIT_USAGE
    except (OSError, subprocess.SubprocessError, measure.Outside) as e:
        complain(e)
        return EXIT_OUTSIDE
    except KeyboardInterrupt:
        progress.end()
        complain("stopped; the same command goes on from here")
        return EXIT_INTERRUPTED
