#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""The programs in the pages, and the pieces of programs, are C that compiles.

usage: programs.py COMPILER TOP
"""

import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left behind in the source tree
from reached import check_of_the_manual  # noqa: E402

HEAD = """\
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define RPMA_DEPRECATED
#include <librpma.h>
"""

# What a piece takes for granted: it is put into a block of this function.
FUNCTION = """
struct hello { int x; } hello;
rpma_log_function to_stderr;
void handle(struct ibv_wc *wc, ...);
int talk(struct rpma_conn *conn);
void serve(struct rpma_conn *conn);

int piece(struct rpma_peer *peer, struct rpma_ep *ep, struct rpma_conn_req *req,
	struct rpma_conn *conn, struct rpma_cq *cq, struct ibv_wc wc, struct rpma_conn_cfg *cfg,
	struct rpma_mr_local *mr, struct rpma_mr_remote *src, struct rpma_mr_remote *dst,
	struct rpma_mr_remote *log, char *addr, char *port, char *desc, size_t desc_size,
	size_t tail, size_t len, size_t size, int fd, int ret)
{
	{
#line 1 "example"
%s
	}
	return 0;
}
"""


def examples(page):
    """Literal displays that are code."""
    for text in re.findall(r"^\.Bd -literal.*\n((?:.*\n)*?)\.Ed", page.read_text(), flags=re.M):
        if ";" in text:
            yield text.replace("\\&", "").replace("\\e", "\\").replace("\\-", "-")


def whole(code):
    """Declarations and functions, not statements"""
    return re.match(r"#include|static|typedef", code)


def compiled(compiler, top, code):
    """What the compiler has to complain about"""
    text = HEAD + (f"\n#line 1 \"example\"\n{code}" if whole(code) else FUNCTION % code)
    command = [compiler, "-Wall", "-Wno-unused", "-Werror", "-fsyntax-only", f"-I{top}/include"]
    done = subprocess.run([*command, "-x", "c", "-"], input=text, capture_output=True, text=True,
                          check=False)
    return done.stderr.splitlines() if done.returncode else []


def main():
    compiler, top = sys.argv[1:]
    check = check_of_the_manual()
    report = check.Report()
    for page in sorted(check.MAN.glob("*.[37]")):
        found = list(examples(page))
        if found:
            report.case(page.name, [line for code in found
                                    for line in compiled(compiler, top, code)])
    return report.failed > 0


if __name__ == "__main__":
    sys.exit(main())
