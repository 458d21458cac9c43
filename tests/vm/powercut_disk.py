# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""A disk whose write cache is lost with the power.

Were the guest's disk a file, the kernel of the host would keep what QEMU had written
when it died, flushed or not, and a guest that forgets to flush its disk would never
be found out. This one is served to QEMU by the NBD protocol, in its old and short
form. Blocks that are written wait in a cache, the guest's FLUSH brings them to the
file, and when the power goes each of them comes through or does not, by chance, as
with a real disk that writes in an order of its own.
"""

import os
import socket
import struct
import threading

BLOCK = 4096  # is written as a whole or not at all

GREETING = struct.Struct(">8sQQHH124x")
REQUEST = struct.Struct(">IHHQQI")
REPLY = struct.Struct(">IIQ")
READ, WRITE, DISCONNECT, FLUSH = range(4)
HAS_FLAGS, SEND_FLUSH = 1, 4
EINVAL = 22


class Disk:
    def __init__(self, directory, size, dice):
        self.size = size
        self.dice = dice
        self.file = os.open(os.path.join(directory, "disk"), os.O_RDWR | os.O_CREAT)
        os.truncate(self.file, size)
        self.cache = {}  # number of a block: its bytes, which the file has not
        self.flushes = 0
        self.lost = self.kept = 0  # blocks that were in the cache at power cuts
        self.path = os.path.join(directory, "disk.socket")
        self.listener = None

    def attach(self):
        """Serve the next guest."""
        self.listener = socket.create_server(self.path, family=socket.AF_UNIX)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def detach(self):
        """The guest has ended, or never begun."""
        if self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.thread.join()
            self.listener.close()
            self.listener = None
            os.unlink(self.path)

    def serve(self):
        try:
            connection = self.listener.accept()[0]
        except OSError:
            return
        flags = HAS_FLAGS | SEND_FLUSH
        magic = 0x00420281861253
        connection.sendall(GREETING.pack(b"NBDMAGIC", magic, self.size, 0, flags))
        with connection, connection.makefile("rb") as stream:
            try:
                while self.answer(connection, stream):
                    pass
            except (OSError, EOFError):
                self.cut()

    def answer(self, connection, stream):
        """False: the guest has gone in peace."""
        _, _, kind, handle, at, length = REQUEST.unpack(exactly(stream, REQUEST.size))
        error, data = 0, b""
        if kind == DISCONNECT:
            self.flush()
            return False
        if kind == READ:
            data = self.read(at, length)
        elif kind == WRITE:
            self.write(at, exactly(stream, length))
        elif kind == FLUSH:
            self.flush()
            self.flushes += 1
        else:
            error = EINVAL
        connection.sendall(REPLY.pack(0x67446698, error, handle) + data)
        return True

    def block(self, number):
        return self.cache.get(number) or os.pread(self.file, BLOCK, number * BLOCK)

    def read(self, at, length):
        first, last = at // BLOCK, (at + length - 1) // BLOCK
        data = b"".join(self.block(number) for number in range(first, last + 1))
        return data[at - first * BLOCK:][:length]

    def write(self, at, data):
        first, last = at // BLOCK, (at + len(data) - 1) // BLOCK
        head = self.block(first)[:at % BLOCK]
        tail = self.block(last)[(at + len(data) - 1) % BLOCK + 1:]
        data = head + data + tail
        for number in range(first, last + 1):
            self.cache[number] = data[(number - first) * BLOCK:][:BLOCK]

    def flush(self):
        for number, data in self.cache.items():
            os.pwrite(self.file, data, number * BLOCK)
        self.cache.clear()

    def cut(self):
        chance = self.dice.choice([0, 0.5, 0.9])
        before = len(self.cache)
        self.cache = {n: data for n, data in self.cache.items() if self.dice.random() < chance}
        self.kept += len(self.cache)
        self.lost += before - len(self.cache)
        self.flush()


def exactly(stream, length):
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data
