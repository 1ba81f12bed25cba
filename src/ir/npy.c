/* SPDX-License-Identifier: Apache-2.0 */
/* The header is a Python dictionary literal. We accept its three keys in any
 * order, each once, with the spelling that NumPy writes and any blanks; a value
 * of another form is refused, never guessed. */
#include "support/base.h"

#include "ir/npy.h"

#include "support/buf.h"

enum { HEADER_LIMIT = 65536 };

struct scan {
    const char *p, *end;
    const char *why;
};

static bool
refuse(struct scan *s, const char *why)
{
    if (!s->why)
        s->why = why;
    return false;
}

static void
skip_blanks(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n'))
        s->p++;
}

static bool
accept(struct scan *s, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(s);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool
read_extent(struct scan *s, int64_t *ret)
{
    int64_t v = 0;

    skip_blanks(s);
    if (s->p == s->end || *s->p < '0' || *s->p > '9')
        return refuse(s, "the shape is not a tuple of extents");
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, *s->p++ - '0', &v))
            return refuse(s, "an extent is too large");
    *ret = v;
    return true;
}

static bool
read_shape(struct scan *s, struct npy *ret)
{
    if (!accept(s, "("))
        return refuse(s, "the shape is not a tuple of extents");
    while (!accept(s, ")")) {
        if (ret->rank == MAX_RANK)
            return refuse(s, "more than 8 dimensions");
        if (!read_extent(s, &ret->shape[ret->rank++]))
            return false;
        if (accept(s, ","))
            continue;
        if (ret->rank == 1)
            return refuse(s, "the shape is not a tuple of extents");
        if (!accept(s, ")"))
            return refuse(s, "the shape is not a tuple of extents");
        break;
    }
    return true;
}

static bool
read_descr(struct scan *s, struct npy *ret)
{
    char order;

    skip_blanks(s);
    if (s->end - s->p < 5 || (s->p[0] != '\'' && s->p[0] != '"') ||
        s->p[4] != s->p[0])
        return refuse(s, "the type is not a plain one");
    order = s->p[1];
    ret->kind = s->p[2];
    if (s->p[3] < '1' || s->p[3] > '8' || !strchr("biuf", ret->kind) ||
        ret->kind == '\0')
        return refuse(s, "the type is not a plain one");
    ret->bytes = (unsigned)(s->p[3] - '0');
    s->p += 5;
    if (ret->bytes & (ret->bytes - 1))
        return refuse(s, "the type is not a plain one");
    if ((ret->kind == 'b' && ret->bytes != 1) ||
        (ret->kind == 'f' && ret->bytes == 1))
        return refuse(s, "the type is not a plain one");
    if (order != '<' && !(order == '|' && ret->bytes == 1))
        return refuse(s, "the array is not little-endian");
    return true;
}

static bool
read_entry(struct scan *s, struct npy *ret, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned k;

    for (k = 0; k < 3; k++) {
        struct scan at = *s;
        if ((accept(s, "'") && accept(s, keys[k]) && accept(s, "'")) ||
            (*s = at, accept(s, "\"") && accept(s, keys[k]) && accept(s, "\"")))
            break;
        *s = at;
    }
    if (k == 3 || !accept(s, ":") || (*seen & 1u << k))
        return refuse(s, "the header is not the dictionary NumPy writes");
    *seen |= 1u << k;
    if (k == 0)
        return read_descr(s, ret);
    if (k == 2)
        return read_shape(s, ret);
    if (accept(s, "True"))
        return refuse(s, "the array is in Fortran order; save "
                         "numpy.ascontiguousarray of it");
    return accept(s, "False") || refuse(s, "fortran_order is not a bool");
}

static bool
read_dict(struct scan *s, struct npy *ret)
{
    unsigned seen = 0;

    if (!accept(s, "{"))
        return refuse(s, "the header is not the dictionary NumPy writes");
    while (!accept(s, "}")) {
        if (!read_entry(s, ret, &seen))
            return false;
        if (!accept(s, ",")) {
            if (!accept(s, "}"))
                return refuse(s,
                              "the header is not the dictionary NumPy writes");
            break;
        }
    }
    skip_blanks(s);
    if (seen != 7 || s->p != s->end)
        return refuse(s, "the header is not the dictionary NumPy writes");
    return true;
}

static bool
check_size(struct scan *s, const struct npy *n, size_t have)
{
    uint64_t bytes = n->bytes;
    bool empty = false;

    for (int d = 0; d < n->rank; d++) {
        empty |= n->shape[d] == 0;
        if (__builtin_mul_overflow(bytes, (uint64_t)MAX(n->shape[d], 1),
                                   &bytes))
            return refuse(s, "the shape is too large");
    }
    if (bytes > INT64_MAX)
        return refuse(s, "the shape is too large");
    if (empty)
        bytes = 0;
    if (bytes > have)
        return refuse(s, "the file is shorter than its shape");
    if (bytes < have)
        return refuse(s, "the file is longer than its shape");
    return true;
}

bool
npy_parse(const void *file, size_t len, struct npy *ret, const char **ret_why)
{
    const unsigned char *b = file;
    struct scan s = {0};
    struct npy n = {0};
    size_t at, header;

    *ret_why = "not a .npy file";
    if (len < 12 || memcmp(b, "\x93NUMPY", 6) != 0 || b[6] < 1 || b[6] > 3)
        return false;
    at = b[6] == 1 ? 10 : 12;
    header = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1)
        header |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    *ret_why = "the header is cut short or too long";
    if (header > HEADER_LIMIT || header > len - at)
        return false;
    s.p = (const char *)file + at;
    s.end = s.p + header;
    n.data = b + at + header;
    if (!read_dict(&s, &n) || !check_size(&s, &n, len - at - header)) {
        *ret_why = s.why;
        return false;
    }
    *ret = n;
    return true;
}

/* The type of ours whose memory the file's elements are, when they come as the
 * parameter's own bits or as a number type of ours. */
static bool
element_type(const struct npy *n, enum dtype want, enum dtype *ret)
{
    static const struct {
        char kind;
        unsigned bytes;
        enum dtype dtype;
    } types[] = {
        {'b', 1, DT_BOOL}, {'i', 1, DT_I8},  {'i', 2, DT_I16},
        {'i', 4, DT_I32},  {'i', 8, DT_I64}, {'u', 1, DT_U8},
        {'f', 2, DT_F16},  {'f', 4, DT_F32}, {'f', 8, DT_F64},
    };

    if (n->kind == 'u' && n->bytes == dtype_info[want].bytes &&
        dtype_is_storage(want) && want != DT_F16) {
        *ret = want;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].kind == n->kind && types[i].bytes == n->bytes) {
            *ret = types[i].dtype;
            return *ret == want ||
                   (dtype_is_float(*ret) && dtype_is_float(want));
        }
    return false;
}

bool
npy_store(const struct npy *n, const struct tensor *dst, const char **ret_why)
{
    enum dtype from;
    int64_t count;

    *ret_why = "the file's type is not the parameter's";
    if (!element_type(n, dst->dtype, &from))
        return false;
    *ret_why = "the file's shape is not the parameter's";
    if (n->rank != dst->rank)
        return false;
    for (int d = 0; d < n->rank; d++)
        if (n->shape[d] != dst->shape[d])
            return false;
    count = tensor_count(dst);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = tensor_offset(dst, i);
        if (from == dst->dtype)
            memcpy((char *)dst->data + at * dtype_info[from].bytes,
                   (const char *)n->data + i * dtype_info[from].bytes,
                   dtype_info[from].bytes);
        else
            num_store(dst->dtype, dst->data, at, num_load(from, n->data, i));
    }
    return true;
}

static void
write_header(struct buf *b, const struct tensor *src, enum dtype as)
{
    size_t start = b->len, total;
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0};

    buf_write(b, (const char *)head, sizeof(head));
    buf_printf(b, "{'descr': '%s', 'fortran_order': False, 'shape': (",
               dtype_info[as].np);
    for (int d = 0; d < src->rank; d++)
        buf_printf(b, d == 0 ? "%" PRId64 "," : " %" PRId64 ",", src->shape[d]);
    if (src->rank > 1)
        b->data[--b->len] = '\0'; /* only a 1-tuple ends in a comma */
    buf_puts(b, "), }");
    while ((b->len - start + 1) % 64 != 0)
        buf_putc(b, ' ');
    buf_putc(b, '\n');
    total = b->len - start - sizeof(head);
    b->data[start + 8] = (char)(total & 0xff);
    b->data[start + 9] = (char)(total >> 8);
}

void
npy_write(struct buf *b, const struct tensor *src)
{
    enum dtype as = dtype_info[src->dtype].np[0] ? src->dtype : DT_F32;
    int64_t count = tensor_count(src);
    char cell[8];

    write_header(b, src, as);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = tensor_offset(src, i);
        if (as == src->dtype)
            memcpy(cell, (const char *)src->data + at * dtype_info[as].bytes,
                   dtype_info[as].bytes);
        else
            num_store(as, cell, 0, num_load(src->dtype, src->data, at));
        buf_write(b, cell, dtype_info[as].bytes);
    }
}
