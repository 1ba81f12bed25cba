/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_parse: any bytes to a syntax tree and messages. A file is complete or an
 * error was reported; a tree without errors can be printed. */
#include "support/base.h"

#include "harness.h"

#include "front/ast_print.h"
#include "front/files.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

void
fuzz_one(struct arena *a, const char *text, size_t len)
{
    struct diag *d = diag_new(a);
    struct file_set *set =
        files_load_text(a, d, "fuzz.fusion", text, len, NULL);
    struct buf b;

    if (!set || (!set->complete && diag_errors(d) == 0))
        BUG("a file was refused without a message");
    buf_init(&b, a);
    if (diag_errors(d) == 0)
        ast_print(a, set->files[0], &b);
    fuzz_flush(d);
}
