/* SPDX-License-Identifier: Apache-2.0 */
/* inputs: generated data for runs and checks, "normal(0,1)", "uniform(a,b)" and
 * "ints(a,b)" (both ends included).
 *
 * Element i is a function of (seed, stream, i) in arithmetic that is exact or
 * correctly rounded everywhere, so every machine and every number of threads
 * makes the same bytes. */
#ifndef FUSEC_IR_INPUTS_H
#define FUSEC_IR_INPUTS_H

#include "ir/eval_num.h"

enum input_kind { INPUT_NORMAL, INPUT_UNIFORM, INPUT_INTS };

struct input_spec {
    enum input_kind kind;
    double a, b; /* mean and deviation, or the ends */
};

/* False when text is none of the three forms. */
bool input_spec_parse(const char *text, struct input_spec *ret);
/* What a parameter of this type gets when nothing is said. */
struct input_spec input_spec_default(enum dtype t);
/* Stream by name, so that a parameter keeps its data when others come or go. */
uint64_t input_stream(const char *param);
void input_fill(const struct input_spec *spec, const struct tensor *dst,
                uint64_t seed, uint64_t stream, unsigned threads);

#endif
