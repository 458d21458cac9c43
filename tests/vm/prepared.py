# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""What the tests in virtual machines need before they can boot one."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def prepared(*command):
    """The last line a script of this folder prints; or skip, for its reason."""
    done = subprocess.run([HERE / command[0], *command[1:]], stdout=subprocess.PIPE, text=True)
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode == 77:
        print(last)
        sys.exit(77)
    if done.returncode:
        sys.exit(f"{command[0]} failed")
    return pathlib.Path(last)
