/* SPDX-License-Identifier: Apache-2.0 */
/* templates: the device primitives of templates/, carried inside the
 * executable, sorted by name. */
#ifndef FUSEC_CODEGEN_TEMPLATES_H
#define FUSEC_CODEGEN_TEMPLATES_H

#include "support/embedded.h"

extern const struct embedded cuda_templates[];
extern const unsigned cuda_templates_count;
/* What a host needs to run the generated text: fu_emulate.h and its like. */
extern const struct embedded host_templates[];
extern const unsigned host_templates_count;

#endif
