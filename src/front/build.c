/* SPDX-License-Identifier: Apache-2.0 */
/* build: the ground floor: reports, values, single nodes.
 *
 * Whether an extent 1 stretches is no property of the graph: it says how the
 * extent was written. So it is kept beside the nodes, one bit a dimension, as
 * long as the graph is being built. */
#include "support/base.h"

#include "front/build.h"

#include "support/arena.h"
#include "support/buf.h"

#include <math.h>

/* --- reports ------------------------------------------------------------- */

bool
build_fresh(struct build *b, enum diag_id id, struct span where)
{
    char *key;

    if (!where.src || !b->reported)
        return true;
    key = arena_printf(b->arena, "%d %p %u %u", (int)id,
                       (const void *)where.src, where.begin, where.end);
    if (names_get(b->reported, key))
        return false;
    names_put(b->reported, key, key);
    return true;
}

void
build_trace(struct build *b)
{
    enum { MAX_NOTES = 6 };
    int n = 0;

    for (const struct call_site *c = b->calls; c; c = c->outer) {
        if (++n > MAX_NOTES)
            return;
        diag_note(b->diag, c->span, "in this call of '%s'", c->name);
    }
}

const char *
build_subject(struct build *b, const struct value *v)
{
    return v->name ? arena_printf(b->arena, "'%s'", v->name)
                   : "this expression";
}

const char *
build_sym_text(struct build *b, const struct sym *s)
{
    struct buf text;

    buf_init(&text, b->arena);
    if (!s)
        return "?";
    sym_print_fusion(&text, s);
    return buf_str(&text);
}

const char *
build_shape_text(struct build *b, const struct shape *s)
{
    struct buf text;

    buf_init(&text, b->arena);
    buf_putc(&text, '[');
    for (int d = 0; d < s->rank; d++)
        buf_printf(&text, "%s%s", d ? ", " : "", build_sym_text(b, s->dims[d]));
    buf_putc(&text, ']');
    return buf_str(&text);
}

/* True when a guard before says as much: both are differences that must not be
 * negative. Looks back over a bounded number. */
static bool
is_implied(struct build *b, const struct sym *d)
{
    enum { LOOK_BACK = 64 };
    uint32_t first = b->n_known > LOOK_BACK ? b->n_known - LOOK_BACK : 0;
    int64_t k;

    for (uint32_t i = b->n_known; i > first; i--) {
        const struct sym *more = sym_sub(b->syms, d, b->known[i - 1]);

        if (more && sym_lower_bound(b->syms, more, &k) && k >= 0)
            return true;
    }
    return false;
}

static void
remember_guard(struct build *b, const struct sym *d)
{
    if (b->n_known == b->cap_known) {
        uint32_t cap = b->cap_known ? 2 * b->cap_known : 16;

        b->known =
            arena_grow(b->arena, b->known, b->n_known, cap, sizeof(*b->known));
        b->cap_known = cap;
    }
    b->known[b->n_known++] = d;
}

void
build_guard(struct build *b, const struct sym *l, const char *op,
            const struct sym *r)
{
    const struct sym *d = sym_sub(b->syms, r, l);
    struct buf text;

    assert(l && r && op[0] == '<');
    if (op[1] == '\0') /* l < r */
        d = sym_sub(b->syms, d, sym_int(b->syms, 1));
    if (d && is_implied(b, d))
        return;
    if (d)
        remember_guard(b, d);
    buf_init(&text, b->arena);
    sym_print(&text, l);
    buf_printf(&text, " %s ", op);
    sym_print(&text, r);
    graph_add_derived_guard(b->graph, buf_str(&text));
}

/* --- values -------------------------------------------------------------- */

struct value
build_poison(struct span where)
{
    return (struct value){.kind = V_POISON, .span = where};
}

struct value
build_int(struct build *b, int64_t v, struct span where)
{
    return (struct value){
        .kind = V_INT, .span = where, .sym = sym_int(b->syms, v)};
}

/* The text of a place, shortened, for messages about a whole expression. */
static const char *
excerpt(struct build *b, struct span where)
{
    enum { MAX_TEXT = 40 };
    uint32_t n;

    if (!where.src || where.end <= where.begin)
        return "";
    n = where.end - where.begin;
    if (n <= MAX_TEXT)
        return arena_strndup(b->arena, where.src->text + where.begin, n);
    return arena_printf(b->arena, "%.*s...", MAX_TEXT,
                        where.src->text + where.begin);
}

struct value
build_sym(struct build *b, const struct sym *s, bool sized, struct span where)
{
    if (!s) {
        BUILD_ERROR(b, DIAG_CONSTANT_OVERFLOW, where, excerpt(b, where));
        return build_poison(where);
    }
    return (struct value){
        .kind = V_INT, .span = where, .sym = s, .sized = sized};
}

struct value
build_float(double f, struct span where)
{
    return (struct value){.kind = V_FLOAT, .span = where, .f = f};
}

struct value
build_bool(bool v, struct span where)
{
    return (struct value){.kind = V_BOOL, .span = where, .b = v};
}

struct value
build_value(node_id id, struct span where)
{
    return (struct value){.kind = V_NODE, .span = where, .node = id};
}

enum dtype
build_type(struct build *b, const struct value *v)
{
    switch (v->kind) {
    case V_NODE: {
        enum dtype t = graph_node(b->graph, v->node)->dtype;

        return v->uniform && t == DT_F64 ? DT_F32 : t;
    }
    case V_INT:
        return DT_I64;
    case V_FLOAT:
        return DT_F32;
    case V_BOOL:
        return DT_BOOL;
    case V_POISON:
    case V_LIST:
    case V_TYPE:
        break;
    }
    BUG("value of kind %d has no type", (int)v->kind);
}

bool
build_is_operand(struct build *b, const struct value *v)
{
    if (v->kind == V_POISON)
        return false;
    if (v->kind == V_LIST || v->kind == V_TYPE) {
        const char *what =
            v->kind == V_LIST
                ? "a list"
                : arena_printf(b->arena, "type '%s'", dtype_info[v->type].name);

        if (build_fresh(b, DIAG_NOT_A_VALUE, v->span)) {
            diag_report(b->diag, DIAG_NOT_A_VALUE, v->span, what);
            if (v->kind == V_TYPE)
                diag_help(b->diag, v->span, "a cast is written %s(e)",
                          dtype_info[v->type].name);
            build_trace(b);
        }
        return false;
    }
    return true;
}

struct shape
build_shape(struct build *b, const struct value *v)
{
    struct shape s = {0};

    if (v->kind != V_NODE)
        return s;
    s.rank = graph_node(b->graph, v->node)->rank;
    s.stretch = b->stretch[v->node];
    for (int d = 0; d < s.rank; d++)
        s.dims[d] = graph_node(b->graph, v->node)->dims[d];
    return s;
}

/* --- single nodes -------------------------------------------------------- */

int64_t
build_least_extent(struct build *b, const struct sym *extent)
{
    int64_t v;

    if (!sym_is_int(extent, &v) && !sym_lower_bound(b->syms, extent, &v))
        v = 1;
    return MAX(v, 1);
}

/* False when the extents are provably more than 2^63 bytes together. The
 * elements of an operation are no more than those of its operands. */
static bool
size_fits(struct build *b, const struct node *n)
{
    enum op_class class = op_info[n->op].class;
    int64_t bytes = dtype_info[n->dtype].bytes, v;

    for (int d = 0; d < n->rank; d++) {
        if (!n->dims[d])
            return false;
        if ((class == OC_POINTWISE || class == OC_REDUCE) &&
            !sym_is_int(n->dims[d], &v))
            continue;
        v = build_least_extent(b, n->dims[d]);
        if (__builtin_mul_overflow(bytes, v, &bytes))
            return false;
    }
    return true;
}

static void
remember_stretch(struct build *b, node_id id, uint8_t stretch)
{
    if (id >= b->cap_stretch) {
        uint32_t cap = b->cap_stretch ? 2 * b->cap_stretch : 64;

        b->stretch = arena_grow(b->arena, b->stretch, b->cap_stretch, cap, 1);
        b->cap_stretch = cap;
    }
    assert(id < b->cap_stretch);
    b->stretch[id] = stretch;
}

struct value
build_emit(struct build *b, const struct node *n, uint8_t stretch,
           struct span where)
{
    struct node copy = *n;
    node_id id;

    assert(n->rank >= 0 && n->rank <= MAX_RANK);
    if (!size_fits(b, n)) {
        struct shape s = {.rank = n->rank};

        memcpy(s.dims, n->dims, sizeof(s.dims));
        BUILD_ERROR(b, DIAG_SIZE_OVERFLOW, where, build_shape_text(b, &s));
        return build_poison(where);
    }
    copy.span = where;
    id = graph_add(b->graph, &copy);
    remember_stretch(b, id, stretch);
    return build_value(id, where);
}

struct value
build_const(struct build *b, enum dtype t, double f, int64_t i,
            struct span where)
{
    struct node n = {.op = OP_CONST, .dtype = t};

    assert(!dtype_is_storage(t));
    if (dtype_is_float(t))
        n.value.f = f;
    else
        n.value.i = i;
    return build_emit(b, &n, 0, where);
}

struct value
build_dim(struct build *b, const struct sym *s, enum dtype t, struct span where)
{
    struct node n = {.op = OP_DIM, .dtype = DT_I64, .extent = s};
    struct value v;
    int64_t k;

    if (sym_is_int(s, &k)) {
        double f = t == DT_F32 ? (double)(float)k : (double)k;

        return build_const(b, t, f, k, where);
    }
    v = build_emit(b, &n, 0, where);
    return build_cast(b, &v, t, where);
}

/* A cast that is only made where it changes the type. */
struct value
build_cast(struct build *b, const struct value *v, enum dtype t,
           struct span where)
{
    const struct node *from = graph_node(b->graph, v->node);
    struct node n = {.op = OP_CAST, .dtype = t, .rank = from->rank};

    assert(v->kind == V_NODE);
    if (from->dtype == t)
        return *v;
    memcpy(n.dims, from->dims, sizeof(n.dims));
    n.n_args = 1;
    n.args = &v->node;
    return build_emit(b, &n, b->stretch[v->node], where);
}

struct value
build_materialize(struct build *b, const struct value *v)
{
    struct value r;

    switch (v->kind) {
    case V_NODE:
        return *v;
    case V_INT:
        r = build_dim(b, v->sym, DT_I64, v->span);
        break;
    case V_FLOAT:
        r = build_const(b, DT_F64, v->f, 0, v->span);
        break;
    case V_BOOL:
        r = build_const(b, DT_BOOL, 0, v->b, v->span);
        break;
    default:
        BUG("value of kind %d is no operand", (int)v->kind);
    }
    r.uniform = true;
    return r;
}

static bool
integer_fits(int64_t v, enum dtype t)
{
    unsigned bits = 8 * dtype_info[t].bytes;

    if (t == DT_U8)
        return v >= 0 && v <= 255;
    if (t == DT_BOOL)
        return v == 0 || v == 1;
    return bits >= 64 ||
           (v >= -(INT64_C(1) << (bits - 1)) && v < (INT64_C(1) << (bits - 1)));
}

static struct value
bad_literal(struct build *b, const struct value *v, enum dtype t)
{
    if (build_fresh(b, DIAG_LITERAL_RANGE, v->span)) {
        diag_report(b->diag, DIAG_LITERAL_RANGE, v->span, excerpt(b, v->span),
                    dtype_info[t].name);
        if (v->kind == V_INT)
            diag_help(b->diag, v->span,
                      "a literal takes the type of the value beside it; cast "
                      "that value to a wider type, as in i64(x)");
        else
            diag_help(b->diag, v->span,
                      "cast the value beside it to f64, as in f64(x)");
        build_trace(b);
    }
    return build_poison(v->span);
}

static struct value
integer_as(struct build *b, const struct value *v, enum dtype t)
{
    int64_t k;

    if (dtype_is_storage(t))
        t = DT_F32;
    if (dtype_is_float(t) || t == DT_I64)
        return build_dim(b, v->sym, t, v->span);
    if (sym_is_int(v->sym, &k)) {
        if (integer_fits(k, t))
            return build_const(b, t, 0, k, v->span);
        if (!v->sized)
            return bad_literal(b, v, t);
    }
    return build_dim(b, v->sym, t, v->span);
}

static struct value
float_as(struct build *b, const struct value *v, enum dtype t)
{
    double f = v->f;

    if (dtype_is_storage(t))
        t = DT_F32;
    assert(t == DT_F32 || t == DT_F64);
    if (t == DT_F32) {
        f = (double)(float)f;
        if (isinf(f) && !isinf(v->f))
            return bad_literal(b, v, t);
    }
    return build_const(b, t, f, 0, v->span);
}

struct value
build_as(struct build *b, const struct value *v, enum dtype t)
{
    struct value r;

    switch (v->kind) {
    case V_NODE:
        if (t == DT_F32 &&
            dtype_is_storage(graph_node(b->graph, v->node)->dtype))
            r = *v;
        else
            r = build_cast(b, v, t, v->span);
        break;
    case V_INT:
        r = integer_as(b, v, t);
        break;
    case V_FLOAT:
        r = float_as(b, v, t);
        break;
    case V_BOOL:
        r = build_const(b, dtype_is_storage(t) ? DT_F32 : t, v->b, v->b,
                        v->span);
        break;
    default:
        BUG("value of kind %d is no operand", (int)v->kind);
    }
    r.span = v->span;
    r.name = v->name;
    r.declared = v->declared;
    r.uniform = false;
    return r;
}
