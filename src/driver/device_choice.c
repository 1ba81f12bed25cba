/* SPDX-License-Identifier: Apache-2.0 */
/* device_choice: a row by its name, by its architecture, or by asking the
 * driver; then the fields that the user replaces. */
#include "support/base.h"

#include "driver/device_choice.h"

#include "backend/native.h"
#include "device/device.h"
#include "support/arena.h"
#include "support/diag.h"

#include <limits.h>
#include <stdlib.h>

static const char default_device[] = "h200";
static const struct span nowhere = {0};

static bool
usage(struct arena *a, struct diag *d, const char *fmt, const char *word)
{
    diag_report(d, DIAG_USAGE, nowhere, arena_printf(a, fmt, word));
    return false;
}

/* 90 for "sm_90"; 0 when TEXT isn't one. */
static int
parse_arch(const char *text)
{
    char *end;
    long n;

    if (strncmp(text, "sm_", 3) != 0)
        return 0;
    n = strtol(text + 3, &end, 10);
    return *end || n < 10 || n > 999 ? 0 : (int)n;
}

/* TEXT holds NAME, letters compared without regard to case. */
static bool
holds_name(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (; *text; text++) {
        size_t i = 0;

        while (i < n && (text[i] | 0x20) == (name[i] | 0x20))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* The row of the same name, else the usual one of the architecture with the
 * number of multiprocessors the driver tells. */
static bool
choose_native(struct arena *a, struct diag *d, struct chosen_device *ret)
{
    struct native_device native;
    const char *why;

    if (!native_query(a, &native, &why)) {
        diag_report(d, DIAG_NO_DRIVER, nowhere, why);
        return false;
    }
    for (unsigned i = 0; i < device_rows_count; i++) {
        if (device_rows[i].arch == native.arch &&
            holds_name(native.name, device_rows[i].name))
            ret->device = &device_rows[i];
    }
    if (!ret->device)
        ret->device = device_for_arch(native.arch);
    if (!ret->device)
        return usage(a, d, "no device row for '%s'", native.name);
    ret->name = ret->device->name;
    if (ret->device->sms != native.sms) {
        const char *sms = arena_printf(a, "sms=%d", native.sms);

        ret->device = device_override(a, ret->device, sms, &why);
        ret->name = arena_printf(a, "%s,%s", ret->name, sms);
    }
    return true;
}

static bool
choose_named(struct arena *a, struct diag *d, const char *name,
             struct chosen_device *ret)
{
    ret->device = device_find(name);
    ret->name = name;
    if (ret->device)
        return true;
    return usage(a, d, "unknown device '%s'; see fusec --list-devices", name);
}

/* "sm_80, sm_89, ...": what the rows have, ascending. */
static const char *
known_archs(struct arena *a)
{
    const char *list = NULL;

    for (int arch = 0, next;; arch = next) {
        next = INT_MAX;
        for (unsigned i = 0; i < device_rows_count; i++) {
            if (device_rows[i].arch > arch && device_rows[i].arch < next)
                next = device_rows[i].arch;
        }
        if (next == INT_MAX)
            break;
        list = list ? arena_printf(a, "%s, sm_%d", list, next)
                    : arena_printf(a, "sm_%d", next);
    }
    return list;
}

static bool
choose_by_arch(struct arena *a, struct diag *d, const char *arch,
               struct chosen_device *ret)
{
    int n = parse_arch(arch);

    ret->device = n ? device_for_arch(n) : NULL;
    if (!ret->device)
        return usage(
            a, d,
            arena_printf(a,
                         "no device row for architecture '%%s'; there are %s",
                         known_archs(a)),
            arch);
    ret->name = ret->device->name;
    return true;
}

static bool
replace_fields(struct arena *a, struct diag *d, const char *fields,
               struct chosen_device *ret)
{
    const char *why = "";
    const struct device *dev = device_override(a, ret->device, fields, &why);

    if (!dev)
        return usage(a, d, "--device: %s", why);
    ret->device = dev;
    ret->name = arena_printf(a, "%s,%s", ret->name, fields);
    return true;
}

bool
choose_device(struct arena *a, struct diag *d, const struct options *o,
              struct chosen_device *ret)
{
    const char *text = o->device ? o->device : default_device;
    size_t n = strcspn(text, ",");
    const char *name = arena_strndup(a, text, n);
    bool ok;

    *ret = (struct chosen_device){0};
    if (!o->device && o->arch)
        return choose_by_arch(a, d, o->arch, ret);
    if (strcmp(name, "native") == 0)
        ok = choose_native(a, d, ret);
    else
        ok = choose_named(a, d, name, ret);
    if (ok && text[n])
        ok = replace_fields(a, d, text + n + 1, ret);
    if (ok && o->arch && parse_arch(o->arch) != ret->device->arch)
        return usage(a, d,
                     arena_printf(a, "device '%s' is not '%%s'", ret->name),
                     o->arch);
    return ok;
}
