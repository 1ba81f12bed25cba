/* SPDX-License-Identifier: Apache-2.0 */
/* The device table is consistent and the occupancy arithmetic is the
 * hardware's: caps by warps per block as the assembler applies them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/device.h"
#include "support/arena.h"

static void
rows_are_consistent(void **state)
{
    (void)state;
    for (unsigned i = 0; i < device_rows_count; i++) {
        const struct device *d = &device_rows[i];

        assert_int_equal(d->threads_per_sm % d->warp, 0);
        assert_true(d->smem_per_block + d->smem_reserved <= d->smem_per_sm);
        assert_true(d->threads_per_block <= d->threads_per_sm);
        assert_true(d->dram_bytes_per_ns < d->l2_bytes_per_ns);
        assert_true(d->l2_bytes_per_ns < d->smem_bytes_per_ns);
        assert_true(d->inflight_bytes > 0 && d->issue_per_ns > 0);
        assert_ptr_equal(device_find(d->name), d);
        if (i > 0)
            assert_true(strcmp(device_rows[i - 1].name, d->name) < 0);
    }
}

static void
each_arch_has_one_default(void **state)
{
    (void)state;
    for (unsigned i = 0; i < device_rows_count; i++) {
        int n = 0;

        for (unsigned k = 0; k < device_rows_count; k++)
            n += device_rows[k].arch == device_rows[i].arch &&
                 device_rows[k].arch_default;
        assert_int_equal(n, 1);
    }
    assert_string_equal(device_for_arch(80)->name, "a100");
    assert_string_equal(device_for_arch(90)->name, "h200");
    assert_string_equal(device_for_arch(100)->name, "b200");
    assert_null(device_for_arch(35));
    assert_null(device_find("abacus"));
}

static void
clusters_fill_a_part_of_the_device(void **state)
{
    (void)state;
    for (unsigned i = 0; i < device_rows_count; i++) {
        const struct device *d = &device_rows[i];
        int least = d->sms;

        for (int blocks = 2; blocks <= 16; blocks *= 2) {
            int sms = device_cluster_sms(d, blocks);

            assert_true(d->has_cluster ? sms > 0 : sms == 0);
            assert_true(sms <= least && sms % blocks == 0);
            least = sms;
        }
        assert_int_equal(device_cluster_sms(d, 1), 0);
        assert_int_equal(device_cluster_sms(d, 3), 0);
    }
    assert_int_equal(device_cluster_sms(device_find("h200"), 4), 120);
}

static void
register_caps(void **state)
{
    const struct device *d = device_find("h200");
    static const struct {
        int warps, cap;
    } rows[] = {{1, 255}, {8, 255}, {9, 168}, {12, 168}, {16, 128},
                {17, 96}, {20, 96}, {24, 80}, {32, 64}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(device_register_cap(d, rows[i].warps * 32, 1),
                         rows[i].cap);
    assert_int_equal(device_register_cap(d, 256, 2), 128);
    assert_int_equal(device_register_cap(d, 128, 8), 64);
}

static void
occupancy(void **state)
{
    const struct device *d = device_find("h200");

    (void)state;
    assert_int_equal(device_occupancy(d, 512, 128, 0), 1);
    assert_int_equal(device_occupancy(d, 512, 64, 0), 2);
    assert_int_equal(device_occupancy(d, 256, 32, 0), 8);
    assert_int_equal(device_occupancy(d, 128, 32, 100 * 1024), 2);
    assert_int_equal(device_occupancy(d, 2048, 32, 0), 0);
    assert_int_equal(device_occupancy(d, 256, 256, 0), 0);
    assert_int_equal(device_occupancy(d, 256, 32, 228 * 1024), 0);
    /* The cap is what lets that many blocks in. */
    for (int threads = 32; threads <= 1024; threads += 32)
        for (int blocks = 1; blocks * threads <= 2048 && blocks <= 32;
             blocks++) {
            int cap = device_register_cap(d, threads, blocks);

            assert_true(device_occupancy(d, threads, cap, 0) >= blocks);
        }
}

static void
overrides(void **state)
{
    struct arena *a = arena_new();
    const struct device *d = device_find("h200"), *o;
    const char *why = NULL;

    (void)state;
    o = device_override(a, d, "sms=100,dram_rate=2000.5,smem=65536", &why);
    assert_non_null(o);
    assert_int_equal(o->sms, 100);
    assert_int_equal(o->smem_per_block, 65536);
    assert_true(o->dram_bytes_per_ns == 2000.5);
    assert_string_equal(o->name, "h200");
    assert_int_equal(d->sms, 132);
    assert_null(device_override(a, d, "wheels=4", &why));
    assert_string_equal(why, "a device has no field 'wheels'; there are sms "
                             "threads blocks regs smem smem_sm l2 dram_rate "
                             "copy_fixed l2_rate smem_rate issue_rate "
                             "launch_ns finish_ns barrier_ns inflight");
    assert_null(device_override(a, d, "sms=-1", &why));
    assert_string_equal(why, "'-1' is not a value of 'sms'");
    assert_null(device_override(a, d, "sms", &why));
    assert_string_equal(why, "'sms' is not FIELD=VALUE");
    arena_free(a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_consistent),
        cmocka_unit_test(each_arch_has_one_default),
        cmocka_unit_test(clusters_fill_a_part_of_the_device),
        cmocka_unit_test(register_caps),
        cmocka_unit_test(occupancy),
        cmocka_unit_test(overrides),
    };

    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
