#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""symbols.py TOP LIBRARY: the functions of the header, of the version script, of the
library and of COMPATIBILITY.md are those of symbols.txt, no fewer and no more."""

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


def by_node(want):
    """{node: functions}, for every release that had a node of its own."""
    every = want["1.x"] | want["0.10"]
    first = {name: "0.10" for name in every}
    last = {name: "0.14" for name in want["1.x"]} | {name: "0.10" for name in want["0.10"]}
    for section, names in want.items():
        version, _, edge = section.partition(" is the ")
        {"first": first, "last": last}.get(edge, {}).update(dict.fromkeys(names, version))
    number = lambda version: tuple(map(int, version.split(".")))
    nodes = {f"LIBRPMA_{version}": {name for name in every
                                    if number(first[name]) <= number(version) <= number(last[name])}
             for version in ("0.10", "0.11", "0.12", "0.13", "0.14")}
    # Of 0.9 there is no list; it called its node like 1.0.
    return nodes | {"LIBRPMA_1.0": every}


def exported(library):
    """{name: node} of the default versions, {node: names}, and what else there is."""
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library],
                         check=True, capture_output=True, text=True).stdout
    rows = [line.split()[-2:] for line in out.splitlines()]
    functions = [symbol for kind, symbol in rows if kind == "T"]
    strangers = {symbol for kind, symbol in rows if kind not in "TA"}
    default = dict(symbol.split("@@") for symbol in functions if "@@" in symbol)
    nodes = {}
    for symbol in functions:
        nodes.setdefault(symbol.rpartition("@")[2], set()).add(symbol.partition("@")[0])
    return default, nodes, strangers


def main():
    top = pathlib.Path(sys.argv[1])
    want = contract((pathlib.Path(__file__).parent / "symbols.txt").read_text())
    every = want["1.x"] | want["0.10"]
    names, rest_is_local = mapped((top / "src/librpma.map").read_text())
    library, nodes, strangers = exported(sys.argv[2])
    told = set(re.findall(r"^\| `(rpma_\w+)` \|", (top / "doc/COMPATIBILITY.md").read_text(),
                          flags=re.M))
    faults = [] if rest_is_local else ["librpma.map: no 'local: *;'"]
    for where, have in (("librpma.h", declared((top / "include/librpma.h").read_text())),
                        ("librpma.map", set(names)), ("library", set(library)),
                        ("COMPATIBILITY.md", told)):
        faults += [f"{where}: {name} is missing" for name in sorted(every - have)]
        faults += [f"{where}: {name} is not in symbols.txt" for name in sorted(have - every)]
    faults += [f"library: stray symbol {name}" for name in sorted(strangers)]
    faults += [f"library: {name} is {node} by default" for name, node in library.items()
               if node != ("LIBRPMA_1.0" if name in want["1.x"] else "LIBRPMA_0.10")]
    expected = by_node(want)
    for node in expected.keys() | nodes.keys():
        wrong = expected.get(node, set()) ^ nodes.get(node, set())
        faults += [f"library: {name}@{node} is missing or too much" for name in sorted(wrong)]
    print(*faults, f"{len(every)} functions, {len(faults)} faults", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
