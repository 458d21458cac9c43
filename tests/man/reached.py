#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Wrappers that write down what the functions of the library return.

usage: reached.py names		the functions of the header that return a code
       reached.py source	wrappers for them, for ld --wrap

A program that is linked with the wrappers appends a line "FUNCTION CODE" to the
file that RPMA_TEST_REACHED names, for each pair when it sees it first.
"""

import importlib.machinery
import importlib.util
import pathlib
import re
import sys

HEAD = """\
/* made by reached.py */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RPMA_DEPRECATED
#include "librpma.h"

/* One write a line, so that lines of several processes do not mix. */
static int reached(const char *function, unsigned long *seen, int code)
{
	const char *file = getenv("RPMA_TEST_REACHED");
	unsigned long bit = 1ul << (code ? RPMA_E_UNKNOWN - code + 1 : 0);
	char line[128];
	int fd, n;

	if (!file || *seen & bit)
		return code;
	*seen |= bit;
	fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	n = snprintf(line, sizeof(line), "%s %d\\n", function, code);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		abort();
	close(fd);
	return code;
}
"""


def check_of_the_manual():
    """man/check as a module: it knows the header and the pages."""
    sys.dont_write_bytecode = True
    file = pathlib.Path(__file__).resolve().parents[2] / "man" / "check"
    loader = importlib.machinery.SourceFileLoader("check", str(file))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
    loader.exec_module(module)
    return module


def returning(functions):
    """name -> parameters, of the functions that return a code."""
    found = {}
    for name, declaration in functions.items():
        match = re.fullmatch(r"int rpma_\w+\((.*)\)", declaration)
        if match:
            found[name] = match.group(1)
    return found


def wrapper(name, parameters):
    names = ", ".join(re.search(r"(\w+)(\[\d+\])?$", p).group(1) for p in parameters.split(","))
    return (f"\nint __real_{name}({parameters});\nint __wrap_{name}({parameters});\n"
            f"int __wrap_{name}({parameters})\n{{\n\tstatic unsigned long seen;\n\n"
            f"\treturn reached(\"{name}\", &seen, __real_{name}({names}));\n}}\n")


def main():
    functions = returning(check_of_the_manual().functions())
    if sys.argv[1] == "names":
        print(*functions, sep="\n")
    else:
        print(HEAD, *(wrapper(*item) for item in functions.items()), sep="")


if __name__ == "__main__":
    main()
