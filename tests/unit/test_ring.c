/* SPDX-License-Identifier: Apache-2.0 */
/* Rings: where rows and their values stand in a slot. */
#include "select_fixture.h"

#include "sched/ring.h"
#include "sched/scheduler.h"

static const char *
backward_of(const char *type, int columns)
{
    return arena_printf(
        arena,
        "fusion f(dy: %s[8192, %d], mean: f32[8192], x: %s[8192, %d],"
        " rstd: f32[8192], w: %s[%d])"
        " -> (dx: %s[8192, %d], dw: f32[%d])"
        "{ xhat = (x - unsqueeze(mean, axis=1)) * unsqueeze(rstd, axis=1);"
        "  g = dy * w; dx = g - xhat * mean(g * xhat, axis=1, keepdim=true);"
        "  dw = sum(dy * xhat, axis=0); }",
        type, columns, type, columns, type, columns, type, columns, columns);
}

/* Rows begin at lines, values stand behind them, and nothing overlaps. */
static void
check_slot(const struct facts *f, const struct kernel_plan *k)
{
    int64_t end = 0, wide_end = 0, size;
    struct ring r;
    int rows = 0, values = 0;

    ring_of(f, k, &r);
    for (node_id n = 0; n < f->g->n_nodes; n++) {
        if (!ring_carries(f, k, n))
            continue;
        size = dtype_info[graph_node(f->g, n)->dtype].bytes;
        if (node_has_column(f, n)) {
            assert_int_equal(ring_place(f, k, n) % RING_LINE, 0);
            wide_end = MAX(wide_end, ring_place(f, k, n) + size * r.columns);
            rows++;
        } else {
            assert_int_equal(ring_place(f, k, n) % RING_ALIGN, 0);
            assert_true(ring_place(f, k, n) >= end);
            end = ring_place(f, k, n) + size;
            values++;
        }
    }
    assert_int_equal(rows, 2);
    assert_int_equal(values, 2);
    assert_true(end > wide_end);
    assert_true(r.slot_bytes >= end);
    assert_int_equal(r.slot_bytes % RING_LINE, 0);
}

static void
slots_and_rows_begin_at_lines(void **state)
{
    static const int columns[] = {1000, 1024, 4104, 8192, 16384, 65536};
    int rings = 0;

    (void)state;
    for (int half = 0; half < 2; half++)
        for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
            const struct selection *s =
                select_on(backward_of(half ? "bf16" : "f32", columns[i]),
                          device_find("h200"));

            for (uint32_t c = 0; c < s->slots[0].n_candidates; c++) {
                const struct kernel_plan *k =
                    s->slots[0].candidates[c].plan.kernels;

                if (k->key[PK_STAGES] == 0)
                    continue;
                check_slot(s->facts, k);
                rings++;
            }
        }
    assert_true(rings > 100);
}

static const char *
softmax_of(const char *type, int columns)
{
    return arena_printf(arena,
                        "fusion f(x: %s[2048, %d]) -> (y: %s[2048, %d])"
                        "{ e = exp(x - max(x, axis=1, keepdim=true));"
                        "  y = e / sum(e, axis=1, keepdim=true); }",
                        type, columns, type, columns);
}

/* Persistent plans of a row kernel without column sums. */
static int
forward_rings(const struct selection *s)
{
    int n = 0;

    for (uint32_t i = 0; i < s->slots[0].n_candidates; i++) {
        const struct kernel_plan *k = s->slots[0].candidates[i].plan.kernels;

        if (!k->key[PK_PERSISTENT])
            continue;
        assert_true(k->key[PK_STAGES] > 0);
        assert_true(k->key[PK_GRID_ROWS] > 0);
        n++;
    }
    return n;
}

/* Where bulk copies fill it; rows of which several blocks fit a multiprocessor
 * need none. */
static void
long_rows_come_by_a_ring(void **state)
{
    static const struct {
        const char *device, *type;
        int columns;
        bool proposed, chosen;
    } rows[] = {
        {"h200", "f32", 65536, true, true},
        {"h200", "bf16", 65536, true, true},
        {"h200", "f32", 8192, false, false},
        {"h200", "f32", 16384, true, false},
        {"a100", "f32", 65536, false, false},
        {"b200", "bf16", 65536, true, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct selection *s =
            select_on(softmax_of(rows[i].type, rows[i].columns),
                      device_find(rows[i].device));

        assert_int_equal(forward_rings(s) > 0, rows[i].proposed);
        assert_int_equal(chosen(s, 0)->plan.kernels->key[PK_STAGES] > 0 &&
                             chosen(s, 0)->plan.kernels->key[PK_PERSISTENT],
                         rows[i].chosen);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_and_rows_begin_at_lines),
        cmocka_unit_test(long_rows_come_by_a_ring),
    };

    return cmocka_run_group_tests_name("ring", tests, setup, teardown);
}
