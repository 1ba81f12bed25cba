/* SPDX-License-Identifier: Apache-2.0 */
/* eval_impl: what the files of the interpreter share.
 *
 * A tile is up to TILE elements of one node at given coordinates. Coordinates
 * are per dimension an affine function of the element's number or an explicit
 * array, so that views of computed values are changes of coordinates and
 * pointwise operands share those of their node. Within a tile a node is
 * evaluated once for each distinct set of coordinates. */
#ifndef FUSEC_IR_EVAL_IMPL_H
#define FUSEC_IR_EVAL_IMPL_H

#include <math.h>
#include <stdatomic.h>

#include "ir/eval.h"
#include "support/vec.h"

enum { TILE = 1024 };

struct axis {
    int64_t base, step;
    const int64_t *idx; /* when set, base and step mean nothing */
};

struct coords {
    int rank, n;
    struct axis ax[MAX_RANK];
};

/* n values, or one that stands for all when step is 0. */
struct tile {
    enum rep rep;
    int step;
    union {
        double *f;
        long double *l;
        int64_t *i;
    };
    double *err; /* NULL: all zero */
};

struct array { /* a materialised node, row-major */
    enum rep rep;
    union {
        double *f;
        long double *l;
        int64_t *i;
    };
    double *err;
};

struct eval {
    struct arena *arena;
    const struct graph *g;
    unsigned threads;
    struct tensor *tensors;     /* by parameter */
    const void **scalars;       /* by parameter */
    int64_t *dim_values;        /* by dimension symbol */
    int64_t (*shape)[MAX_RANK]; /* by node */
    struct array **arrays;      /* by node, NULL unless materialised */
    bool *needed;               /* by node */
};

struct memo {
    const struct coords *at;
    const struct tile *tile;
    struct memo *next;
};

/* One thread's state; everything in it is forgotten after each tile. */
struct worker {
    const struct eval *e;
    struct arena *arena;
    VEC(void *) slabs; /* TILE * sizeof(long double) bytes each */
    uint32_t slabs_used;
    VEC(void *) cells; /* small objects, CELL bytes each */
    uint32_t cells_used;
    struct memo **memo; /* by node */
    VEC(uint32_t) touched;
    VEC(const struct coords *) known;
};

void worker_init(struct worker *w, const struct eval *e);
void worker_done(struct worker *w);
void worker_reset(struct worker *w); /* before each tile */
void *worker_slab(struct worker *w);
struct tile *worker_tile(struct worker *w, enum rep rep, int step, bool err);
struct coords *worker_coords(struct worker *w);

/* eval_coords.c */
static inline int64_t
axis_at(const struct axis *a, int k)
{
    return a->idx ? a->idx[k] : a->base + a->step * k;
}
/* The same coordinates, unique within the tile; n becomes 1 when no axis
 * moves. */
const struct coords *coords_intern(struct worker *w, const struct coords *c);
/* Elements [first, first + n) of the row-major order over the dimensions in
 * `over` (the others stay as in c). */
void coords_range(struct worker *w, struct coords *c, const int64_t *shape,
                  const bool *over, int64_t first, int n);
/* How many elements from `first` on make one tile (at most TILE): whole rows,
 * or a part of one. */
int coords_chunk(const int64_t *shape, int rank, const bool *over,
                 int64_t first, int64_t end);
/* The operand's coordinates for a view node at c. */
const struct coords *coords_view(struct worker *w, node_id id,
                                 const struct coords *c);
/* Offsets into memory with these strides: true and affine, or false and all in
 * ret_idx (a slab). */
bool coords_offsets(struct worker *w, const struct coords *c,
                    const int64_t *strides, struct axis *ret);
bool eval_sym(const struct eval *e, const struct sym *s, int64_t *ret);

/* eval_tile.c */
const struct tile *tile_eval(struct worker *w, node_id id,
                             const struct coords *c);

/* eval_op.c */
struct tile *tile_convert(struct worker *w, const struct tile *t,
                          enum dtype from, enum dtype to, int n);
struct tile *tile_pointwise(struct worker *w, const struct node *n,
                            const struct tile *const *args, int count);
/* The bound after an overflow of type t is looked at: x may become infinite. */
void bound_finish(enum dtype t, double *x, double *err);
void bound_finish_long(long double *x, double *err);
double unit_roundoff(enum dtype t); /* of the type that t is computed in */

/* eval_reduce.c: up to EVAL_GROUP reductions in one pass, none of which waits
 * for another of them. */
enum { EVAL_GROUP = 8 };
bool eval_reduce_together(const struct eval *e, node_id a, node_id b);
void eval_reduce(struct eval *e, const node_id *ids, uint32_t n);

/* eval.c: runs fn(data, unit) for every unit below n, in threads. */
struct job {
    const struct eval *e;
    void (*fn)(struct worker *w, void *data, int64_t unit);
    void *data;
    int64_t n;
    atomic_llong next;
};
void eval_parallel(const struct eval *e, int64_t n,
                   void (*fn)(struct worker *w, void *data, int64_t unit),
                   void *data);

#endif
