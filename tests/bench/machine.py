# SPDX-License-Identifier: Apache-2.0
"""Where a benchmark runs: PyTorch on a GPU, or NumPy, for tests without one.

A machine makes tensors, loads compiled fusions, captures launches as graphs
and times graphs. `Gpu` does so; `Dry` computes a fusion by its formula and
times the functions themselves: its times mean nothing, but all else is as on a
GPU.
"""

import datetime
import json
import statistics
import time
from pathlib import Path

import bounded
import fusions

EPS_LAYER, EPS_ROOT = 1e-5, 1e-6
SPIN = 400000     # clock cycles in which the host enqueues what is timed
FLUSH = 300e6     # bytes read, which leave nothing else in the L2 cache


def today():
    return datetime.date.today().isoformat()


class Machine:
    """What both kinds share. `xp` is NumPy or PyTorch; the times of a machine
    that is not `real` mean nothing."""

    real = False

    def statistics(self, x):
        wide = self.single(x)
        mean = wide.mean(1)
        centred = wide - mean[:, None]
        return mean, ((centred * centred).mean(1) + EPS_LAYER) ** -0.5

    def root(self, x):
        wide = self.single(x)
        return ((wide * wide).mean(1) + EPS_ROOT) ** -0.5

    def softmax(self, x, dtype):
        e = self.xp.exp(x - self.xp.amax(x, 1)[:, None])
        return self.narrow(e / e.sum(1)[:, None], dtype)

    def time(self, graphs, warm_up, timed):
        """Median microseconds of a launch, by name; graphs interleaved."""
        times = {name: [] for name in graphs}
        for i in range(warm_up + timed):
            for name, graph in graphs.items():
                t = self.replay(graph)
                if i >= warm_up:
                    times[name].append(t)
        return {name: statistics.median(t) for name, t in times.items()}


class Gpu(Machine):
    """PyTorch on `device`, cuda; on cpu, graphs are plain loops."""

    def __init__(self, library, device="cuda"):
        import torch
        self.xp, self.device, self.library = torch, device, library
        self.types = {"f32": torch.float32, "bf16": torch.bfloat16,
                      "f16": torch.float16}
        self.cuda = self.real = device == "cuda"
        torch.manual_seed(1)
        if self.cuda:
            import launch
            self.launch = launch
            self.scratch = torch.zeros(int(FLUSH) // 4, device=device)

    def info(self):
        torch = self.xp
        name = torch.cuda.get_device_name() if self.cuda else "cpu"
        return {"gpu": name, "torch": torch.__version__, "date": today()}

    def normal(self, shape, dtype):
        t = self.xp.randn(shape, device=self.device)
        return self.narrow(t, dtype)

    def narrow(self, t, dtype):
        return t.to(self.types[dtype])

    def single(self, t):
        return t.float()

    def double(self, t):
        return t.double()

    def empty(self, shape, dtype):
        return self.xp.empty(shape, dtype=self.types[dtype],
                             device=self.device)

    def poison(self, t):
        t.fill_(float("nan"))

    def equal(self, a, b):
        """Bit by bit."""
        kind = {4: self.xp.int32, 2: self.xp.int16}[a.element_size()]
        return bool(self.xp.equal(a.view(kind), b.view(kind)))

    def clone(self, t):
        return t.clone()

    def load(self, problem, path):
        if not self.cuda:
            return ByFormula(self, problem)
        return self.launch.Fusion(self.library, path)

    def copy_buffers(self, total):
        n = max(int(total) // 2, 16) // 16 * 16
        return [self.xp.zeros(n, dtype=self.xp.uint8, device=self.device)
                for _ in range(2)]

    def copy(self, source, target):
        target.copy_(source)

    def copy_by_kernel(self, source, target):
        wide = self.xp.int32
        self.xp.bitwise_not(source.view(wide), out=target.view(wide))

    def peer(self, fusion, kind):
        import peers
        eager, closed = peers.PEERS[fusion]
        if kind == "eager":
            return eager
        return self.xp.compile(closed, dynamic=False)

    def forget_compiled(self):
        self.xp._dynamo.reset()

    def capture(self, run, sets, count, flush):
        """A graph of `count` launches over the sets in turn."""
        torch = self.xp
        if not self.cuda:
            return (run, sets, count, flush)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for s in sets[:2]:
                run(s)
            stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for i in range(count):
                    run(sets[i % len(sets)])
        torch.cuda.synchronize()
        return (graph, sets, count, flush)

    def replay(self, graph):
        torch = self.xp
        g, sets, count, flush = graph
        if not self.cuda:
            return looped(g, sets, count)
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        if flush:
            torch.amax(self.scratch)
        torch.cuda._sleep(SPIN)
        begin.record()
        g.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / count

    def call(self, run, sets, timed):
        """Median microseconds of a single call, as the host sees it."""
        times = []
        for i in range(timed):
            start = time.perf_counter()
            run(sets[i % len(sets)])
            self.synchronize()
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e6

    def synchronize(self):
        if self.cuda:
            self.xp.cuda.synchronize()

    def free(self):
        if self.cuda:
            self.xp.cuda.empty_cache()


class Dry(Machine):
    """NumPy; every type is kept as f32 that has been rounded to it."""

    def __init__(self, library=None):
        import numpy
        self.xp, self.random = numpy, numpy.random.default_rng(1)

    def info(self):
        return {"gpu": "none", "torch": "none", "date": today()}

    def normal(self, shape, dtype):
        return self.narrow(self.random.standard_normal(shape), dtype)

    def narrow(self, t, dtype):
        wide = bounded.Bounded(self.xp, self.double(t)).stored(dtype).v
        return wide.astype(self.xp.float32)

    def single(self, t):
        return t

    def double(self, t):
        return t.astype(self.xp.float64)

    def empty(self, shape, dtype):
        return self.xp.zeros(shape, self.xp.float32)

    def poison(self, t):
        t.fill(float("nan"))

    def equal(self, a, b):
        return a.tobytes() == b.tobytes()

    def clone(self, t):
        return t.copy()

    def load(self, problem, path):
        return ByFormula(self, problem)

    def copy_buffers(self, total):
        return [self.xp.zeros(max(int(total) // 2, 16), "u1")
                for _ in range(2)]

    def copy(self, source, target):
        target[:] = source

    def copy_by_kernel(self, source, target):
        target[:] = ~source

    def peer(self, fusion, kind):
        def call(**inputs):
            return list(formula_values(self, fusion, inputs, "f32").values())
        return call

    def forget_compiled(self):
        pass

    def capture(self, run, sets, count, flush):
        return (run, sets, count, flush)

    def replay(self, graph):
        run, sets, count, _ = graph
        return looped(run, sets, count)

    def call(self, run, sets, timed):
        return looped(run, sets, timed)

    def synchronize(self):
        pass

    def free(self):
        pass


def looped(run, sets, count):
    start = time.perf_counter()
    for i in range(count):
        run(sets[i % len(sets)])
    return (time.perf_counter() - start) * 1e6 / count


def formula_values(mach, fusion, inputs, dtype):
    """The outputs of a formula, in double."""
    given = {k: bounded.Bounded(mach.xp, mach.double(t))
             for k, t in inputs.items()}
    out = {}
    for name, value in fusions.FUSIONS[fusion].formula(given, dtype).items():
        is_columns = isinstance(value, tuple)
        out[name] = value[1].v.sum(0) if is_columns else value.v
    return out


class ByFormula:
    """Stands for a compiled fusion where there is no GPU."""

    def __init__(self, mach, problem):
        self.mach, self.problem = mach, problem

    def __call__(self, inputs, outputs):
        values = formula_values(self.mach, self.problem.fusion, inputs,
                                self.problem.dtype)
        for name, value in values.items():
            outputs[name][...] = value

    def forget(self):
        pass


def read_manifest(path):
    """([(name, role, dtype, shape)], kernels of a launch) of a manifest with
    bound sizes."""
    fusion = json.loads(Path(path).read_text(encoding="utf-8"))["fusions"][0]
    params = [(p["name"], p["role"], p["dtype"],
               tuple(int(s) for s in p.get("shape") or ()))
              for p in fusion["params"]]
    return params, len(fusion["variants"][0]["launches"])
