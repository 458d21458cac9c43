#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""symbols.py TOP LIBRARY: the functions of the header, of the version script and of
the library are those of symbols.txt, no fewer and no more."""

import pathlib
import re
import subprocess
import sys


def contract(text):
    sections = re.split(r"^\[(.*)\]\n", re.sub(r"^#.*\n", "", text, flags=re.M), flags=re.M)[1:]
    return {name: set(body.split()) for name, body in zip(sections[::2], sections[1::2])}


def declared(header):
    """Functions, not the types of functions and not macros."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"^\s*#.*(\\\n.*)*", "", text, flags=re.M)
    return {name for statement in text.split(";") if "typedef" not in statement
            for name in re.findall(r"\b(rpma_\w+)\s*\(", statement)}


def mapped(script):
    """{name: node}, and whether all else is local."""
    text = re.sub(r"/\*.*?\*/|#.*", "", script, flags=re.S if "/*" in script else 0)
    nodes = re.findall(r"(LIBRPMA_[\d.]+)\s*\{(.*?)\}", text, flags=re.S)
    names = {name: node for node, body in nodes
             for name in re.findall(r"(\w+);", body.partition("local:")[0])}
    return names, any(re.search(r"local:\s*\*;", body) for _, body in nodes)


def exported(library):
    """{name: node} of the default versions, all versioned symbols that have a type."""
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library],
                         check=True, capture_output=True, text=True).stdout
    rows = [line.split()[-2:] for line in out.splitlines()]
    functions = [symbol for kind, symbol in rows if kind == "T"]
    strangers = {symbol for kind, symbol in rows if kind not in "TA"}
    default = dict(symbol.split("@@") for symbol in functions if "@@" in symbol)
    others = {symbol.partition("@")[0] for symbol in functions}
    return default, strangers | (others - default.keys())


def main():
    top = pathlib.Path(sys.argv[1])
    want = contract((pathlib.Path(__file__).parent / "symbols.txt").read_text())
    every = want["1.x"] | want["0.10"]
    names, rest_is_local = mapped((top / "src/librpma.map").read_text())
    library, strangers = exported(sys.argv[2])
    faults = [] if rest_is_local else ["librpma.map: no 'local: *;'"]
    for where, have in (("librpma.h", declared((top / "include/librpma.h").read_text())),
                        ("librpma.map", set(names)), ("library", set(library))):
        faults += [f"{where}: {name} is missing" for name in sorted(every - have)]
        faults += [f"{where}: {name} is not in symbols.txt" for name in sorted(have - every)]
    faults += [f"library: stray symbol {name}" for name in sorted(strangers)]
    faults += [f"library: {name} is {node}, not LIBRPMA_1.0" for name, node in library.items()
               if name in want["1.x"] and node != "LIBRPMA_1.0"]
    print(*faults, f"{len(every)} functions, {len(faults)} faults", sep="\n")
    return bool(faults)


sys.exit(main())
