/* SPDX-License-Identifier: Apache-2.0 */
/* Several plans of one program: the sizes, the inputs and the reference are
 * made once; a plan that is wrong is not timed. */
#include "support/base.h"

#include "tools/run/run.h"

#include "support/arena.h"
#include "support/buf.h"

struct plan {
    struct options o; /* as given, for this manifest alone */
    struct manifest manifest;
    struct machine machine;
    bool open;
};

struct plans {
    struct arena *arena;
    const struct options *o;
    struct plan *v;
    uint32_t n, n_read;
    struct session **checked, **timed; /* by plan */
    struct machine **machines;
    bool *wrong;
};

static int
read_all(struct plans *p, struct buf *why)
{
    char text[512];
    struct message msg = {text, sizeof(text)};

    for (uint32_t i = 0; i < p->n; i++) {
        struct plan *q = &p->v[i];
        int status;

        q->o = *p->o;
        q->o.manifest = p->o->manifests[i];
        if ((status = run_read_manifest(q->o.manifest, &q->manifest, &msg))) {
            buf_puts(why, text);
            return status;
        }
        p->n_read++;
    }
    return EXIT_OK;
}

/* Sessions of all plans with the sizes of the first one's options. */
static int
open_sessions(struct plans *p, const struct options *sizes,
              struct session ***ret, struct buf *why)
{
    struct session **s = NEW_ARRAY(p->arena, struct session *, p->n);
    int status = EXIT_OK;

    for (uint32_t i = 0; i < p->n && !status; i++) {
        s[i] = NEW(p->arena, struct session);
        *s[i] = (struct session){.arena = p->arena,
                                 .o = i ? &p->v[i].o : sizes,
                                 .manifest = &p->v[i].manifest};
        status = i ? session_share(s[i], s[0], why) : session_open(s[i], why);
    }
    *ret = s;
    if (!status && !s[0]->g) {
        buf_puts(why, "the manifests have no program (--no-embed-program)");
        status = EXIT_INPUT;
    }
    return status;
}

static int
open_machines(struct plans *p, struct buf *why)
{
    char text[512] = "";
    struct message msg = {text, sizeof(text)};

    for (uint32_t i = 0; i < p->n; i++) {
        struct plan *q = &p->v[i];
        int status = q->o.emulate
                         ? machine_open_cpu(&q->machine, p->checked[i], &msg)
                         : machine_open_gpu(&q->machine, p->checked[i], &msg);

        if (status) {
            buf_printf(why, "%s: %s", q->o.manifest, text);
            return run_exit_status(status);
        }
        q->open = true;
        p->machines[i] = &q->machine;
    }
    return EXIT_OK;
}

/* The sizes of --time-shape where they are given, the others as they are. */
static int
open_timed(struct plans *p, struct buf *why)
{
    const struct options *o = p->o;
    struct options *sizes = NEW(p->arena, struct options);

    if (!o->n_time_shapes) {
        p->timed = p->checked;
        return EXIT_OK;
    }
    *sizes = p->v[0].o;
    sizes->n_shapes = o->n_shapes + o->n_time_shapes;
    sizes->shapes = NEW_ARRAY(p->arena, struct assignment, sizes->n_shapes);
    memcpy(sizes->shapes, o->shapes, o->n_shapes * sizeof(*o->shapes));
    memcpy(sizes->shapes + o->n_shapes, o->time_shapes,
           o->n_time_shapes * sizeof(*o->time_shapes));
    for (uint32_t i = 0; i < sizes->n_shapes; i++)
        for (uint32_t k = i + 1; k < sizes->n_shapes; k++)
            if (strcmp(sizes->shapes[i].name, sizes->shapes[k].name) == 0)
                sizes->shapes[i].value = sizes->shapes[k].value;
    sizes->repeat_inputs = true;
    return open_sessions(p, sizes, &p->timed, why);
}

static int
time_right_ones(struct plans *p, struct buf *why)
{
    uint32_t n = 0;
    int status = open_timed(p, why);

    for (uint32_t i = 0; i < p->n && !status; i++) {
        if (p->wrong[i])
            continue;
        p->timed[n] = p->timed[i];
        p->machines[n++] = p->machines[i];
    }
    if (status || n == 0)
        return status;
    return bench_run(p->timed, p->machines, n, p->timed != p->checked);
}

static int
run_all(struct plans *p, struct buf *why)
{
    int status;

    if ((status = read_all(p, why)) ||
        (status = open_sessions(p, &p->v[0].o, &p->checked, why)) ||
        (status = open_machines(p, why)) ||
        (status = check_plans(p->checked, p->machines, p->n, p->wrong)))
        return status;
    if (p->o->bench)
        status = time_right_ones(p, why);
    for (uint32_t i = 0; i < p->n && !status; i++)
        status = p->wrong[i] ? EXIT_INPUT : EXIT_OK;
    return status;
}

int
plans_run(struct arena *a, struct options *o)
{
    uint32_t n = o->n_manifests;
    struct plans p = {.arena = a, .o = o, .n = n};
    struct buf why;
    int status;

    buf_init(&why, a);
    p.v = NEW_ARRAY(a, struct plan, n);
    p.machines = NEW_ARRAY(a, struct machine *, n);
    p.wrong = NEW_ARRAY(a, bool, n);
    status = run_all(&p, &why);
    if (why.len)
        run_complain(a, buf_str(&why), status);
    for (uint32_t i = 0; i < n; i++)
        if (p.v[i].open)
            p.v[i].machine.close(&p.v[i].machine);
    for (uint32_t i = 0; i < p.n_read; i++)
        manifest_free(&p.v[i].manifest);
    return status;
}
