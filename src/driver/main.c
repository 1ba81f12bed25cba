/* SPDX-License-Identifier: Apache-2.0 */
/* main: nothing but the call. A reader of our output that goes away is an error
 * to report, not a signal to die of. */
#include "support/base.h"

#include "driver/driver.h"

#include <signal.h>

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    return driver_run(argc, argv);
}
