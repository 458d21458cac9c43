#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Run an example and compare what its programs write with its transcript.

usage: transcript.py PROGRAM_DIR OUTPUT

OUTPUT has command lines ("$ server ADDR PORT FILE") and behind each what the program
writes. A server is started and runs until what comes before the next server has
ended; the others run one after the other, one with a "&" until the last server has
ended. "kill -9 server" waits until the server has written its lines; the next one is
started at its port. "DIR/client" is the client of another example. ADDR, PORT and
FILE are filled in.
"""

import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import tempfile

PATIENCE = 60  # seconds; nothing that is right comes near


def transcript(path):
    """[(words of the command, lines it writes)]"""
    commands = []
    for line in path.read_text().splitlines():
        if line.startswith("$ "):
            commands.append((shlex.split(line[2:]), []))
        else:
            commands[-1][1].append(line)
    return commands


def started(command):
    """A server that is ready, and what it has written so far; or None when it ended."""
    # The library is told nothing it would tell on the terminal: the log goes to stderr.
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seen = []
    for line in server.stdout:
        seen.append(line.rstrip("\n"))
        if line.endswith(": ready\n"):
            return server, seen
    server.wait()
    return None, seen


class Run:
    def __init__(self, programs, example, work):
        self.programs = programs
        self.example = example
        self.values = {"ADDR": os.environ.get("RPMA_EXAMPLES_ADDR", "127.0.0.1"),
                       "FILE": os.path.join(work, "file")}
        self.server = None
        self.behind = []
        self.good = True

    def command(self, words):
        name = words[0] if "/" in words[0] else f"{self.example}/{words[0]}"
        program = os.path.join(self.programs, name.replace("/", "-"))
        return [program] + [self.values.get(word, word) for word in words[1:]]

    def compare(self, words, expected, lines, status):
        if lines == expected and status == 0:
            return
        self.good = False
        print(f"{' '.join(words)}: exit status {status}; expected:", *expected, "got:", *lines,
              sep="\n  ")

    def start(self, words, expected):
        # The API cannot tell which port it picked for "0". Below those that the system
        # gives to others most are free. Who is there already knows the port.
        for _ in range(20):
            if not self.behind:
                self.values["PORT"] = str(random.randrange(15000, 30000))
            server, seen = started(self.command(words))
            if server:
                self.server = (server, seen, words, expected)
                return
        sys.exit(f"{words[0]} does not start")

    def finish(self):
        if self.server:
            server, seen, words, expected = self.server
            self.server = None
            rest, _ = server.communicate(timeout=PATIENCE)
            self.compare(words, expected, seen + rest.splitlines(), server.returncode)

    def kill(self):
        server, seen, words, expected = self.server
        self.server = None
        while len(seen) < len(expected):
            seen.append(server.stdout.readline().rstrip("\n"))
        server.kill()
        rest, _ = server.communicate(timeout=PATIENCE)
        self.compare(words, expected, seen + rest.splitlines(),
                     server.returncode + signal.SIGKILL)

    def run_behind(self, words, expected):
        client = subprocess.Popen(self.command(words), stdout=subprocess.PIPE, text=True)
        self.behind.append((client, words, expected))

    def finish_behind(self):
        for client, words, expected in self.behind:
            lines, _ = client.communicate(timeout=PATIENCE)
            self.compare(words, expected, lines.splitlines(), client.returncode)
        self.behind = []

    def run(self, words, expected):
        if words[0] == "kill":
            self.kill()
            return
        if words[-1] == "&":
            self.run_behind(words[:-1], expected)
            return
        if words[0].endswith("server"):
            self.finish()
            self.start(words, expected)
            return
        done = subprocess.run(self.command(words), stdout=subprocess.PIPE, text=True,
                              timeout=PATIENCE)
        self.compare(words, expected, done.stdout.splitlines(), done.returncode)

    def stop(self):
        for program in ([self.server] if self.server else []) + self.behind:
            program[0].kill()
            program[0].wait()


def main():
    programs, output = sys.argv[1], pathlib.Path(sys.argv[2])
    os.environ.setdefault("RPMA_PROVIDER", "tcp")
    with tempfile.TemporaryDirectory() as work:
        run = Run(programs, output.parent.name, work)
        try:
            for words, expected in transcript(output):
                run.run(words, expected)
            run.finish()
            run.finish_behind()
        finally:
            run.stop()
    return not run.good


if __name__ == "__main__":
    sys.exit(main())
