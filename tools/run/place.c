/* SPDX-License-Identifier: Apache-2.0 */
/* The same steps on either machine: memory there, launch, memory back. */
#include "support/base.h"

#include "tools/run/run.h"

#include "support/arena.h"

/* Checks the arguments, and makes and clears the workspace. */
static int
place_workspace(struct placed *p, const struct session *s,
                const struct message *msg)
{
    struct fusec_space space;
    int status;

    if ((status = match_args(&p->match, p->args, s->f->n_params, true, msg)) ||
        (status = match_workspace(&p->match, NULL, &p->workspace_bytes, msg)))
        return status;
    p->workspace = p->m->alloc(p->m, p->workspace_bytes);
    if (!p->workspace)
        return message_set(msg, FUSEC_NO_MEMORY,
                           "no memory for the workspace (%zu bytes)",
                           p->workspace_bytes);
    space = (struct fusec_space){p->workspace, p->workspace_bytes, NULL};
    return match_clear(&p->match, &p->m->backend, &space, msg);
}

int
placed_open(struct placed *p, struct session *s, struct machine *m,
            const struct message *msg)
{
    uint32_t n = s->f->n_params;

    *p = (struct placed){.m = m};
    p->match.f = s->f;
    p->match.sms = m->backend.sms;
    p->args = NEW_ARRAY(s->arena, struct fusec_tensor, n);
    for (uint32_t i = 0; i < n; i++) {
        p->args[i] = s->args[i];
        if (s->f->params[i].pub.role > FUSEC_OUTPUT)
            continue;
        p->args[i].data = m->alloc(m, s->bytes[i]);
        if (!p->args[i].data)
            return message_set(msg, FUSEC_NO_MEMORY,
                               "no memory for '%s' (%zu bytes)",
                               s->f->params[i].pub.name, s->bytes[i]);
    }
    return place_workspace(p, s, msg);
}

int
placed_share(struct placed *p, const struct placed *of, struct session *s,
             struct machine *m, const struct message *msg)
{
    *p = (struct placed){.m = m, .args = of->args};
    p->match.f = s->f;
    p->match.sms = m->backend.sms;
    return place_workspace(p, s, msg);
}

int
placed_launch(struct placed *p, void *stream, int *ret_variant,
              const struct message *msg)
{
    const struct fusec_space space = {p->workspace, p->workspace_bytes, stream};

    *ret_variant = match_variant(&p->match, &p->m->backend, msg);
    if (*ret_variant < 0)
        return FUSEC_NO_VARIANT;
    return match_launch(&p->match, &p->m->backend, *ret_variant, &space, msg);
}

void
placed_alias(struct placed *p, struct session *s)
{
    for (uint32_t i = 0; i < s->f->n_params; i++) {
        int input = s->f->params[i].inplace;
        if (input < 0)
            continue;
        p->args[i].data = p->args[input].data;
        p->in_place = true;
    }
}

/* An output in place must not wipe out its input. */
static bool
is_put(const struct placed *p, const struct session *s, uint32_t i)
{
    return s->f->params[i].pub.role == FUSEC_INPUT ||
           (s->f->params[i].pub.role == FUSEC_OUTPUT &&
            !(p->in_place && s->f->params[i].inplace >= 0));
}

int
placed_run(struct placed *p, struct session *s, int *ret_variant,
           const struct message *msg)
{
    struct machine *m = p->m;
    int status = 0;

    for (uint32_t i = 0; i < s->f->n_params && !status; i++)
        if (is_put(p, s, i))
            status =
                m->put(m, p->args[i].data, s->args[i].data, s->bytes[i], msg);
    if (!status && m->begin)
        status = m->begin(m, s, p, msg);
    if (status || (status = placed_launch(p, NULL, ret_variant, msg)) ||
        (status = m->wait(m, msg)) || (m->end && (status = m->end(m, msg))))
        return status;
    for (uint32_t i = 0; i < s->f->n_params && !status; i++)
        if (session_is_output(s, i))
            status =
                m->get(m, s->args[i].data, p->args[i].data, s->bytes[i], msg);
    return status;
}
