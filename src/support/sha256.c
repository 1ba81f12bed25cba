/* SPDX-License-Identifier: Apache-2.0 */
/* sha256: FIPS 180-4, section 6.2, over a text that lies whole in memory. */
#include "support/base.h"

#include "support/sha256.h"

#include <stdio.h>

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void
expand(const unsigned char *p, uint32_t w[64])
{
    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
               (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];

        w[i] = w[i - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[i - 7] +
               (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
    }
}

static void
compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], s[8];

    expand(block, w);
    memcpy(s, state, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                      ((e & s[5]) ^ (~e & s[6])) + round_constant[i] + w[i];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

/* The last one or two blocks: the rest, a one bit, zeros, the bit length. */
static void
finish(uint32_t state[8], const unsigned char *rest, size_t n, uint64_t len)
{
    unsigned char tail[128] = {0};
    size_t size = n < 56 ? 64 : 128;

    assert(n < 64);
    if (n)
        memcpy(tail, rest, n);
    tail[n] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[size - 1 - i] = (unsigned char)(len * 8 >> (8 * i));
    for (size_t i = 0; i < size; i += 64)
        compress(state, tail + i);
}

void
sha256_hex(const void *data, size_t len, char ret_hex[65])
{
    uint32_t state[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    const unsigned char *p = data;
    size_t n = len;

    for (; n >= 64; p += 64, n -= 64)
        compress(state, p);
    finish(state, p, n, len);
    for (int i = 0; i < 8; i++)
        snprintf(ret_hex + 8 * i, 9, "%08x", (unsigned)state[i]);
}
