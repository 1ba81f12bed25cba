/* SPDX-License-Identifier: Apache-2.0 */
/* Column sums in shared memory: when they are proposed, what they cost, and
 * what refuses them. */
#include "select_fixture.h"

static const char *
backward_of(const char *type, const char *columns)
{
    return arena_printf(
        arena,
        "fusion f(dy: %s[8192, %s], x: %s[8192, %s], w: %s[%s])"
        " -> (dx: %s[8192, %s], dw: f32[%s], db: f32[%s])"
        "{ g = dy * w; dx = g - x * mean(g * x, axis=1, keepdim=true);"
        "  dw = sum(dy * x, axis=0); db = sum(dy, axis=0); }",
        type, columns, type, columns, type, columns, type, columns, columns,
        columns);
}

/* Column sums of a candidate in shared memory. */
static int
shared_sums(const struct selection *s, const struct candidate *c)
{
    const struct kernel_plan *k = c->plan.kernels;
    int n = 0;

    for (uint32_t i = 0; i < k->n_buffers; i++)
        n += facts_is_outer(s->facts, k->buffers[i].node) &&
             k->buffers[i].key[BK_STORE] == STORE_SHARED;
    return n;
}

/* Registers hold the sums of no such row, and so shared memory does; where rows
 * have clusters to go to only then. */
static void
long_rows_have_sums_in_shared_memory(void **state)
{
    static const struct {
        const char *device, *type, *columns;
        bool shared;
    } rows[] = {
        {"a100", "f32", "20480", true},   {"a100", "bf16", "40960", true},
        {"l40s", "f32", "24576", true},   {"rtx4090", "bf16", "25088", true},
        {"h200", "bf16", "16384", false}, {"h200", "f32", "131072", false},
        {"h200", "bf16", "409600", true}, {"b200", "bf16", "16384", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct device *dev = device_find(rows[i].device);
        struct selection *s =
            select_on(backward_of(rows[i].type, rows[i].columns), dev);
        int sums = 0;

        assert_int_equal(chosen(s, 0)->plan.kernels[0].scheduler,
                         SCHED_INNER_OUTER_PERSISTENT);
        for (uint32_t k = 0; k < s->slots[0].n_candidates; k++)
            sums += shared_sums(s, &s->slots[0].candidates[k]);
        assert_int_equal(sums > 0, rows[i].shared);
        assert_int_equal(s->n_notes, dev->has_cluster);
        if (rows[i].shared)
            assert_true(shared_sums(s, chosen(s, 0)) > 0);
    }
}

/* The same plan with its column sums elsewhere. */
static const char *
sums_refusal(const char *text, const char *device, enum store store, int reuse)
{
    const struct device *dev = device_find(device);
    const struct selection *s = select_on(text, dev);
    struct kernel_plan k = chosen(s, 0)->plan.kernels[0];
    struct plan_cost registers, cost;
    const char *why = plan_infeasible(arena, s->facts, &k, dev, &registers);
    struct buffer_plan *b = NEW_ARRAY(arena, struct buffer_plan, k.n_buffers);

    assert_null(why);
    for (uint32_t i = 0; i < k.n_buffers; i++) {
        b[i] = k.buffers[i];
        if (facts_is_outer(s->facts, b[i].node)) {
            b[i].key[BK_STORE] = store;
            b[i].key[BK_REUSE] = reuse;
        }
    }
    k.buffers = b;
    why = plan_infeasible(arena, s->facts, &k, dev, &cost);
    if (!why && store == STORE_SHARED) {
        assert_true(cost.regs < registers.regs);
        assert_true(cost.smem >= registers.smem + 4 * 8192);
        assert_true(cost.smem_bytes > registers.smem_bytes);
        assert_true(cost.dram_bytes == registers.dram_bytes);
    }
    return why;
}

static void
sums_are_refused_with_their_limit(void **state)
{
    const char *text = backward_of("bf16", "8192");
    const char *logic = "fusion f(x: f32[512, 4096])"
                        " -> (y: f32[512, 4096], a: bool[4096])"
                        "{ y = x - mean(x, axis=1, keepdim=true);"
                        "  a = any(x > 1, axis=0); }";
    const char *plain = "fusion f(x: f32[512, 4096]) -> (s: f32[4096])"
                        "{ s = sum(x, axis=0); }";

    (void)state;
    assert_null(sums_refusal(text, "h200", STORE_SHARED, 2));
    assert_null(sums_refusal(text, "a100", STORE_SHARED, 2));
    assert_non_null(strstr(
        sums_refusal(backward_of("bf16", "14336"), "l40s", STORE_SHARED, 2),
        "bytes of shared memory, 101376 allowed"));
    assert_non_null(strstr(sums_refusal(text, "a100", STORE_SHARED, 1),
                           "waits over the rows"));
    assert_non_null(strstr(sums_refusal(text, "a100", STORE_REGISTER_PACKED, 2),
                           "a column sum waits in register_f32 or in shared"));
    assert_non_null(strstr(sums_refusal(logic, "a100", STORE_SHARED, 2),
                           "less than 4 bytes"));
    assert_non_null(strstr(sums_refusal(plain, "a100", STORE_SHARED, 2),
                           "only beside reductions of the row"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_rows_have_sums_in_shared_memory),
        cmocka_unit_test(sums_are_refused_with_their_limit),
    };

    return cmocka_run_group_tests_name("sums", tests, setup, teardown);
}
