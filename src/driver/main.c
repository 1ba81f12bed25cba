/* SPDX-License-Identifier: Apache-2.0 */
/* main: nothing but the call. A reader of our output that goes away, and a file
 * that grows beyond a limit, are errors to report, not signals to die of. */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "support/base.h"

#include "driver/driver.h"

#include "support/io.h"

#include <signal.h>

int
main(int argc, char **argv)
{
    io_open_standard_files();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return driver_run(argc, argv);
}
