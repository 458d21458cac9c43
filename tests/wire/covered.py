#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Every item of README.md has a test that is named after it and is run.

usage: covered.py DIRECTORY
"""

import pathlib
import re
import sys


def main():
    here = pathlib.Path(sys.argv[1])
    # what needs the kernel's siw runs in a virtual machine
    paths = [*here.glob("*.c"), here.parent / "vm" / "interop_items.c"]
    text = "".join(path.read_text() for path in paths)
    tested = set()
    for name in re.findall(r"\b(?:BOTH|cmocka_unit_test)\((item_[0-9_]+)", text):
        tested |= {int(number) for number in re.findall(r"\d{3}", name)}
    missing = set(range(1, 101)) - tested
    print(f"{len(tested)} of 100 items are tested")
    if missing:
        sys.exit(f"missing: {sorted(missing)}")


main()
