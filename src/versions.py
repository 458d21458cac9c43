#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""versions.py HEADER MAP TABLE: what versions.c includes, one OLD() for each function
that has further symbol versions."""

import pathlib
import re
import sys


def prototypes(header):
    """{name: (type, [parameter, ...])} of the functions that a header declares."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"^[ \t]*#(.*\\\n)*.*$", "", text, flags=re.M)
    text = " ".join(text.replace("RPMA_DEPRECATED", "").split())
    found = re.findall(r"(?:^|[;{}])\s*((?:const )?\w+[ *]+)(rpma_\w+)\(([^()]*)\)(?=;)", text)
    return {name: (kind.strip(), [p.strip() for p in parameters.split(",")])
            for kind, name, parameters in found}


def argument(parameter):
    """The name in a parameter."""
    return re.search(r"(\w+)\s*(\[\w*\])?$", parameter).group(1)


def table(text):
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {name: nodes for name, *nodes in rows}


def main():
    header, script, nodes = (pathlib.Path(path).read_text() for path in sys.argv[1:])
    declared, nodes = prototypes(header), table(nodes)
    names = sorted(set(re.findall(r"\b(rpma_\w+);", script)))
    if unknown := nodes.keys() - {*names, "*"}:
        sys.exit(f"not in the version script: {', '.join(sorted(unknown))}")
    for name in names:
        if not nodes.get(name, nodes["*"]):
            continue
        kind, parameters = declared[name]
        at = " ".join(f'AT({name}, "{node}")' for node in nodes.get(name, nodes["*"]))
        print(f"OLD({kind}, {name}, ({', '.join(parameters)}),\n"
              f"\t({', '.join(map(argument, parameters))}),\n\t{at})")


if __name__ == "__main__":
    main()
