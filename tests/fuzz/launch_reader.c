/* SPDX-License-Identifier: Apache-2.0 */
/* launch_reader: the launch library's reader for targets that include fusec's
 * own struct manifest. */
#include "support/base.h"

#include "readers.h"

#include "tools/launch/manifest.h"

bool
fuzz_launch_reads(const char *text, char *why, size_t size)
{
    struct manifest m;
    bool ok = manifest_parse(text, strlen(text), &m, why, size);

    if (ok)
        manifest_free(&m);
    return ok;
}
