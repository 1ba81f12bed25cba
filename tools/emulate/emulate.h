/* SPDX-License-Identifier: Apache-2.0 */
/* emulate: generated CUDA as a library of this CPU: how it is compiled, loaded,
 * and how its reports become text with lines of the .cu.
 *
 * A report prints as
 *
 *     FILE.cu:LINE: KIND: TEXT
 *
 * with a KIND of templates/host/fu_emulate_api.h. The line is that of the
 * innermost frame in the .cu; addr2line (binutils) finds it, and without it the
 * text says "line unknown". */
#ifndef FUSEC_TOOLS_EMULATE_EMULATE_H
#define FUSEC_TOOLS_EMULATE_EMULATE_H

#include "support/base.h"

#include "templates/host/fu_emulate_api.h"

struct arena;
struct buf;

struct emulation {
    void *library;
    int file; /* the library, for addr2line; it may be unlinked */
    fu_emu_launch_fn *launch;
    fu_emu_last_report_fn *last_report;
    fu_emu_suspect_fn *suspect;
    fu_emu_harmless_fn *harmless;
    fu_emu_declare_fn *declare;
    fu_emu_forget_all_fn *forget_all;
    fu_emu_finish_fn *finish;
    fu_emu_set_order_fn *set_order;
    fu_emu_kernel_fn *kernel;
    fu_emu_count_fn *count;
};

/* What the C++ compiler is called with, without the folder of the templates and
 * the files; a NULL at the end. */
extern const char *const emulation_flags[];
/* What stands behind the source: libraries. */
extern const char *const emulation_libraries[];

/* False with a message. */
bool emulation_open(struct emulation *e, const char *path, struct buf *why);
void emulation_close(struct emulation *e);

/* Launches; true when there is nothing to report, else false with the report in
 * `why`. A report that needs two different lines is dropped when they agree. */
bool emulation_launch(const struct emulation *e,
                      const struct fu_emu_launch_info *l, void **args,
                      struct buf *why);
/* The same for what is checked after the last launch. */
bool emulation_finish(const struct emulation *e, struct buf *why);

const char *emulation_kind_name(enum fu_emu_kind kind);
/* Blocks of a kernel that an SM holds, as on an H200. */
unsigned emulation_blocks_per_sm(unsigned threads, size_t smem);

/* Memory for a buffer with nothing near it: zeros, aligned to 4 KiB. */
void *emulation_map(size_t bytes);
void emulation_unmap(void *p, size_t bytes);

/* lines.c: where the code addresses are in the .cu, 0 where that isn't known;
 * the file's base name in ret_file. */
enum { EMULATION_PLACES = 4 };
void emulation_lines(const struct emulation *e, const void *const *pc,
                     unsigned *ret_lines, char *ret_file, size_t file_size);

#endif
