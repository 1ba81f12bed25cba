/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent, one function a level of precedence; the text is at most
 * 1 KiB and 64 levels deep, so that neither the parser nor the machine can run
 * out of stack on a hostile manifest. */
#include "support/base.h"

#include "support/expr.h"

#include <stdlib.h>

enum code {
    C_INT,
    C_VAR,
    C_NEG,
    C_NOT,
    C_BOOL,
    C_AND, /* jump with 0 on the stack when the top is 0, else drop it */
    C_OR,  /* jump with 1 when it is not 0, else drop it */
    C_ADD,
    C_SUB,
    C_MUL,
    C_DIV,
    C_MOD,
    C_MIN,
    C_MAX,
    C_CEIL_DIV,
    C_EQ,
    C_NE,
    C_LT,
    C_LE,
    C_GT,
    C_GE,
};

/* Every step pushes at most one value and a step takes at least one byte of
 * text, so the stack is bounded by the text; nesting bounds it better. */
enum { STACK = 8 * EXPR_MAX_DEPTH, NAME_MAX_BYTES = 255 };

struct parser {
    const char *p;
    const char *why;
    int depth;
    int height; /* of the machine's stack */
    struct expr_step *steps;
    uint32_t n, cap;
    expr_resolve_fn *resolve;
    void *data;
};

static bool parse_or(struct parser *s);

static bool
refuse(struct parser *s, const char *why)
{
    if (!s->why)
        s->why = why;
    return false;
}

static bool
emit(struct parser *s, struct expr_step step, int grow)
{
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 8;
        struct expr_step *more = realloc(s->steps, cap * sizeof(*more));
        if (!more)
            return refuse(s, "out of memory");
        s->steps = more;
        s->cap = cap;
    }
    s->steps[s->n++] = step;
    s->height += grow;
    if (s->height > STACK)
        return refuse(s, "too complex");
    return true;
}

static bool
emit_code(struct parser *s, enum code c, int grow)
{
    return emit(s, (struct expr_step){.code = (uint8_t)c}, grow);
}

static void
skip(struct parser *s)
{
    while (*s->p == ' ')
        s->p++;
}

static bool
accept(struct parser *s, const char *word)
{
    size_t n = strlen(word);

    skip(s);
    if (strncmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool
enter(struct parser *s)
{
    return ++s->depth <= EXPR_MAX_DEPTH || refuse(s, "nested too deeply");
}

static bool
is_name_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

static bool
parse_int(struct parser *s, int64_t *ret)
{
    int64_t v = 0;

    skip(s);
    if (*s->p < '0' || *s->p > '9')
        return refuse(s, "a number, a name or '(' is expected");
    while (*s->p >= '0' && *s->p <= '9')
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, *s->p++ - '0', &v))
            return refuse(s, "a number is too large");
    if (is_name_char(*s->p, true))
        return refuse(s, "a number ends in a letter");
    *ret = v;
    return true;
}

static bool
parse_name(struct parser *s, char *ret)
{
    size_t n = 0;

    skip(s);
    while (is_name_char(s->p[n], n == 0)) {
        if (n == NAME_MAX_BYTES)
            return refuse(s, "a name is too long");
        ret[n] = s->p[n];
        n++;
    }
    ret[n] = '\0';
    s->p += n;
    return n > 0 || refuse(s, "a number, a name or '(' is expected");
}

static bool
parse_call(struct parser *s, const char *name)
{
    static const struct {
        const char *name;
        enum code code;
    } functions[] = {{"min", C_MIN}, {"max", C_MAX}, {"ceil_div", C_CEIL_DIV}};

    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        if (!enter(s) || !parse_or(s))
            return false;
        if (!accept(s, ","))
            return refuse(s, "',' is expected");
        if (!parse_or(s))
            return false;
        if (!accept(s, ")"))
            return refuse(s, "')' is expected");
        s->depth--;
        return emit_code(s, functions[i].code, -1);
    }
    return refuse(s, "an unknown function");
}

/* NAME, NAME.align, NAME.shape[i], NAME.stride[i] */
static bool
parse_variable(struct parser *s, const char *name)
{
    char member[NAME_MAX_BYTES + 1];
    struct expr_step step = {.code = C_VAR};
    const char *given = NULL;
    int64_t dim = 0;

    if (accept(s, ".")) {
        if (!parse_name(s, member))
            return false;
        given = member;
        if (accept(s, "[")) {
            if (strcmp(member, "align") == 0)
                return refuse(s, "align takes no index");
            if (!parse_int(s, &dim))
                return false;
            if (!accept(s, "]"))
                return refuse(s, "']' is expected");
        } else if (strcmp(member, "align") != 0) {
            return refuse(s, "'[' is expected");
        }
    }
    if (dim > 255 ||
        !s->resolve(s->data, name, given, (uint32_t)dim, &step.var))
        return refuse(s, "an unknown name");
    return emit(s, step, 1);
}

static bool
parse_primary(struct parser *s)
{
    struct expr_step step = {.code = C_INT};
    char name[NAME_MAX_BYTES + 1];

    if (accept(s, "(")) {
        if (!enter(s) || !parse_or(s))
            return false;
        s->depth--;
        return accept(s, ")") || refuse(s, "')' is expected");
    }
    skip(s);
    if (!is_name_char(*s->p, true))
        return parse_int(s, &step.value) && emit(s, step, 1);
    if (!parse_name(s, name))
        return false;
    if (accept(s, "("))
        return parse_call(s, name);
    return parse_variable(s, name);
}

static bool
parse_unary(struct parser *s)
{
    bool ok;

    if (!accept(s, "-"))
        return parse_primary(s);
    ok = enter(s) && parse_unary(s) && emit_code(s, C_NEG, 0);
    s->depth--;
    return ok;
}

static bool
parse_product(struct parser *s)
{
    if (!parse_unary(s))
        return false;
    for (;;) {
        enum code c;
        if (accept(s, "*"))
            c = C_MUL;
        else if (accept(s, "/"))
            c = C_DIV;
        else if (accept(s, "%"))
            c = C_MOD;
        else
            return true;
        if (!parse_unary(s) || !emit_code(s, c, -1))
            return false;
    }
}

static bool
parse_sum(struct parser *s)
{
    if (!parse_product(s))
        return false;
    for (;;) {
        enum code c;
        if (accept(s, "+"))
            c = C_ADD;
        else if (accept(s, "-"))
            c = C_SUB;
        else
            return true;
        if (!parse_product(s) || !emit_code(s, c, -1))
            return false;
    }
}

static bool
parse_comparison(struct parser *s)
{
    static const struct {
        const char *sign;
        enum code code;
    } signs[] = {{"==", C_EQ}, {"!=", C_NE}, {"<=", C_LE},
                 {">=", C_GE}, {"<", C_LT},  {">", C_GT}};

    if (!parse_sum(s))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (accept(s, signs[i].sign))
            return parse_sum(s) && emit_code(s, signs[i].code, -1);
    return true;
}

static bool
parse_not(struct parser *s)
{
    bool ok;

    skip(s);
    if (s->p[0] != '!' || s->p[1] == '=')
        return parse_comparison(s);
    s->p++;
    ok = enter(s) && parse_not(s) && emit_code(s, C_NOT, 0);
    s->depth--;
    return ok;
}

/* One level of && (with each operand a parse_not) or of ||. */
static bool
parse_logic(struct parser *s, const char *sign, enum code c,
            bool (*operand)(struct parser *s))
{
    if (!operand(s))
        return false;
    while (accept(s, sign)) {
        uint32_t jump = s->n;
        if (!emit_code(s, c, -1) || !operand(s) || !emit_code(s, C_BOOL, 0))
            return false;
        s->steps[jump].to = (uint16_t)s->n;
    }
    return true;
}

static bool
parse_and(struct parser *s)
{
    return parse_logic(s, "&&", C_AND, parse_not);
}

static bool
parse_or(struct parser *s)
{
    return parse_logic(s, "||", C_OR, parse_and);
}

bool
expr_parse(const char *text, expr_resolve_fn *resolve, void *data,
           struct expr *ret, const char **ret_why)
{
    struct parser s = {.p = text, .resolve = resolve, .data = data};

    *ret_why = "longer than 1024 bytes";
    if (strlen(text) > EXPR_MAX_BYTES)
        return false;
    if (parse_or(&s)) {
        skip(&s);
        if (*s.p == '\0') {
            *ret = (struct expr){.text = text, .steps = s.steps, .n = s.n};
            return true;
        }
        refuse(&s, "an operator is expected");
    }
    free(s.steps);
    *ret_why = s.why;
    return false;
}

void
expr_free(struct expr *e)
{
    free(e->steps);
    e->steps = NULL;
}

/* --- Evaluation ----------------------------------------------------------- */

static bool
floor_div(int64_t a, int64_t b, int64_t *ret)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *ret = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

static bool
floor_mod(int64_t a, int64_t b, int64_t *ret)
{
    if (b == 0)
        return false;
    *ret = b == -1 ? 0 : a % b;
    if (*ret != 0 && (*ret < 0) != (b < 0))
        *ret += b;
    return true;
}

static bool
ceil_div(int64_t a, int64_t b, int64_t *ret)
{
    int64_t r;

    return floor_div(a, b, ret) && floor_mod(a, b, &r) &&
           (r == 0 || !__builtin_add_overflow(*ret, 1, ret));
}

static bool
apply(enum code c, int64_t a, int64_t b, int64_t *ret)
{
    switch (c) {
    case C_ADD:
        return !__builtin_add_overflow(a, b, ret);
    case C_SUB:
        return !__builtin_sub_overflow(a, b, ret);
    case C_MUL:
        return !__builtin_mul_overflow(a, b, ret);
    case C_DIV:
        return floor_div(a, b, ret);
    case C_MOD:
        return floor_mod(a, b, ret);
    case C_CEIL_DIV:
        return ceil_div(a, b, ret);
    case C_MIN:
        return *ret = MIN(a, b), true;
    case C_MAX:
        return *ret = MAX(a, b), true;
    case C_EQ:
        return *ret = a == b, true;
    case C_NE:
        return *ret = a != b, true;
    case C_LT:
        return *ret = a < b, true;
    case C_LE:
        return *ret = a <= b, true;
    case C_GT:
        return *ret = a > b, true;
    case C_GE:
        return *ret = a >= b, true;
    default:
        return false;
    }
}

/* One step that isn't a jump; *top is the number of values on the stack. */
static bool
step_eval(const struct expr_step *s, int64_t *stack, int *top,
          expr_value_fn *value, const void *data)
{
    assert(*top > 0 || s->code == C_INT || s->code == C_VAR);
    switch ((enum code)s->code) {
    case C_INT:
        stack[(*top)++] = s->value;
        return true;
    case C_VAR:
        return value(data, &s->var, &stack[(*top)++]);
    case C_NEG:
        return !__builtin_sub_overflow(0, stack[*top - 1], &stack[*top - 1]);
    case C_NOT:
        stack[*top - 1] = stack[*top - 1] == 0;
        return true;
    case C_BOOL:
        stack[*top - 1] = stack[*top - 1] != 0;
        return true;
    default:
        assert(*top > 1);
        (*top)--;
        return apply((enum code)s->code, stack[*top - 1], stack[*top],
                     &stack[*top - 1]);
    }
}

bool
expr_eval(const struct expr *e, expr_value_fn *value, const void *data,
          int64_t *ret)
{
    int64_t stack[STACK];
    int top = 0;

    for (uint32_t i = 0; i < e->n; i++) {
        const struct expr_step *s = &e->steps[i];
        if (s->code == C_AND || s->code == C_OR) {
            assert(top > 0);
            bool truth = stack[top - 1] != 0;
            if (truth == (s->code == C_OR)) {
                stack[top - 1] = truth;
                i = s->to - 1u;
            } else {
                top--;
            }
        } else if (!step_eval(s, stack, &top, value, data)) {
            return false;
        }
    }
    assert(top == 1);
    *ret = stack[0];
    return true;
}
