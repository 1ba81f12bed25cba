# SPDX-License-Identifier: Apache-2.0
"""For scripts among the field cases that need NVRTC."""

import subprocess
import sys

import field


def need_nvrtc():
    """Its path; ends the script where there is none."""
    r = subprocess.run([field.FUSEC, "--print-nvrtc"], capture_output=True,
                       text=True, check=False)
    if r.returncode:
        print("no NVRTC is installed here")
        sys.exit(77)
    return r.stdout.splitlines()[0]
