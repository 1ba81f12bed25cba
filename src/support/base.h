/* SPDX-License-Identifier: Apache-2.0 */
/* base: what every file may rely on: fixed-width integers, BUG(), a few
 * attributes, and the functions that are banned outside src/support. */
#ifndef FUSEC_SUPPORT_BASE_H
#define FUSEC_SUPPORT_BASE_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define ATTR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define ATTR_NORETURN __attribute__((noreturn))
#define ATTR_UNUSED __attribute__((unused))

/* An internal error: prints the place and aborts, so that a fault of ours is
 * never mistaken for a fault of the input. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
void bug_at(const char *file, int line, const char *fmt, ...)
    ATTR_PRINTF(3, 4) ATTR_NORETURN;

/* Memory that isn't there ends the run, with EXIT_ENVIRONMENT. */
void out_of_memory(void) ATTR_NORETURN;
/* For libraries that bring no arena. */
void *memory_take(size_t size);
void memory_return(void *p);

/* Exit statuses of every program of the project. */
enum {
    EXIT_OK = 0,
    EXIT_INPUT = 1,       /* the input is wrong */
    EXIT_USAGE = 2,       /* the command line is wrong */
    EXIT_ENVIRONMENT = 3, /* a file, a library or memory is missing */
    EXIT_REJECTED = 4,    /* the CUDA compiler refused our code */
};

#endif
