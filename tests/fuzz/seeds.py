#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Write the seed corpora of the fuzz targets.

usage: seeds.py DIR      makes DIR/fpdu, DIR/mpa, DIR/terminate, DIR/descriptor, DIR/conn
"""

import pathlib
import struct
import sys

MAGIC = bytes.fromhex("72d4b1096fc35ae8")
REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
ADDR, SIZE = 0x10000000, 32768  # of the region in fuzz_conn.c
LONG = 9000  # bytes, there, of the word in an input


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def fpdu(ulpdu):
    body = struct.pack(">H", len(ulpdu)) + ulpdu
    body += bytes(-len(body) % 4)
    return body + struct.pack("<I", crc32c(body))


def large(words, opcode, to, data, last=True, stag=b"STAG"):
    """A segment that is written with so many LONG in its payload."""
    short = tagged(opcode, to, data, last, stag)
    size = len(short) + words * (LONG - 4)
    return struct.pack(">H", size) + short + bytes(-(2 + size) % 4) + bytes(4)


def tagged(opcode, to, data, last=True, stag=b"STAG"):
    return struct.pack(">BB4sQ", 0xC1 if last else 0x81, 0x40 | opcode, stag, to) + data


def untagged(opcode, qn, msn, data, last=True, mo=0, inv=0):
    return struct.pack(">BBIIII", 0x41 if last else 0x01, 0x40 | opcode, inv, qn, msn, mo) + data


def read_req(msn, size, to):
    return untagged(1, 1, msn, struct.pack(">IQI4sQ", 7, 0x1000, size, b"STAG", to))


def atomic(msn, op, to):
    return untagged(10, 1, msn, struct.pack(">II4sQQQQQ", op, 9, b"STAG", to, 5, 2**64 - 1, 0, 0))


def flush(msn, length, to, flags):
    return untagged(12, 1, msn, struct.pack(">4sIQI", b"STAG", length, to, flags))


def terminate(control, rest=b""):
    return untagged(7, 2, 1, control + rest)


SINK = struct.pack(">I", 0x72706D61)

SEGMENTS = {
    "write": tagged(0, ADDR, b"hello"),
    "write-part": tagged(0, ADDR + 8, b"12345678", last=False),
    "write-none": tagged(0, 0, b"", stag=bytes(4)),
    "write-over": tagged(0, ADDR + SIZE - 6, b"0123456789"),
    "write-wrap": tagged(0, 2**64 - 2, b"0123456789"),
    "read": read_req(1, 64, ADDR),
    "read-all": read_req(1, SIZE, ADDR),
    "read-none": read_req(1, 0, 0),
    "magic": untagged(1, 1, 1, struct.pack(">IQII", 1, 0xFD000007, 0, 1) + MAGIC),
    "send": untagged(3, 0, 1, b"message"),
    "send-part": untagged(3, 0, 1, b"mess", last=False),
    "send-rest": untagged(3, 0, 1, b"age", mo=4),
    "send-2": untagged(5, 0, 2, b"second"),
    "send-inv": untagged(4, 0, 1, b"x", inv=7),
    "imm": untagged(8, 0, 1, bytes(4) + b"imm!"),
    "imm-send": untagged(8, 0, 1, b"SIMM" + b"imm!"),
    "cmp-swap": atomic(1, 2, ADDR + 64),
    "fetch-add": atomic(2, 0, ADDR + 64),
    "flush": flush(1, 64, ADDR, 1),
    "flush-visible": flush(2, 64, ADDR, 2),
    "read-resp": tagged(2, 0, bytes(16), stag=SINK),
    "read-resp-part": tagged(2, 0, bytes(8), last=False, stag=SINK),
    "read-resp-none": tagged(2, 0, b"", stag=SINK),
    "flush-resp": untagged(13, 3, 1, b""),
    "atomic-resp": untagged(11, 3, 1, struct.pack(">IQ", 0, 1)),
    "terminate": terminate(bytes.fromhex("20020000")),
    "terminate-siw": terminate(bytes.fromhex("11000300")),
    "terminate-write": terminate(bytes.fromhex("1100c0000013"), tagged(0, ADDR, b"")),
    "terminate-read": terminate(bytes.fromhex("0100e000002e"), read_req(1, 64, ADDR)),
}


def block(a=0x8010, b=0xC010):
    return struct.pack(">HH", a, b)


def trailer(role):
    body = MAGIC + struct.pack(">BBHHH", 1, role, 7, 1024, 0)
    return body + struct.pack("<I", crc32c(body))


def frame(key, flags, revision, data):
    return key + struct.pack(">BBH", flags, revision, len(data)) + data


FRAMES = {
    "request": frame(REQUEST, 0x50, 2, block()),
    "request-own": frame(REQUEST, 0x10, 2, block() + b"abc" + trailer(1)),
    "request-1": frame(REQUEST, 0x40, 1, b"abc"),
    "request-full": frame(REQUEST, 0x50, 2, block() + bytes(508)),
    "reply": frame(REPLY, 0x50, 2, block(0x8010, 0x8010)),
    "reply-own": frame(REPLY, 0x10, 2, block(0x8010, 0x8010) + trailer(2)),
    "reply-read": frame(REPLY, 0x10, 2, block(0x8010, 0x4010)),
    "reject": frame(REPLY, 0x70, 2, block(0, 0)),
    "markers": frame(REQUEST, 0xD0, 2, block()),
}

# Several segments in a row, from the peer's side, by how the connection is. What comes
# first is before the library's requests.
SESSIONS = {
    "writes": (0x0D, ["write", "write-part", "write", "read"]),
    "sends": (0x0D, ["send-part", "send-rest", "send-2"]),
    "waits": (0x01, ["send", "write", "read"]),
    "imm": (0x0D, ["imm-send", "send-2"]),
    "requests": (0x0D, ["cmp-swap", "fetch-add"]),
    "flushes": (0x0D, ["flush", "flush-visible"]),
    "answers": (0x11, ["write-none", "read-resp", "read-resp-none"]),
    "answers-own": (0x21, ["write-none", "flush-resp", "atomic-resp", "read-resp-none"]),
    "ends": (0x31, ["write-none", "send", "terminate-write"]),
    "stall": (0x10, ["write-none", "send", "write", "read-resp", "write"]),
    "stall-own": (0x11, ["write-none", "send", "read-resp", "write", "read-resp-none"]),
    "stall-flush": (0x21, ["write-none", "send", "flush-resp", "write", "atomic-resp"]),
    "stall-ends": (0x11, ["write-none", "send", "write", "terminate-read"]),
    "magic": (0x0C, ["magic", "read-resp-none", "flush"]),
}


def large_corpora():
    """Large segments of each kind, the first of which comes in two pieces."""
    answered = fpdu(SEGMENTS["read-resp"])
    streams = {
        "write": large(1, 0, ADDR + 1, b"LONG", last=False) + large(2, 0, ADDR, b"xLONGLONG"),
        "over": large(3, 0, ADDR + SIZE - 20000, b"LONGLONGLONG"),
        "other": large(2, 0, ADDR, b"LONGLONG", stag=b"GATS"),
        "answer": answered + large(2, 2, 0, b"LONGLONG" + bytes(2000), stag=SINK),
        "answers": answered
        + large(1, 2, 0, b"LONG" + bytes(1000), last=False, stag=SINK)
        + large(1, 2, 10000, b"LONG" + bytes(1000), stag=SINK),
        "nothing": large(2, 2, 0, b"LONGLONG", stag=SINK),
        "stall": fpdu(SEGMENTS["send"]) + large(2, 0, ADDR, b"LONGLONG"),
    }
    begin = fpdu(SEGMENTS["write-none"]) + large(2, 0, ADDR, b"LONGLONGab")
    for name, stream in streams.items():
        for how in (0x0C, 0x10, 0x11, 0x12, 0x90):
            for cut in (10, 40, 128, 200, 255):
                data = begin + stream + fpdu(SEGMENTS["read"])
                yield "conn", f"large-{name}-{how:02x}-{cut}", bytes([how, cut]) + data


def corpora():
    for name, segment in SEGMENTS.items():
        yield "fpdu", name, fpdu(segment)
        for how in (0x0C, 0x0D, 0x12, 0x1F, 0x21, 0x33, 0x93):
            yield "conn", f"{name}-{how:02x}", bytes([how, 128]) + fpdu(segment)
        if segment[1] & 0x0F == 7:
            yield "terminate", name, segment[18:]
        yield "terminate", "about-" + name, b"\x07" + segment
    for name, (how, names) in SESSIONS.items():
        stream = b"".join(fpdu(SEGMENTS[n]) for n in names)
        for bits in (0, 0x02, 0x80):
            for cut in (200, 30, 255):
                yield "conn", f"{name}-{bits:02x}-{cut}", bytes([how | bits, cut]) + stream
    stream = b"".join(fpdu(SEGMENTS[n]) for n in ("write-none", "send"))
    stream += fpdu(tagged(0, ADDR, bytes(2000))) * 2
    for how in (0x00, 0x01, 0x11, 0x12):
        yield "conn", f"flood-{how:02x}", bytes([how, 255]) + stream
    yield from large_corpora()
    for name, data in FRAMES.items():
        yield "mpa", name, data
        for how in (0x4D, 0x4F, 0x5F):
            yield "conn", f"{name}-{how:02x}", bytes([how, 100]) + data + fpdu(SEGMENTS["write"])
    yield "descriptor", "region", struct.pack("<QQIB", ADDR, 4096, 7, 0xFF)
    yield "descriptor", "wraps", struct.pack("<QQIB", 2**64 - 1, 2**64 - 1, 0, 0x30)
    yield "descriptor", "useless", struct.pack("<QQIB", ADDR, 0, 7, 0)
    yield "descriptor", "peer", b"\x01"


def main():
    for target, name, data in corpora():
        directory = pathlib.Path(sys.argv[1], target)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)


main()
