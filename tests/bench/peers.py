# SPDX-License-Identifier: Apache-2.0
"""The fusions of the benchmark as PyTorch writes them, and their floors.

Each entry of FUSIONS names an example, says how its arguments are drawn, how
many bytes it must move at least (each input read once, each output written
once), and gives the function that a PyTorch user would call: eager PyTorch runs
it as it is, torch.compile compiles it. Outputs come in the order of the
example's results.
"""

import torch
import torch.nn.functional as F

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def full(m, n, dtype):
    return torch.randn(m, n, device="cuda").to(dtype)


def column(n, dtype):
    return torch.randn(n, device="cuda").to(dtype)


def statistics(x):
    xf = x.float()
    mean = xf.mean(1)
    rstd = torch.rsqrt(xf.var(1, unbiased=False) + 1e-5)
    return mean, rstd


def layernorm_fwd_inputs(m, n, dtype):
    return {"x": full(m, n, dtype), "weight": column(n, dtype),
            "bias": column(n, dtype)}


def layernorm_fwd(x, weight, bias):
    y, mean, rstd = torch.native_layer_norm(x, [x.shape[1]], weight, bias, 1e-5)
    return y, mean.float().view(-1), rstd.float().view(-1)


def layernorm_bwd_inputs(m, n, dtype):
    x = full(m, n, dtype)
    mean, rstd = statistics(x)
    return {"dy": full(m, n, dtype), "x": x, "mean": mean, "rstd": rstd,
            "weight": column(n, dtype)}


def layernorm_bwd(dy, x, mean, rstd, weight):
    return torch.ops.aten.native_layer_norm_backward(
        dy, x, [x.shape[1]], mean.view(-1, 1), rstd.view(-1, 1), weight,
        torch.zeros_like(weight), [True] * 3)


def layernorm_bwd_closed(dy, x, mean, rstd, weight):
    xhat = (x.float() - mean[:, None]) * rstd[:, None]
    wdy = dy.float() * weight.float()
    c1 = (wdy * xhat).mean(1, keepdim=True)
    c2 = wdy.mean(1, keepdim=True)
    dx = (wdy - c2 - xhat * c1) * rstd[:, None]
    return (dx.to(x.dtype), (dy.float() * xhat).sum(0).to(weight.dtype),
            dy.float().sum(0).to(weight.dtype))


def rmsnorm_fwd_inputs(m, n, dtype):
    return {"x": full(m, n, dtype), "weight": column(n, dtype)}


def rmsnorm_fwd(x, weight):
    xf = x.float()
    rrms = torch.rsqrt((xf * xf).mean(1) + 1e-6)
    return (xf * rrms[:, None] * weight.float()).to(x.dtype), rrms


def rmsnorm_bwd_inputs(m, n, dtype):
    x = full(m, n, dtype)
    rrms = torch.rsqrt((x.float() ** 2).mean(1) + 1e-6)
    return {"dy": full(m, n, dtype), "x": x, "rrms": rrms,
            "weight": column(n, dtype)}


def rmsnorm_bwd(dy, x, rrms, weight):
    xhat = x.float() * rrms[:, None]
    wdy = dy.float() * weight.float()
    c = (wdy * xhat).mean(1, keepdim=True)
    dx = (wdy - xhat * c) * rrms[:, None]
    return dx.to(x.dtype), (dy.float() * xhat).sum(0).to(weight.dtype)


def one_input(m, n, dtype):
    return {"x": full(m, n, dtype)}


def softmax_fwd(x):
    return (F.softmax(x, dim=1),)


def softmax_bwd_inputs(m, n, dtype):
    return {"dy": full(m, n, dtype),
            "y": F.softmax(torch.randn(m, n, device="cuda"), dim=1).to(dtype)}


def softmax_bwd(dy, y):
    return (torch.ops.aten._softmax_backward_data(dy, y, 1, dy.dtype),)


def two_inputs(m, n, dtype):
    return {"a": full(m, n, dtype), "b": full(m, n, dtype)}


def silu_mul(a, b):
    return ((F.silu(a.float()) * b.float()).to(a.dtype),)


def row_sum(x):
    return (x.sum(1, dtype=torch.float32),)


def column_sum(x):
    return (x.sum(0, dtype=torch.float32),)


# example: (inputs, eager, to compile, bytes(m, n, s = bytes of T))
FUSIONS = {
    "layernorm_bwd": (layernorm_bwd_inputs, layernorm_bwd,
                      layernorm_bwd_closed,
                      lambda m, n, s: 3 * s * m * n + 8 * m + 3 * s * n),
    "layernorm_fwd": (layernorm_fwd_inputs, layernorm_fwd, layernorm_fwd,
                      lambda m, n, s: 2 * s * m * n + 8 * m + 2 * s * n),
    "rmsnorm_bwd": (rmsnorm_bwd_inputs, rmsnorm_bwd, rmsnorm_bwd,
                    lambda m, n, s: 3 * s * m * n + 4 * m + 2 * s * n),
    "rmsnorm_fwd": (rmsnorm_fwd_inputs, rmsnorm_fwd, rmsnorm_fwd,
                    lambda m, n, s: 2 * s * m * n + 4 * m + s * n),
    "softmax_fwd": (one_input, softmax_fwd, softmax_fwd,
                    lambda m, n, s: 2 * s * m * n),
    "softmax_bwd": (softmax_bwd_inputs, softmax_bwd, softmax_bwd,
                    lambda m, n, s: 3 * s * m * n),
    "silu_mul": (two_inputs, silu_mul, silu_mul,
                 lambda m, n, s: 3 * s * m * n),
    "row_sum": (one_input, row_sum, row_sum,
                lambda m, n, s: s * m * n + 4 * m),
    "column_sum": (one_input, column_sum, column_sum,
                   lambda m, n, s: s * m * n + 4 * n),
}
