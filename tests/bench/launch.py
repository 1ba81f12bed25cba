# SPDX-License-Identifier: Apache-2.0
"""A compiled fusion as a callable on PyTorch tensors, through libfusec_launch."""

import ctypes
import json
from pathlib import Path

import torch

DTYPES = {"bool": 0, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "u8": 5, "f16": 6,
          "bf16": 7, "f32": 10, "f64": 11}
TORCH = {"bool": torch.bool, "i8": torch.int8, "i16": torch.int16,
         "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
         "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
         "f64": torch.float64}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int),
                ("ndim", ctypes.c_int),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


class Space(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("stream", ctypes.c_void_p)]


class Fusion:
    """fusion(inputs, outputs) launches on PyTorch's current stream."""

    modules = {}  # by manifest: loaded once

    def __init__(self, library, manifest, name=None):
        torch.cuda.current_stream()  # makes PyTorch's context current
        torch.zeros(1, device="cuda")
        self.lib = ctypes.CDLL(str(Path(library).resolve()))
        self.message = ctypes.create_string_buffer(512)
        module = self._module(str(manifest))
        self.lib.fusec_find.restype = ctypes.c_void_p
        self.fusion = ctypes.c_void_p(self.lib.fusec_find(
            module, name.encode() if name else None))
        fusions = json.loads(Path(manifest).read_text())["fusions"]
        self.params = next(f["params"] for f in fusions
                           if name in (None, f["name"]))
        self.prepared = {}  # by id of the inputs
        self.spaces = {}    # by shapes: launches of a stream share one

    def _module(self, manifest):
        if manifest not in self.modules:
            module = ctypes.c_void_p()
            self._ok(self.lib.fusec_load(manifest.encode(),
                                         ctypes.byref(module), self.message,
                                         ctypes.c_size_t(512)))
            self.modules[manifest] = module
        return self.modules[manifest]

    def _ok(self, status):
        if status != 0:
            raise RuntimeError(self.message.value.decode() or str(status))

    def empty_outputs(self, inputs):
        dims = {}
        for p in self.params:
            if p["name"] in inputs:
                for text, n in zip(p["shape"], inputs[p["name"]].shape):
                    dims.setdefault(str(text), n)
        shape = lambda p: [int(s) if str(s).isdigit() else dims[str(s)]
                           for s in p["shape"]]
        return {p["name"]: torch.empty(shape(p), dtype=TORCH[p["dtype"]],
                                       device="cuda")
                for p in self.params if p["role"] == "output"}

    def forget(self):
        """Gives the memory of tensors and workspaces back."""
        self.prepared.clear()
        self.spaces.clear()

    def _argument(self, p, tensors):
        t = tensors.get(p["name"])
        if t is None:  # a scalar left to its default
            return Tensor(None, DTYPES[p["dtype"]], 0, None, None)
        shape = (ctypes.c_int64 * t.dim())(*t.shape)
        return Tensor(t.data_ptr(), DTYPES[p["dtype"]], t.dim(), shape, None)

    def _prepare(self, inputs, outputs):
        tensors = {**inputs, **outputs}
        args = (Tensor * len(self.params))(
            *[self._argument(p, tensors) for p in self.params])
        size = ctypes.c_size_t()
        self._ok(self.lib.fusec_workspace_size(
            self.fusion, args, len(self.params), ctypes.byref(size),
            self.message, ctypes.c_size_t(512)))
        shapes = tuple((k, tuple(t.shape)) for k, t in tensors.items())
        if shapes not in self.spaces:
            self.spaces[shapes] = torch.zeros(max(size.value, 256),
                                              dtype=torch.uint8, device="cuda")
        return args, self.spaces[shapes], tensors

    def __call__(self, inputs, outputs):
        key = id(inputs)
        if key not in self.prepared:
            self.prepared[key] = self._prepare(inputs, outputs)
        args, space, _ = self.prepared[key]
        where = Space(space.data_ptr(), space.numel(),
                      torch.cuda.current_stream().cuda_stream)
        self._ok(self.lib.fusec_launch(
            self.fusion, args, len(self.params), ctypes.byref(where),
            self.message, ctypes.c_size_t(512)))
