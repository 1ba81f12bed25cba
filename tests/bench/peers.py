# SPDX-License-Identifier: Apache-2.0
"""The fusions of the benchmark as PyTorch does them.

Each entry of PEERS gives two functions of the same arguments and results: what
eager PyTorch runs (its own fused operators where it has them), and the closed
form in f32 arithmetic that torch.compile compiles. Results come in the order
of the program's, gradients of weights in the type of the weights.
"""

import torch
import torch.nn.functional as F

ATEN = torch.ops.aten


def layernorm_fwd(x, weight, bias):
    y, mean, rstd = torch.native_layer_norm(x, [x.shape[1]], weight, bias, 1e-5)
    return y, mean.float().view(-1), rstd.float().view(-1)


def layernorm_fwd_closed(x, weight, bias):
    xf = x.float()
    mean = xf.mean(1, keepdim=True)
    centred = xf - mean
    rstd = torch.rsqrt((centred * centred).mean(1, keepdim=True) + 1e-5)
    y = centred * rstd * weight.float() + bias.float()
    return y.to(x.dtype), mean.view(-1), rstd.view(-1)


def layernorm_fwd_add(x, res, weight, bias):
    h = x + res
    return (h, *layernorm_fwd(h, weight, bias))


def layernorm_fwd_add_closed(x, res, weight, bias):
    h = x + res
    return (h, *layernorm_fwd_closed(h, weight, bias))


def layernorm_bwd(dy, x, mean, rstd, weight):
    return ATEN.native_layer_norm_backward(
        dy, x, [x.shape[1]], mean.view(-1, 1), rstd.view(-1, 1), weight,
        weight, [True] * 3)  # of the bias only its type is looked at


def layernorm_bwd_closed(dy, x, mean, rstd, weight):
    xhat = (x.float() - mean[:, None]) * rstd[:, None]
    wdy = dy.float() * weight.float()
    c1 = (wdy * xhat).mean(1, keepdim=True)
    c2 = wdy.mean(1, keepdim=True)
    dx = (wdy - c2 - xhat * c1) * rstd[:, None]
    return (dx.to(x.dtype), (dy.float() * xhat).sum(0).to(weight.dtype),
            dy.float().sum(0).to(weight.dtype))


def layernorm_bwd_add(dy, x, dres, mean, rstd, weight):
    dx, dweight, dbias = layernorm_bwd(dy, x, mean, rstd, weight)
    return dx + dres, dweight, dbias


def layernorm_bwd_add_closed(dy, x, dres, mean, rstd, weight):
    xhat = (x.float() - mean[:, None]) * rstd[:, None]
    wdy = dy.float() * weight.float()
    c1 = (wdy * xhat).mean(1, keepdim=True)
    c2 = wdy.mean(1, keepdim=True)
    dx = (wdy - c2 - xhat * c1) * rstd[:, None] + dres.float()
    return (dx.to(x.dtype), (dy.float() * xhat).sum(0).to(weight.dtype),
            dy.float().sum(0).to(weight.dtype))


def rmsnorm_fwd(x, weight):
    if x.is_cuda:
        y, rrms = ATEN._fused_rms_norm(x, [x.shape[1]], weight, 1e-6)
        return y, rrms.view(-1)
    return rmsnorm_fwd_closed(x, weight)


def rmsnorm_fwd_closed(x, weight):
    xf = x.float()
    rrms = torch.rsqrt((xf * xf).mean(1) + 1e-6)
    return (xf * rrms[:, None] * weight.float()).to(x.dtype), rrms


def rmsnorm_fwd_add(x, res, weight):
    h = x + res
    return (h, *rmsnorm_fwd(h, weight))


def rmsnorm_fwd_add_closed(x, res, weight):
    h = x + res
    return (h, *rmsnorm_fwd_closed(h, weight))


def rmsnorm_bwd(dy, x, rrms, weight):
    if x.is_cuda:
        return ATEN._fused_rms_norm_backward(dy, x, [x.shape[1]],
                                             rrms.view(-1, 1), weight,
                                             [True] * 2)
    return rmsnorm_bwd_closed(dy, x, rrms, weight)


def rmsnorm_bwd_closed(dy, x, rrms, weight):
    xhat = x.float() * rrms[:, None]
    wdy = dy.float() * weight.float()
    c = (wdy * xhat).mean(1, keepdim=True)
    dx = (wdy - xhat * c) * rrms[:, None]
    return dx.to(x.dtype), (dy.float() * xhat).sum(0).to(weight.dtype)


def rmsnorm_bwd_add(dy, x, dres, rrms, weight):
    dx, dweight = rmsnorm_bwd(dy, x, rrms, weight)
    return dx + dres, dweight


def rmsnorm_bwd_add_closed(dy, x, dres, rrms, weight):
    xhat = x.float() * rrms[:, None]
    wdy = dy.float() * weight.float()
    c = (wdy * xhat).mean(1, keepdim=True)
    dx = (wdy - xhat * c) * rrms[:, None] + dres.float()
    return dx.to(x.dtype), (dy.float() * xhat).sum(0).to(weight.dtype)


def softmax_fwd(x):
    return (F.softmax(x, dim=1),)


def log_softmax_fwd(x):
    return (F.log_softmax(x, dim=1),)


def softmax_bwd(dy, y):
    return (ATEN._softmax_backward_data(dy, y, 1, dy.dtype),)


def softmax_bwd_closed(dy, y):
    dyf, yf = dy.float(), y.float()
    return ((yf * (dyf - (dyf * yf).sum(1, keepdim=True))).to(dy.dtype),)


def silu_mul(a, b):
    return (F.silu(a) * b,)


def silu_mul_closed(a, b):
    return ((F.silu(a.float()) * b.float()).to(a.dtype),)


def row_sum(x):
    return (x.sum(1, dtype=torch.float32),)


def column_sum(x):
    return (x.sum(0, dtype=torch.float32),)


# fusion: (eager, to compile)
PEERS = {
    "layernorm_bwd": (layernorm_bwd, layernorm_bwd_closed),
    "layernorm_bwd_add": (layernorm_bwd_add, layernorm_bwd_add_closed),
    "rmsnorm_bwd": (rmsnorm_bwd, rmsnorm_bwd_closed),
    "rmsnorm_bwd_add": (rmsnorm_bwd_add, rmsnorm_bwd_add_closed),
    "layernorm_fwd": (layernorm_fwd, layernorm_fwd_closed),
    "layernorm_fwd_add": (layernorm_fwd_add, layernorm_fwd_add_closed),
    "rmsnorm_fwd": (rmsnorm_fwd, rmsnorm_fwd_closed),
    "rmsnorm_fwd_add": (rmsnorm_fwd_add, rmsnorm_fwd_add_closed),
    "softmax_fwd": (softmax_fwd, softmax_fwd),
    "log_softmax_fwd": (log_softmax_fwd, log_softmax_fwd),
    "softmax_bwd": (softmax_bwd, softmax_bwd_closed),
    "silu_mul": (silu_mul, silu_mul_closed),
    "row_sum": (row_sum, row_sum),
    "column_sum": (column_sum, column_sum),
}
