#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""A real session, captured on the loopback, as an independent dissector sees it.

usage: judge.py SESSION_PROGRAM

SESSION_PROGRAM does every operation once, in a known order. tshark decodes what went
over the wire, and this script compares: no malformed frame, every CRC good, the
messages that were to be expected, their numbers and offsets without a gap.

Zero-length Reads do not count as messages here: two peers of this library use them as
acknowledgements, as many as it takes.
"""

import collections
import ctypes
import os
import pathlib
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

TSHARK = ["tshark", "-n", "--disable-protocol", "rpcordma", "--disable-protocol", "smb_direct"]
LENGTHS = [0, 1, 5, 1000, 200000]
WRITE, READ, RESPONSE, SEND, IMM, ATOMIC, ATOMIC_RESP, FLUSH, FLUSH_RESP = (
    0, 1, 2, 3, 8, 0xA, 0xB, 0xC, 0xD)


def skip(reason):
    print(reason)
    sys.exit(77)


# ---- capturing -------------------------------------------------------------------------


class Capture:
    """Frames of one TCP port on the loopback, each once, into a pcap file."""

    def __init__(self):
        try:
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        except PermissionError:
            skip("capturing is not permitted here (no CAP_NET_RAW)")
        # Large enough for the whole of it, if we may.
        for option in (33, socket.SO_RCVBUF):  # 33: SO_RCVBUFFORCE
            try:
                self.sock.setsockopt(socket.SOL_SOCKET, option, 1 << 26)
                break
            except PermissionError:
                pass
        self.sock.bind(("lo", 0))
        self.sock.setblocking(False)
        self.frames = []

    def filter(self, port):
        """From here on only IPv4, TCP, to or from this port. (SO_ATTACH_FILTER)"""
        code = b"".join(struct.pack("HBBI", *instruction) for instruction in (
            (0x28, 0, 0, 12), (0x15, 0, 8, 0x0800),  # the type of the frame
            (0x30, 0, 0, 23), (0x15, 0, 6, 6),  # the protocol
            (0xB1, 0, 0, 14),  # X: length of the IP header
            (0x48, 0, 0, 14), (0x15, 2, 0, port),  # source
            (0x48, 0, 0, 16), (0x15, 0, 1, port),  # destination
            (0x06, 0, 0, 1 << 18), (0x06, 0, 0, 0)))
        buffer = ctypes.create_string_buffer(code)
        self.sock.setsockopt(socket.SOL_SOCKET, 26,
                             struct.pack("HP", len(code) // 8, ctypes.addressof(buffer)))
        self.take()
        self.frames = []
        self.dropped()  # counts anew

    def take(self):
        """All that is there now. (A loopback shows each frame going out and coming in.)"""
        while True:
            try:
                frame, address = self.sock.recvfrom(1 << 18)
            except BlockingIOError:
                return
            if address[2] == socket.PACKET_OUTGOING:
                self.frames.append(frame)

    def dropped(self):
        return struct.unpack("II", self.sock.getsockopt(263, 6, 8))[1]  # PACKET_STATISTICS

    def write(self, path):
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1))
            for i, frame in enumerate(self.frames):
                file.write(struct.pack("<IIII", i, 0, len(frame), len(frame)) + frame)


def run_session(program, path):
    """Capture one run; returns the port, and the STags of client and server."""
    capture = Capture()
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env={**os.environ, "RPMA_TEST_ADDR": "127.0.0.1"}) as session:
        port = int(session.stdout.readline())
        capture.filter(port)
        session.stdin.write(b"\n")
        session.stdin.close()
        said = b""
        while True:
            ready, _, _ = select.select([session.stdout, capture.sock], [], [])
            capture.take()
            if session.stdout in ready:
                chunk = os.read(session.stdout.fileno(), 4096)
                if not chunk:
                    break
                said += chunk
    capture.take()
    assert session.returncode == 0, "the session failed"
    if capture.dropped():
        skip("the capture lost frames: too small a buffer")
    capture.write(path)
    return port, [int(word, 16) for word in said.split()]


# ---- what the dissector says --------------------------------------------------------------

# The fields of an FPDU in the text of tshark -V
FIELDS = {
    "opcode": r"OpCode: .*\(0x(?P<hex>[0-9a-f]+)\)",
    "last": r"Last flag: (?P<flag>True|False)",
    "stag": r"\(Data Sink\) Steering Tag: 0x(?P<hex>[0-9a-f]+)",
    "to": r"\(Data Sink\) Tagged offset: 0x(?P<hex>[0-9a-f]+)",
    "qn": r"Queue number: (?P<dec>\d+)",
    "msn": r"Message sequence number: (?P<dec>\d+)",
    "mo": r"Message offset: (?P<dec>\d+)",
    "size": r"RDMA Read Message Size: (?P<dec>\d+)",
    "sink_stag": r"Data Sink STag: 0x(?P<hex>[0-9a-f]+)",
    "sink_to": r"Data Sink Tagged Offset: 0x(?P<hex>[0-9a-f]+)",
}


def value(match):
    groups = match.groupdict()
    if groups.get("hex"):
        return int(groups["hex"], 16)
    return int(groups["dec"]) if groups.get("dec") else groups["flag"] == "True"


def dissect(path, port):
    """The FPDUs of each direction, {True: from the client, False: from the server}."""
    text = subprocess.run(
        TSHARK + ["-r", path, "-V", "-O", "iwarp_mpa,iwarp_ddp_rdmap"],
        check=True, capture_output=True, text=True).stdout
    for trouble in ("Bad CRC32", "Malformed", "bad length", "Reassembly error"):
        at = text.find(trouble)
        assert at < 0, f"tshark says: ...{text[max(0, at - 1500):at + 300]}"
    found = {True: [], False: []}
    fpdu, source = {}, None
    for line in text.splitlines():
        if match := re.search(r"Src Port: (\d+)", line):
            source = int(match[1])
        elif match := re.search(r"ULPDU length: (\d+)", line):
            fpdu = {"length": int(match[1])}
            found[source != port].append(fpdu)
        elif fpdu:
            for name, pattern in FIELDS.items():
                if match := re.search(pattern, line):
                    fpdu[name] = value(match)
    total = len(found[True]) + len(found[False])
    assert text.count("Good CRC32") == total > 0, "not every FPDU has a good CRC"
    return found


def messages(fpdus):
    """Segments joined to messages, their offsets and numbers checked."""
    expected_msn = collections.Counter()
    whole = None
    for f in fpdus:
        tagged = "stag" in f
        size = f["length"] - (14 if tagged else 18)
        if whole is None:
            whole = {**f, "bytes": 0}
            if not tagged:
                expected_msn[f["qn"]] += 1
        assert f["opcode"] == whole["opcode"], "another message between segments"
        if tagged:
            assert f["stag"] == whole["stag"] and f["to"] == whole["to"] + whole["bytes"], f
        else:
            assert f["qn"] == whole["qn"] and f["msn"] == expected_msn[f["qn"]], f
            assert f["mo"] == whole["bytes"], f
        whole["bytes"] += size
        if f["last"]:
            yield whole
            whole = None
    assert whole is None, "a message without its last segment"


def is_acknowledgement(m):
    return (m["opcode"] == READ and m["size"] == 0) or \
        (m["opcode"] == RESPONSE and m["bytes"] == 0)


# ---- what was to be expected ------------------------------------------------------------------


def expected(mine):
    """What one side sends: (opcode, payload bytes) in order; mine: it is its turn to ask."""
    for length in LENGTHS:
        if mine:
            yield from [(READ, 28)] if length else []
            yield from [(WRITE, length), (WRITE, length), (IMM, 8)]
            yield from [(ATOMIC, 52)] if length == 0 else []
            yield from [(FLUSH, 20), (FLUSH, 20), (SEND, length), (IMM, 8), (SEND, length)]
        else:
            yield from [(RESPONSE, length)] if length else []
            yield from [(ATOMIC_RESP, 12)] if length == 0 else []
            yield from [(FLUSH_RESP, 0), (FLUSH_RESP, 0)]


def check_direction(name, found, want, stag):
    got = [(m["opcode"], m["bytes"]) for m in found if not is_acknowledgement(m)]
    for i, (one, other) in enumerate(zip(got + [None], want + [None])):
        assert one == other, f"{name}: message {i} is {one}, expected {other}"
    for m in found:
        assert m["opcode"] != WRITE or m["bytes"] == 0 or m["stag"] == stag, m


def check_sinks(requests, responses):
    """Every answer names the sink of its request."""
    sinks = [(m["sink_stag"], m["sink_to"]) for m in requests if m["opcode"] == READ]
    named = [(m["stag"], m["to"]) for m in responses if m["opcode"] == RESPONSE]
    assert sinks == named, f"sinks asked for: {sinks}, named: {named}"


def main():
    if not shutil.which("tshark"):
        skip("no tshark here")
    with tempfile.TemporaryDirectory() as directory:
        path = str(pathlib.Path(directory, "session.pcap"))
        port, stags = run_session(sys.argv[1], path)
        fpdus = dissect(path, port)
    client, server = list(messages(fpdus[True])), list(messages(fpdus[False]))
    turn = list(expected(True)), list(expected(False))
    check_direction("client", client, [(WRITE, 0), *turn[0], *turn[1]], stags[1])
    check_direction("server", server, [*turn[1], *turn[0]], stags[0])
    check_sinks(client, server)
    check_sinks(server, client)
    print(f"{len(fpdus[True]) + len(fpdus[False])} FPDUs, {len(client) + len(server)} messages:"
          " every CRC, number, offset, opcode as it should be")


main()
