#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""The table in examples/README.md is that of the examples, and they are short.

usage: table.py TOP
"""

import fnmatch
import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1])
EXAMPLES = TOP / "examples"
LONGEST = 100
SHORT = ("server.c", "client.c")


def calls(*folders):
    """The functions of the library that the sources call."""
    files = [file for folder in folders for file in (EXAMPLES / folder).glob("*.[ch]")]
    return {name for file in files for name in re.findall(r"\b(rpma_\w+)\(", file.read_text())}


def exported():
    text = (TOP / "src/librpma.map").read_text()
    return set(re.findall(r"\b(rpma_\w+);", text))


def rows():
    """example -> the names, maybe with a "*", in its row"""
    text = (EXAMPLES / "README.md").read_text()
    return {example: re.findall(r"`(rpma_[\w*]+)`", told)
            for example, told in re.findall(r"^\| \[[\w-]+\]\(([\w-]+)\) \|(.*)$", text,
                                            flags=re.M)}


def left_out():
    text = (EXAMPLES / "README.md").read_text()
    return set(re.findall(r"`(rpma_\w+)`", text.partition("No example needs")[2]))


def deletes(name):
    return re.search(r"_(delete|dereg|shutdown)$", name)


def judge_row(example, names):
    made = calls(example, "common")
    for name in names:
        if not fnmatch.filter(made, name):
            yield f"{name} is not called there"
    for name in SHORT:
        file = EXAMPLES / example / name
        if example != "replicated-log" and file.exists():
            lines = len(file.read_text().splitlines())
            if lines >= LONGEST:
                yield f"{name} has {lines} lines"


def judge_all(table):
    told = {name for names in table.values() for pattern in names
            for name in fnmatch.filter(exported(), pattern)}
    made = calls(*table, "common") & exported()
    for name in sorted(made - told):
        if not deletes(name):
            yield f"{name} is called and not in the table"
    for name in sorted(exported() - made - left_out()):
        yield f"{name} is in no example, and not among those left out"
    for name in sorted(left_out() & made):
        yield f"{name} is called, and among those left out"


def judge_folders(table):
    folders = {folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()} - {"common"}
    yield from (f"{name} is not in the table" for name in sorted(folders - table.keys()))
    yield from (f"{name} is not there" for name in sorted(table.keys() - folders))


def main():
    table = rows()
    failed = 0
    cases = [(example, judge_row(example, names)) for example, names in table.items()]
    cases += [("all examples", judge_folders(table)), ("all functions", judge_all(table))]
    for name, faults in cases:
        print(f"[ RUN      ] {name}")
        faults = list(faults)
        for fault in faults:
            print(f"    {fault}")
        print(f"[{'  FAILED  ' if faults else '       OK '}] {name}")
        failed += bool(faults)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
