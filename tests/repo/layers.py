#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""layers.py TOP: does every #include, and every name, keep to the dependency table
of doc/ARCHITECTURE.md? The first row that matches a file holds for it."""

import pathlib
import re
import sys

NO_IO = r"sys/(socket|epoll|eventfd|timerfd|uio|un)\.h|netdb|netinet/|poll\.h|fcntl"
NO_RDMA = r"infiniband/|rdma/"
PURE = rf"{NO_RDMA}|{NO_IO}|arpa/|sys/mman|pthread|threads\.h|semaphore|stdatomic|unistd"
CALLS = r"\b(malloc|calloc|realloc|strdup|free|pthread_\w+|mtx_\w+|socket|send|recv)\s*\("

# folder: (own headers allowed besides its own folder, system headers forbidden, words forbidden)
SEAM = ("src/provider.h", "include/librpma.h", "src/base/", "config.h")
TABLE = {
    "src/base/": ((), rf"{NO_RDMA}|libpmem|isa-l", None),
    "src/tcp/iwarp/": (("src/base/", "config.h"), PURE, CALLS),
    "src/tcp/": (SEAM + ("src/tcp/iwarp/",), r"rdma/", None),
    "src/verbs/": (SEAM, "$^", None),
    "src/core/": (SEAM, rf"{NO_IO}|rdma/", None),
    "src/": (("include/librpma.h", "src/base/"), rf"{NO_RDMA}|{NO_IO}", None),
    "include/": ((), "rdma/", None),
    "examples/": (("include/librpma.h",), "rdma/", None),
    "bench/fabric/": (("bench/lib/",), "infiniband/", None),
    "bench/stub/": (("include/librpma.h", "examples/common/", "bench/lib/"), "$^", None),
    "bench/": (("include/librpma.h", "examples/common/"), "rdma/", None),
    "tools/": (("include/librpma.h",), "rdma/", None),
}


def resolve(top, file, name):
    """The path, from top, of a header that is ours; or None."""
    for base in (file.parent, top / "src", top / "include", top / "examples", top / "bench"):
        if (base / name).is_file():
            return (base / name).resolve().relative_to(top).as_posix()
    return "config.h" if name == "config.h" else None


def faults(top, file):
    path = file.relative_to(top).as_posix()
    folder, (allowed, system, words) = next(row for row in TABLE.items() if path.startswith(row[0]))
    text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
    for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, flags=re.M):
        ours = resolve(top, file, name)
        if ours is None and re.search(system, name):
            yield f"{path}: <{name}> does not belong in {folder}"
        elif ours and not ours.startswith(allowed + (folder,)):
            yield f"{path}: {ours} does not belong in {folder}"
    if words and (call := re.search(words, text)):
        yield f"{path}: {call.group(1)}() does not belong in {folder}"


def main():
    top = pathlib.Path(sys.argv[1]).resolve()
    files = [f for row in TABLE if row != "src/" for f in (top / row).rglob("*.[ch]")]
    files += (top / "src").glob("*.[ch]")
    found = sorted({fault for file in files for fault in faults(top, file)})
    print(*found, f"{len(set(files))} files, {len(found)} faults", sep="\n")
    return bool(found) or not files


sys.exit(main())
