/* SPDX-License-Identifier: Apache-2.0 */
/* front: text to graphs, in two steps: the files and what they import, then the
 * graph of each fusion. */
#include "support/base.h"

#include "front/front.h"

#include "front/files.h"
#include "front/resolve.h"
#include "support/diag.h"

static struct module *
resolve_files(struct arena *a, struct diag *d, const struct file_set *files,
              struct front_options *opt)
{
    if (!files || !files->complete)
        return NULL;
    return resolve_module(a, d, files, opt);
}

struct module *
front_load(struct arena *a, struct diag *d, const char *path,
           struct front_options *opt)
{
    return resolve_files(a, d, files_load(a, d, path, opt), opt);
}

struct module *
front_load_text(struct arena *a, struct diag *d, const char *name,
                const char *text, size_t len, struct front_options *opt)
{
    return resolve_files(a, d, files_load_text(a, d, name, text, len, opt),
                         opt);
}
