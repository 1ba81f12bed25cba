# SPDX-License-Identifier: Apache-2.0

"""A squeeze after a broadcast, or two transposes, looked like new broadcasts and a
backward pass was cut in two. Changes of shape that cancel leave the text as it is."""

import field

TEXT = """
fusion bwd(dy: f16[56, 128, 256], x: f16[56, 128, 256], mu: f32[56, 128],
           rstd: f32[56, 128], gamma: f16[256])
    -> (dx: f16[56, 128, 256], dgamma: f16[256], dbeta: f16[256])
{{
    xhat = ({x} - {mu}) * rstd[:, :, None];
    g = {dy} * {gamma};
    c1 = mean(g * xhat, axis=2, keepdim=true);
    c2 = mean(g, axis=2, keepdim=true);
    dx = (g - c2 - xhat * {c1}) * rstd[:, :, None];
    dgamma = sum({dy} * xhat, axis=[0, 1]);
    dbeta = sum({dy}, axis=[0, 1]);
}}
"""
PLAIN = {"x": "x", "mu": "mu[:, :, None]", "dy": "dy", "gamma": "gamma",
         "c1": "c1"}
PAIRS = {
    "x": "transpose(transpose({}, 0, 2), 0, 2)",
    "mu": "squeeze(unsqueeze({}, axis=1), axis=1)",
    "dy": "squeeze({}[:, None], axis=1)",
    "gamma": "squeeze(broadcast_to({}[None, :], [1, 256]), axis=0)",
    "c1": "squeeze(broadcast_to({}[None], [1, 56, 128, 1]), axis=0)",
}


def padded(times):
    parts = dict(PLAIN)
    for _ in range(times):
        parts = {k: PAIRS[k].format(v) for k, v in parts.items()}
    return TEXT.format(**parts)


def main():
    plain = field.kernels(field.emit(padded(0), "cu"))
    tree = field.manifest(padded(0))
    assert len(tree["fusions"][0]["variants"][0]["launches"]) == 2, tree
    for times in (1, 2, 3):
        text = field.kernels(field.emit(padded(times), "cu"))
        assert text == plain, f"{times} pairs:\n{plain}\n=====\n{text}"


main()
