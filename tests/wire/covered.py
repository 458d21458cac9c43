#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Every item of README.md has a test that is named after it and is run, or a reason.

usage: covered.py DIRECTORY
"""

import pathlib
import re
import sys


def main():
    here = pathlib.Path(sys.argv[1])
    text = "".join(path.read_text() for path in here.glob("*.c"))
    tested = set()
    for name in re.findall(r"\b(?:BOTH|cmocka_unit_test)\((item_[0-9_]+)", text):
        tested |= {int(number) for number in re.findall(r"\d{3}", name)}
    absent = (here / "README.md").read_text().partition("## Not here, because")[2]
    excused = {int(n) for row in re.findall(r"^\| ([\d, ]+) \|", absent, re.MULTILINE)
               for n in re.findall(r"\d+", row)}
    missing = set(range(1, 101)) - tested - excused
    print(f"{len(tested)} of 100 items are tested, {len(excused)} are excused")
    if missing or tested & excused:
        sys.exit(f"missing: {sorted(missing)}; tested and excused: {sorted(tested & excused)}")


main()
