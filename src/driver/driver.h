/* SPDX-License-Identifier: Apache-2.0 */
/* driver: one run of fusec. */
#ifndef FUSEC_DRIVER_DRIVER_H
#define FUSEC_DRIVER_DRIVER_H

/* The exit status of the command line. */
int driver_run(int argc, char **argv);

#endif
