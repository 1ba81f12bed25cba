# SPDX-License-Identifier: Apache-2.0
"""The programs that a command line names: files, and those of a folder in order."""

import glob
import os


def sources(paths):
    for path in paths:
        if os.path.isdir(path):
            yield from sorted(glob.glob(os.path.join(path, "*.fusion")))
        else:
            yield path
