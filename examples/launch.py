#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches a compiled fusion from Python, through libfusec_launch and ctypes.

    fusec softmax_fwd.fusion -D T=f32 -o softmax.ptx
    launch.py softmax.json --lib ../build/tools/libfusec_launch.so \
        --shape M=256 --shape N=1000

With PyTorch the tensors are PyTorch's and the launch goes to its stream; without
it they are NumPy's, copied by the CUDA driver API. Inputs are random; the shape
and the sum of every output are printed.
"""

import argparse
import ctypes as c
import json
from pathlib import Path

import numpy as np

try:
    import torch
except ImportError:
    torch = None

# In the order of enum fusec_dtype. NumPy has no bf16 and no 8-bit floats.
DTYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "f16", "bf16", "f8e4m3",
          "f8e5m2", "f32", "f64"]
NUMPY = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
         "i64": np.int64, "u8": np.uint8, "f16": np.float16,
         "f32": np.float32, "f64": np.float64}


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("ndim", c.c_int),
                ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64))]


class Space(c.Structure):
    _fields_ = [("data", c.c_void_p), ("bytes", c.c_size_t),
                ("stream", c.c_void_p)]


class Library:
    """The launch library; a status that isn't 0 becomes an exception."""

    def __init__(self, path):
        self.lib = c.CDLL(str(Path(path).resolve()))
        self.lib.fusec_find.restype = c.c_void_p
        self.message = c.create_string_buffer(512)

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args, self.message, c.c_size_t(512))
        if status != 0:
            raise RuntimeError(self.message.value.decode())

    def load(self, manifest, fusion):
        module = c.c_void_p()
        self.call("fusec_load", str(manifest).encode(), c.byref(module))
        found = self.lib.fusec_find(module, fusion.encode())
        return c.c_void_p(found)


class Driver:
    """Memory through the CUDA driver API, for use without PyTorch."""

    def __init__(self):
        self.cuda = c.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = c.c_int(), c.c_void_p()
        self.call("cuDeviceGet", c.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", c.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status != 0:
            raise RuntimeError(f"{name}: CUDA error {status}")

    def alloc(self, size):
        p = c.c_uint64()
        self.call("cuMemAlloc_v2", c.byref(p), c.c_size_t(max(size, 256)))
        return p.value

    def put(self, array):
        p = self.alloc(array.nbytes)
        if array.nbytes:
            self.call("cuMemcpyHtoD_v2", c.c_uint64(p),
                      array.ctypes.data_as(c.c_void_p),
                      c.c_size_t(array.nbytes))
        return p

    def get(self, p, array):
        self.call("cuCtxSynchronize")
        if array.nbytes:
            self.call("cuMemcpyDtoH_v2", array.ctypes.data_as(c.c_void_p),
                      c.c_uint64(p), c.c_size_t(array.nbytes))
        return array


def random_array(rng, dtype, shape):
    if dtype.startswith(("f", "b")) and dtype != "bool":
        return rng.standard_normal(shape).astype(np.float32)
    return rng.integers(0, 2, shape)


class OnTorch:
    def __init__(self):
        torch.zeros(1, device="cuda")  # makes PyTorch's context current

    def make(self, dtype, host):
        kind = {"f16": torch.float16, "bf16": torch.bfloat16,
                "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
        t = torch.from_numpy(np.asarray(host)).cuda()
        return t.to(kind.get(dtype) or getattr(
            torch, np.dtype(NUMPY[dtype]).name))

    def address(self, t):
        return t.data_ptr()

    def workspace(self, size):
        return torch.zeros(max(size, 256), dtype=torch.uint8, device="cuda")

    def stream(self):
        return torch.cuda.current_stream().cuda_stream

    def total(self, t):
        return t.double().sum().item()


class OnNumPy:
    def __init__(self):
        self.driver = Driver()

    def make(self, dtype, host):
        if dtype not in NUMPY:
            raise SystemExit(f"NumPy has no {dtype}; install PyTorch")
        array = np.ascontiguousarray(host, NUMPY[dtype])
        return array, self.driver.put(array)

    def address(self, t):
        return t[1]

    def workspace(self, size):
        return self.make("u8", np.zeros(max(size, 256)))

    def stream(self):
        return None

    def total(self, t):
        return float(self.driver.get(t[1], t[0]).astype(np.float64).sum())


def dimension(text, dims):
    """An extent of the manifest; names and numbers are what this example
    knows."""
    return dims[text] if text in dims else int(text)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("manifest", type=Path)
    ap.add_argument("--lib", default="libfusec_launch.so")
    ap.add_argument("--shape", action="append", default=[])
    args = ap.parse_args()
    dims = {k: int(v) for k, v in (s.split("=") for s in args.shape)}
    fusion = json.loads(args.manifest.read_text())["fusions"][0]
    on = OnTorch() if torch and torch.cuda.is_available() else OnNumPy()
    lib = Library(args.lib)
    handle = lib.load(args.manifest, fusion["name"])

    rng = np.random.default_rng(0)
    tensors, call = {}, (Tensor * len(fusion["params"]))()
    for i, p in enumerate(fusion["params"]):
        call[i].dtype = DTYPES.index(p["dtype"])
        if p["role"] not in ("input", "output"):
            continue  # data stays NULL: the default
        shape = [dimension(s, dims) for s in p["shape"]]
        host = (random_array(rng, p["dtype"], shape) if p["role"] == "input"
                else np.zeros(shape, np.float32))
        tensors[p["name"]] = t = on.make(p["dtype"], host)
        call[i].data = on.address(t)
        call[i].ndim = len(shape)
        call[i].shape = (c.c_int64 * len(shape))(*shape)

    size = c.c_size_t()
    lib.call("fusec_workspace_size", handle, call, len(call), c.byref(size))
    memory = on.workspace(size.value)
    space = Space(on.address(memory), size.value, on.stream())
    lib.call("fusec_launch", handle, call, len(call), c.byref(space))
    for p in fusion["params"]:
        if p["role"] == "output":
            print(f"{p['name']}: sum {on.total(tensors[p['name']]):.6g}")


main()
