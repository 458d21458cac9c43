#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Each cell of the tables of rpma_completion(7) has its case, and each case its cell.

usage: completion.py PROGRAM

PROGRAM lists the names of its cases: section, row, column and content of a cell.
"""

import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left behind in the source tree
from reached import check_of_the_manual  # noqa: E402


def plain(field):
    """Words of a table's field, without macros and sections of other pages."""
    text = re.sub(r"\b(Xr|Em) |\\&", "", field).replace("\\-", "-")
    return re.sub(r" 3( ,)?", lambda m: "," if m.group(1) else "", text).strip()


def tables(page):
    """[(section, head, rows)]"""
    found = []
    for section in re.split(r"^\.Sh ", page.read_text(), flags=re.M)[1:]:
        name, _, text = section.partition("\n")
        for table in re.findall(r"^\.Bl -column .*\n((?:\.It .*\n)+)\.El", text, flags=re.M):
            rows = [[plain(field) for field in line[4:].split(" Ta ")]
                    for line in table.splitlines()]
            found.append((name.lower(), rows[0], rows[1:]))
    return found


def cells(page):
    for section, head, rows in tables(page):
        for row in rows:
            for column, content in zip(head[1:], row[1:], strict=True):
                if content != "-":
                    yield f"{section}: {row[0]}: {column}: {content}"


def main():
    check = check_of_the_manual()
    done = subprocess.run([sys.argv[1], "list"], capture_output=True, text=True, check=True)
    cases = done.stdout.splitlines()
    told = list(cells(check.MAN / "rpma_completion.7"))
    report = check.Report()
    report.case("every cell has a case", [cell for cell in told if cell not in cases])
    report.case("every case has a cell", [case for case in cases if case not in told])
    report.case("no cell and no case stands twice",
                {name for names in (told, cases) for name in names if names.count(name) > 1})
    report.case("there are cells", [] if len(told) > 50 else [f"{len(told)} only"])
    return report.failed > 0


if __name__ == "__main__":
    sys.exit(main())
