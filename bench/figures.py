# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""What is measured, and what is wanted of it.

A series is a command that tells figures ("name number" lines). The series of a group
run in turn, round after round, so that a slow minute of the machine hits all of them.
"""

import dataclasses

CRC_OFF = {"RPMA_TCP_CRC": "off"}
RENO = {"FLOOR_CONGESTION": "reno"}  # what the library takes within a host
UCX = "ucx"  # a series of ucx_perftest: bench/run starts both of its sides


@dataclasses.dataclass
class Series:
    name: str
    command: str  # {t}: seconds ({t1}: 1 at least), {dir}: where files go, {idle}: connections
    env: dict = dataclasses.field(default_factory=dict)
    rounds: int = 0  # 0: as many as the others


def rpma(name, arguments, **more):
    return Series(name, "rpma " + arguments, **more)


def floor(name, arguments, **more):
    return Series("floor " + name, "floor " + arguments, **more)


def fabric(provider, name, arguments):
    command, _, rest = arguments.partition(" ")
    return Series(f"libfabric {provider} {name}", f"fabric {command} {provider} {rest}")


def ucx(name, arguments):
    return Series("ucx " + name, f"{UCX} {arguments}")


LATENCY_POLL = [
    floor("pingpong poll", "pingpong poll 8 {t}"),
    rpma("write poll", "latency write poll 0 {t}"),
    rpma("read poll", "latency read poll 0 {t}"),
    fabric("tcp", "write", "latency write {t}"),
    fabric("tcp", "read", "latency read {t}"),
    fabric("net", "write", "latency write {t}"),
    fabric("net", "read", "latency read {t}"),
    ucx("put", "ucp_put_lat -s 8 -n {n10k}"),
    ucx("get", "ucp_get -s 8 -n {n10k}"),
]

LATENCY_BLOCK = [
    floor("pingpong block", "pingpong block 8 {t}"),
    rpma("write block", "latency write block 0 {t}"),
    rpma("read block", "latency read block 0 {t}"),
]

# TCP takes a while to find its pace
STREAM = [
    floor("stream", "stream block 1048576 {t1}"),
    floor("stream reno", "stream block 1048576 {t1}", env=RENO),
    rpma("stream CRC off", "stream block 1048576 16 1 1 1 {t1}", env=CRC_OFF),
    rpma("stream CRC on", "stream block 1048576 16 1 1 1 {t1}"),
    fabric("tcp", "stream", "stream 1048576 16 1 {t1}"),
    fabric("net", "stream", "stream 1048576 16 1 {t1}"),
    ucx("stream", "ucp_put_bw -s 1048576 -O 16 -n {n1k}"),
]

MESSAGES = [
    rpma("messages", "stream poll 64 64 16 1 1 {t}"),
    rpma("messages block", "stream block 64 64 16 1 1 {t}"),
    fabric("tcp", "messages", "stream 64 64 16 {t}"),
    fabric("net", "messages", "stream 64 64 16 {t}"),
    ucx("messages", "ucp_put_bw -s 64 -O 64 -n {n100k}"),
]

DURABLE = [
    floor("durable", "durable {dir} {t}"),
    rpma("durable", "durable {dir} 16 {t}"),
    rpma("durable one by one", "durable {dir} 1 {t}"),
    rpma("registration", "registration {dir} 64"),
]

SETUP = [
    floor("setup", "setup {t}"),
    rpma("setup", "setup {t}"),
]

MANY = [
    # in less time each of the 64 would have just a few rounds of its queue
    rpma("flows 1", "stream block 65536 16 1 1 1 {t1}"),
    rpma("flows 64", "stream block 65536 16 1 64 1 {t1}"),
]

IDLE = [
    rpma("idle", "idle {idle} {idle_t}", rounds=3),
    rpma("alone", "latency write block 0 {t}"),
    rpma("among idle", "latency write block {idle} {t}"),
]

GROUPS = [LATENCY_POLL, LATENCY_BLOCK, STREAM, MESSAGES, DURABLE, SETUP, MANY, IDLE]

# ---- how cost grows: (name, [(x, series)], metric, unit); full mode only ---------------

SIZES = [8, 64, 512, 4096, 32768, 262144, 1 << 20, 8 << 20, 64 << 20]


def depth(size):
    return max(2, min(64, (16 << 20) // size))


def size_sweep(name, command, **more):
    return name, [(size, Series(f"{name} {size}",
                                command.format(size=size, depth=depth(size), t="{t}"), **more))
                  for size in SIZES]


SWEEPS = {
    "sizes": ("bytes of a write", "bytes_per_s", [
        size_sweep("floor", "floor stream block {size} {t}", env=RENO),
        size_sweep("CRC off", "rpma stream block {size} {depth} 1 1 1 {t}", env=CRC_OFF),
        size_sweep("CRC on", "rpma stream block {size} {depth} 1 1 1 {t}"),
    ]),
    "connections": ("idle connections", "p50_ns", [
        ("write block", [(n + 1, rpma(f"among {n}", f"latency write block {n} {{t}}"))
                         for n in (0, 9, 99, 999, 4999)]),
    ]),
    "threads": ("threads, a connection each", "per_s", [
        ("64-byte writes", [(n, rpma(f"threads {n}", f"stream block 64 64 16 {n} {n} {{t}}"))
                            for n in (1, 2, 4, 8)]),
    ]),
}

# ---- what is wanted ------------------------------------------------------------------------

# Instructions of these calls are counted: {call: (what is posted, completions it finds)}
CALLS = {call: (call, 1) for call in ("read", "write", "flush", "send", "recv", "write_with_imm",
                                      "send_with_imm", "atomic_write")}
CALLS.update({"cq_get_wc": ("write", 1), "cq_get_wc (empty)": ("nothing", 0)})


@dataclasses.dataclass
class Goal:
    figure: str
    ours: tuple  # (series, metric)
    beside: tuple  # of these series the one that is best
    want: str  # "<=" or ">="
    bound: float  # of ours / beside; where there is nothing beside, of ours


def latency(figure, ours, beside, bound):
    return Goal(figure, (ours, "p50_ns"), (beside,), "<=", bound)


FABRIC_MESSAGES = ("libfabric tcp messages", "libfabric net messages")

GOALS = [
    latency("8-byte write + flush, polling", "write poll", "floor pingpong poll", 1.2),
    latency("8-byte write + flush, blocking", "write block", "floor pingpong block", 1.3),
    latency("8-byte read, polling", "read poll", "floor pingpong poll", 1.2),
    latency("8-byte read, blocking", "read block", "floor pingpong block", 1.3),
    Goal("1 MiB writes, CRC off", ("stream CRC off", "bytes_per_s"), ("floor stream",), ">=", 0.95),
    Goal("1 MiB writes, CRC on", ("stream CRC on", "bytes_per_s"), ("floor stream",), ">=", 0.80),
    Goal("CRC off : socket with reno", ("stream CRC off", "bytes_per_s"), ("floor stream reno",),
         ">=", 0.95),
    Goal("CRC on : socket with reno", ("stream CRC on", "bytes_per_s"), ("floor stream reno",),
         ">=", 0.80),
    Goal("64-byte writes", ("messages", "per_s"), (), ">=", 500000),
    Goal("64-byte writes : UCX put", ("messages", "per_s"), ("ucx messages",), ">=", 5),
    Goal("64-byte writes : libfabric", ("messages", "per_s"), FABRIC_MESSAGES, ">=", 3),
    Goal("4 KiB write + persistent flush", ("durable", "per_s"), ("floor durable",), ">=", 0.9),
    Goal("the same, one by one", ("durable one by one", "per_s"), ("floor durable",), ">=", 0.9),
    Goal("registration of 64 GiB", ("registration", "p50_ns"), (), "<=", 1e6),
    Goal("memory of that", ("registration", "each_bytes"), (), "<=", 4096),
    Goal("idle connection, initiator", ("idle", "initiator_bytes"), (), "<=", 20480),
    Goal("idle connection, target", ("idle", "target_bytes"), (), "<=", 20480),
    Goal("CPU % of {idle} idle, initiator", ("idle", "initiator_cpu_percent"), (), "<=", 0.1),
    Goal("CPU % of {idle} idle, target", ("idle", "target_cpu_percent"), (), "<=", 0.1),
    latency("write + flush among {idle} idle", "among idle", "alone", 1.1),
    Goal("64 connections : one", ("flows 64", "bytes_per_s"), ("flows 1",), ">=", 0.95),
    Goal("64 connections, spread", ("flows 64", "spread"), (), "<=", 0.2),
    Goal("connect, accept, close", ("setup", "per_s"), ("floor setup",), ">=", 0.5),
]
GOALS += [Goal(f"instructions of {name}", (f"instructions {name}", "each"),
               (f"librpma0 instructions {name}",), "<=", 0.9) for name in CALLS]
