#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Every error that a page names is one that a test has met, and the other way round.

usage: errors.py PROGRAM...

Runs the programs, which are linked with the wrappers of reached.py, and compares what
the functions returned in them with ERRORS of their pages. One case per function.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left behind in the source tree
from reached import check_of_the_manual, returning  # noqa: E402


def run(programs, record):
    """The pairs (function, code) that the programs met."""
    env = {**os.environ, "RPMA_TEST_REACHED": str(record)}
    for program in programs:
        done = subprocess.run([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", check=False)
        if done.returncode:
            sys.exit(f"{program} failed:\n{done.stdout}")
    lines = (line.split() for line in record.read_text().splitlines())
    return {(function, int(code)) for function, code in lines}


def judge(check, function, names, met):
    """Faults of one page; names: of the codes, by number."""
    page = check.MAN / f"{function}.3"
    told = set(re.findall(r"^\.It Dv (\w+)", "\n".join(check.lines_of(page, "ERRORS")), flags=re.M))
    seen = {names.get(code, str(code)) for name, code in met if name == function}
    if "0" not in seen:
        yield "never succeeds in a test"
    for code in sorted(told - seen):
        yield f"{code} is named, but no test meets it"
    for code in sorted(seen - told - {"0"}):
        yield f"{code} is returned, but not named"


def main():
    check = check_of_the_manual()
    names = {int(number): name for name, number in
             re.findall(r"#define (RPMA_E_\w+) \((-\d+)\)", check.header())}
    report = check.Report()
    with tempfile.TemporaryDirectory() as work:
        met = run(sys.argv[1:], pathlib.Path(work, "record"))
    for function in returning(check.functions()):
        report.case(function, judge(check, function, names, met))
    return report.failed > 0


if __name__ == "__main__":
    sys.exit(main())
