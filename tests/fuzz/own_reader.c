/* SPDX-License-Identifier: Apache-2.0 */
/* own_reader: fusec's own readers of manifests, for the target that includes
 * the launch library's struct of the same name. */
#include "support/base.h"

#include "readers.h"

#include "backend/manifest.h"

void
fuzz_read_own(struct arena *a, const char *text, size_t len)
{
    const char *why = NULL;

    if (!manifest_plan(a, text, len, &why) && !why)
        BUG("a manifest was refused without a reason");
    why = NULL;
    if (!manifest_without_toolchain(a, text, len, &why) && !why)
        BUG("a manifest was refused without a reason");
}
