#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What looks for local memory finds it: kernels.py on texts that are known.

    test_kernels.py FUSEC
"""

import sys
import unittest

import kernels

CLEAN = """extern "C" __global__ void
fu_a_v0_k0(float *p)
{
    p[threadIdx.x] *= 2;
}
"""
STACK = """extern "C" __global__ void
fu_b_v0_k0(float *p, int n)
{
    float kept[32];
    for (int i = 0; i < 32; ++i)
        kept[(i * n) % 32] = p[i];
    p[0] = kept[n % 31];
}
"""
# A function that is called, not inlined, keeps an array for its kernel.
CALLED = """__device__ __noinline__ float pick(const float *p, int n)
{
    float kept[32];
    for (int i = 0; i < 32; ++i)
        kept[(i * n) % 32] = p[i];
    return kept[n % 31];
}
extern "C" __global__ void
fu_c_v0_k0(float *p, int n)
{
    p[0] = pick(p, n);
}
"""


class Kernels(unittest.TestCase):
    pool = None

    def faults(self, text, arch=90):
        return kernels.faults(*self.pool.reports(self.pool.add(arch, text)))

    def test_clean(self):
        self.assertEqual(self.faults(CLEAN), [])

    def test_local_memory(self):
        for text in (STACK, CALLED):
            found = self.faults(CLEAN + text if text is STACK else text)
            self.assertEqual(len(found), 1)
            self.assertRegex(found[0], r"fu_[bc]_v0_k0: \d+ bytes of local")

    def test_refused(self):
        found = self.faults(CLEAN.replace("p[", "q["))
        self.assertRegex(found[0], 'identifier "q" is undefined')

    def test_nothing(self):
        self.assertEqual(self.faults("// no kernel\n"), ["no kernel"])

    def test_equal_kernels_are_compiled_once(self):
        before = self.pool.compiled
        renamed = CLEAN.replace("fu_a_v0_k0", "fu_other_v3_k1")
        for text in (CLEAN, renamed):
            self.assertEqual(self.faults(text, arch=80), [])
        found = self.faults(renamed + STACK, arch=80)
        self.assertEqual([f.split(":")[0] for f in found], ["fu_b_v0_k0"])
        self.assertEqual(self.pool.compiled - before, 2)


if __name__ == "__main__":
    library = kernels.find_nvrtc(sys.argv.pop())
    if not library:
        sys.exit(77)
    Kernels.pool = kernels.Kernels(library, 1)
    result = unittest.main(exit=False).result
    Kernels.pool.close()
    sys.exit(not result.wasSuccessful())
