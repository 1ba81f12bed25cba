/* SPDX-License-Identifier: Apache-2.0 */
/* template_text: a .cu that includes templates, made self-contained as fusec's
 * own texts are: its first conditional on FU_EMULATE gives way to what it uses.
 *
 *     template_text FILE.cu */
#include "support/base.h"

#include "codegen/codegen_impl.h"
#include "support/arena.h"
#include "support/io.h"

#include <stdio.h>

static const char begins[] = "#ifndef FU_EMULATE\n", ends[] = "#endif\n";

static bool
print_text(struct arena *a, const char *text)
{
    const char *from = strstr(text, begins);
    const char *to = from ? strstr(from, ends) : NULL;
    struct buf b;

    if (!to)
        return false;
    buf_init(&b, a);
    cuda_prelude(a, &b, to + sizeof(ends) - 1);
    printf("%.*s%s%s#else\n#include \"fu_emulate.h\"\n%s", (int)(from - text),
           text, begins, buf_str(&b), to);
    return true;
}

int
main(int argc, char **argv)
{
    struct arena *a = arena_new();
    const char *text;
    size_t len;
    bool ok;

    if (argc != 2) {
        fprintf(stderr, "usage: template_text FILE.cu\n");
        return EXIT_USAGE;
    }
    text = io_read(a, argv[1], &len);
    ok = text && print_text(a, text);
    if (!ok)
        fprintf(stderr, "template_text: cannot read '%s'\n", argv[1]);
    arena_free(a);
    return ok ? EXIT_OK : EXIT_INPUT;
}
