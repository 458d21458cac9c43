#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""names.py KIND TOP HEADER NODE: of the functions that NODE has and HEADER declares,

    stub        a library that does nothing (C), to link against
    script      its version script
    program     a program that names every one of them (C)
"""

import pathlib
import sys


def stub(functions, _):
    print("#include <librpma.h>")
    for name, (kind, parameters) in functions.items():
        value = "0" if kind == "int" else "NULL"
        print(f"{kind} {name}({', '.join(parameters)}) {{ return {value}; }}")


def script(functions, node):
    print(f"{node} {{ global: {' '.join(f'{name};' for name in functions)} local: *; }};")


def program(functions, _):
    print("#include <librpma.h>\ntypedef void any(void);\nany *volatile all[] = {")
    print(*(f"\t(any *)&{name}," for name in functions), sep="\n")
    print("};\nint main(void)\n{\n\tint n = 0;\n"
          "\tfor (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)\n\t\tn += all[i] != NULL;\n"
          '\tprintf("%d\\n", n);\n\treturn 0;\n}')


def main():
    kind, top, header, node = sys.argv[1:]
    top = pathlib.Path(top)
    sys.dont_write_bytecode = True
    sys.path += [str(top / "src"), str(top / "tests/repo")]
    import symbols
    import versions
    declared = versions.prototypes(pathlib.Path(header).read_text())
    want = symbols.contract((top / "tests/repo/symbols.txt").read_text())
    names = symbols.by_node(want)[node]
    functions = {name: declared[name] for name in sorted(names & declared.keys())}
    {"stub": stub, "script": script, "program": program}[kind](functions, node)


main()
