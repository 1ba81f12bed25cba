/* SPDX-License-Identifier: Apache-2.0 */
/* op_table: the compiler's tables as JSON, for the generator of programs.
 *
 * One line a row: the element types, then everything a program can call or
 * write as an operator. Pointwise rows say what the reference gives on samples
 * of a few ranges of operands, so that a program can stay where an operation
 * is defined, whatever operations there are. */
#include "support/base.h"

#include "front/resolve.h"
#include "ir/op_ref.h"
#include "support/arena.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES = 64 };

/* Ranges that operands are drawn from. */
static const struct {
    const char *name;
    double lo, hi;
} forms[] = {
    {"any", -4, 4},
    {"unit", -0.9, 0.9},
    {"positive", 0.25, 4},
    {"above_one", 1.25, 4},
};

static const char *const class_name[] = {
    [OC_LEAF] = "leaf", [OC_POINTWISE] = "pointwise", [OC_CAST] = "cast",
    [OC_VIEW] = "view", [OC_JOIN] = "join",           [OC_REDUCE] = "reduce",
    [OC_SCAN] = "scan", [OC_INDEX] = "index",         [OC_RANDOM] = "random",
};
static const char *const type_name[] = {
    [OT_NONE] = "none",   [OT_ARITH] = "arith",     [OT_FLOAT] = "float",
    [OT_ROUND] = "round", [OT_BOOL] = "bool",       [OT_LOGIC] = "logic",
    [OT_BITS] = "bits",   [OT_SHIFT] = "shift",     [OT_SELECT] = "select",
    [OT_KEEP] = "keep",   [OT_EXTREME] = "extreme", [OT_SUM] = "sum",
    [OT_INDEX] = "index",
};
static const char *const dtype_class[] = {
    [DC_BOOL] = "bool",       [DC_SIGNED] = "int",  [DC_UNSIGNED] = "int",
    [DC_STORAGE] = "storage", [DC_FLOAT] = "float",
};

static double
sample(unsigned form, unsigned i, unsigned step)
{
    double at = (double)(i * step % SAMPLES) + 0.37;

    return forms[form].lo + (forms[form].hi - forms[form].lo) * at / SAMPLES;
}

/* What the operation gives with the first operand in one range and the others
 * in another: the part that is finite, and between which ends. */
static void
print_probe(enum op op, unsigned first, unsigned rest, const char *comma)
{
    static const unsigned step[3] = {1, 37, 11};
    double lo = INFINITY, hi = -INFINITY;
    unsigned finite = 0;

    for (unsigned i = 0; i < SAMPLES; i++) {
        double x[3], y;

        for (unsigned k = 0; k < 3; k++)
            x[k] = sample(k ? rest : first, i, step[k]);
        y = op_ref_double[op](x);
        if (!isfinite(y))
            continue;
        finite++;
        lo = fmin(lo, y);
        hi = fmax(hi, y);
    }
    printf("%s[\"%s\", \"%s\", %.3f, %.4g, %.4g]", comma, forms[first].name,
           forms[rest].name, (double)finite / SAMPLES, finite ? lo : 0,
           finite ? hi : 0);
}

static void
print_probes(enum op op)
{
    const char *comma = "";

    printf(", \"probes\": [");
    for (unsigned i = 0; i < ARRAY_LEN(forms); i++)
        for (unsigned k = 0; k < ARRAY_LEN(forms); k++)
            if (op_info[op].arity > 1 || k == 0) {
                print_probe(op, i, k, comma);
                comma = ", ";
            }
    printf("]");
}

/* By operand: is the result finite where this one is 0? */
static void
print_at_zero(enum op op)
{
    printf(", \"at_zero\": [");
    for (int k = 0; k < op_info[op].arity; k++) {
        double x[3] = {1.5, 1.25, 1.75};

        x[k] = 0;
        printf("%s%s", k ? ", " : "",
               isfinite(op_ref_double[op](x)) ? "true" : "false");
    }
    printf("]");
}

/* Does a function of two values jump where both are equal, as a remainder
 * does? Rounding alone would then decide what is right. */
static bool
jumps(enum op op)
{
    double above[3] = {2.75, 2.75 - 0x1p-30, 0}, below[3] = {2.75, 2.75, 0};

    below[1] += 0x1p-30;
    return op_info[op].arity == 2 && op_info[op].type != OT_BOOL &&
           fabs(op_ref_double[op](above) - op_ref_double[op](below)) > 0x1p-10;
}

static void
print_row(const char *name, enum op op, const char *formals, bool operator)
{
    const struct op_info *info = &op_info[op];

    printf("{\"name\": \"%s\", \"op\": %d, \"class\": \"%s\", \"type\": "
           "\"%s\", \"arity\": %d, \"formals\": \"%s\", \"operator\": %s, "
           "\"kernel\": %s, \"floats\": %s, \"ints\": %s, \"local_memory\": %s",
           name, (int)op, class_name[info->class], type_name[info->type],
           info->arity, formals, operator? "true" : "false",
           info->flags & OPF_NO_KERNEL ? "false" : "true",
           info->spell_float ? "true" : "false",
           op_ref_int[op] || info->type == OT_SELECT ? "true" : "false",
           info->flags & OPF_LOCAL_MEMORY ? "true" : "false");
    if (info->class == OC_POINTWISE && info->spell_float) {
        print_probes(op);
        print_at_zero(op);
        printf(", \"jumps\": %s", jumps(op) ? "true" : "false");
    }
    printf("}");
}

static void
print_dtypes(void)
{
    printf("\"dtypes\": [\n");
    for (int t = 0; t < DT_COUNT; t++)
        printf("{\"name\": \"%s\", \"class\": \"%s\", \"bytes\": %d, "
               "\"signed\": %s, \"kernel\": %s}%s\n",
               dtype_info[t].name, dtype_class[dtype_info[t].class],
               (int)dtype_info[t].bytes,
               dtype_info[t].class == DC_UNSIGNED ? "false" : "true",
               check_has_kernels((enum dtype)t) ? "true" : "false",
               t + 1 < DT_COUNT ? "," : "");
    printf("],\n");
}

int
main(void)
{
    const struct signature *s;
    const char *comma = "";

    printf("{\n");
    print_dtypes();
    printf("\"ops\": [\n");
    for (int op = 0; op < OP_COUNT; op++)
        if (op_info[op].flags & OPF_OPERATOR) {
            printf("%s", comma);
            print_row(op_info[op].name, (enum op)op,
                      op_info[op].arity == 1 ? "x" : "x y", true);
            comma = ",\n";
        }
    for (uint32_t i = 0; (s = resolve_operation_at(i)) != NULL; i++) {
        printf("%s", comma);
        print_row(s->name, s->op, s->formals, false);
        comma = ",\n";
    }
    printf("\n]\n}\n");
    return EXIT_OK;
}
