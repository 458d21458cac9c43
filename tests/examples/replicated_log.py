#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""The replicated log: what it keeps when replicas, writers or everything die.

usage: replicated_log.py PROGRAM_DIR

RPMA_EXAMPLES_KILLS: how often everything is killed (default 100)
RPMA_EXAMPLES_SEED: of the random choices; printed, so that they can be made again
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True  # nothing is left behind in the source tree
from transcript import PATIENCE, started  # noqa: E402

ADDR = os.environ.get("RPMA_EXAMPLES_ADDR", "127.0.0.1")
KILLS = int(os.environ.get("RPMA_EXAMPLES_KILLS", "100"))


def program(name):
    return os.path.join(sys.argv[1], "replicated-log-" + name)


def until(condition, what):
    """Wait for what has to happen; how long it takes does not matter."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.01)


class Replica:
    def __init__(self, path):
        self.path = path
        self.port = None
        self.process = None

    def start(self):
        # At the old port again when there is one: the writers know it.
        def try_to():
            port = self.port or random.SystemRandom().randrange(15000, 30000)
            self.process, _ = started([program("server"), ADDR, str(port), self.path])
            if self.process:
                self.port = port
            return self.process
        until(try_to, "a replica to start")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Writer:
    """A writer, what it was given and what it has said."""

    alive = []

    def __init__(self, replicas):
        places = [word for r in replicas for word in (ADDR, str(r.port))]
        self.process = subprocess.Popen([program("writer"), *places], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        Writer.alive.append(self)
        self.given = []
        self.found = None
        self.durable = 0
        self.errors = ""
        self.commits = 0
        self.listeners = [threading.Thread(target=self.listen),
                          threading.Thread(target=self.listen_to_errors)]
        for thread in self.listeners:
            thread.start()

    def listen(self):
        for line in self.process.stdout:
            if not line.endswith("\n"):
                break  # cut off by the kill
            word, number = line.split()
            self.durable = int(number)
            if word == "found":
                self.found = self.durable
            else:
                self.commits += 1

    def listen_to_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def give(self, lines):
        """False: it is gone."""
        self.given += lines
        try:
            self.process.stdin.write("".join(line + "\n" for line in lines))
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def wait_durable(self, number):
        until(lambda: self.durable >= number, f"record {number} to be durable: {self.errors}")

    def end(self, sig=None):
        """Its exit status."""
        Writer.alive.remove(self)
        if sig:
            self.process.send_signal(sig)
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        status = self.process.wait(PATIENCE)
        for thread in self.listeners:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return status


def recovered(replicas):
    done = subprocess.run([program("check"), *(r.path for r in replicas)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def holds(replica):
    """What it has right now. It may be changed while we look: then nothing."""
    try:
        return recovered([replica])
    except AssertionError:
        return []


def read_up_to(replica, count):
    return subprocess.run([program("reader"), ADDR, str(replica.port), str(count)], text=True,
                          check=True, stdout=subprocess.PIPE, timeout=PATIENCE)\
        .stdout.splitlines()


def lines_of(run, first, count):
    return [f"{run}:{i} " + "x" * (i * 7 % 50) for i in range(first, first + count)]


# ---- the cases; each begins with three empty replicas that run -----------------


def appended_lines_are_read_and_recovered(replicas):
    lines = lines_of("a", 1, 500)
    writer = Writer(replicas)
    writer.give(lines)
    writer.wait_durable(500)
    assert writer.end() == 0
    assert writer.found == 0
    assert recovered(replicas[:2]) == lines
    assert read_up_to(max(replicas, key=lambda r: len(holds(r))), 500) == lines


def a_reader_follows_the_tail(replicas):
    lines = lines_of("a", 1, 300)
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(read_up_to(replicas[0], 300)))
    writer = Writer(replicas)
    writer.give(lines[:1])
    reader.start()
    for i in range(1, 300):
        writer.give(lines[i:i + 1])
    until(lambda: len(seen) == 300, "the reader to see all")
    reader.join()
    assert writer.end() == 0
    assert seen == lines


def a_dead_replica_is_dropped_and_catches_up(replicas):
    lines = lines_of("a", 1, 400)
    writer = Writer(replicas)
    writer.give(lines[:100])
    writer.wait_durable(100)
    replicas[2].kill()
    writer.give(lines[100:300])
    writer.wait_durable(300)
    replicas[2].start()
    until(lambda: holds(replicas[2]) == lines[:300], "the replica to catch up")
    # Now another one may die.
    replicas[0].kill()
    writer.give(lines[300:])
    writer.wait_durable(400)
    assert writer.end() == 0
    assert "dropped" in writer.errors
    assert recovered(replicas[1:]) == lines


def without_a_majority_nothing_is_durable(replicas):
    writer = Writer(replicas)
    writer.give(["a"])
    writer.wait_durable(1)
    replicas[0].kill()
    replicas[1].kill()
    until(lambda: writer.errors.count("dropped") == 2, "both to be missed")
    writer.give(["b"])
    until(lambda: holds(replicas[2]) == ["a", "b"], "the last one to have it")
    assert writer.durable == 1
    replicas[1].start()
    writer.wait_durable(2)
    assert writer.end() == 0
    assert recovered(replicas[1:]) == ["a", "b"]


def leave_alone(replicas, lines):
    """Two replicas have ["a"]; the last one has the lines behind it, and is dead."""
    writer = Writer(replicas)
    writer.give(["a"])
    until(lambda: all(holds(r) == ["a"] for r in replicas), "all to have it")
    replicas[0].kill()
    replicas[1].kill()
    until(lambda: writer.errors.count("dropped") == 2, "both to be missed")
    writer.give(lines)
    until(lambda: holds(replicas[2]) == ["a", *lines], "the last one to have it")
    assert writer.durable == 1
    writer.end(signal.SIGKILL)
    replicas[2].kill()
    replicas[0].start()
    replicas[1].start()


def a_replica_that_is_too_long_is_cut(replicas):
    leave_alone(replicas, ["never acknowledged", "nor this"])
    writer = Writer(replicas)
    until(lambda: writer.found == 1, "the writer")
    replicas[2].start()
    until(lambda: holds(replicas[2]) == ["a"], "the third to be cut")
    assert writer.end() == 0
    assert recovered(replicas) == ["a"]


def a_replica_that_went_another_way_is_brought_back(replicas):
    leave_alone(replicas, ["lost 1", "lost 2", "lost 3"])
    for line in "bc":  # of two writers, so that the epoch of the third is unknown
        writer = Writer(replicas)
        writer.give(["kept " + line])
        until(lambda: writer.durable > 1 and writer.commits, "it to be durable")
        assert writer.end() == 0
    replicas[2].start()
    writer = Writer(replicas)
    until(lambda: holds(replicas[2]) == ["a", "kept b", "kept c"], "the third to agree")
    assert writer.end() == 0
    assert recovered(replicas) == ["a", "kept b", "kept c"]


def a_new_writer_puts_an_end_to_the_old(replicas):
    old = Writer(replicas)
    old.give(["old"])
    old.wait_durable(1)
    new = Writer(replicas)
    until(lambda: new.found == 1, "the new one to take over")
    new.give(["new"])
    new.wait_durable(2)
    old.give(["too late"])
    until(lambda: old.process.poll() is not None, "the old one to give up")
    assert old.end() == 1
    assert "Stale" in old.errors, old.errors
    # The old one may have got hold of a replica for a moment.
    new.give(["newer"])
    new.wait_durable(3)
    assert new.end() == 0
    assert recovered(replicas) == ["old", "new", "newer"]


# ---- everything is killed, again and again --------------------------------------


class Crashes:
    def __init__(self, replicas, dice):
        self.replicas = replicas
        self.dice = dice
        self.truth = []		# what has been acknowledged
        self.ever = set()	# all lines that a writer was given

    def disturb(self):
        """One replica dies and comes back."""
        replica = self.dice.choice(self.replicas)
        replica.kill()
        if self.dice.random() < 0.7:
            replica.start()

    def work(self, writer, run):
        """Give lines until a random moment."""
        goal = self.dice.choice([0, 1, 3, 10, 30])
        disturb_at = self.dice.randrange(0, 40)
        moment = time.monotonic() + self.dice.uniform(0, 0.1) + (PATIENCE if goal else 0)
        burst = 0
        while time.monotonic() < moment and (writer.commits < goal or not goal) and burst < 400:
            lines = lines_of(run, len(writer.given), self.dice.randrange(1, 10))
            self.ever.update(lines)
            if not writer.give(lines):
                break
            if burst == disturb_at:
                self.disturb()
                goal = min(goal, writer.commits + 2) if sum(
                    r.process is not None for r in self.replicas) > 1 else 0
                moment = min(moment, time.monotonic() + 0.3)
            burst += 1
            time.sleep(self.dice.uniform(0, 0.002))
        time.sleep(self.dice.uniform(0, 0.005))

    def verify(self, writer):
        log = recovered(self.dice.sample(self.replicas, 2))
        old = len(self.truth)
        assert log[:old] == self.truth, "what was acknowledged earlier has changed"
        assert len(log) >= writer.durable, f"{writer.durable} acknowledged, {len(log)} found"
        if writer.found is None:
            assert set(log[old:]) <= self.ever
            return
        assert writer.found >= old
        assert set(log[old:writer.found]) <= self.ever
        assert log[writer.found:] == writer.given[:len(log) - writer.found]
        self.truth = log[:writer.durable]

    def round(self, run):
        # Sometimes one replica is away from the start.
        for replica in self.dice.sample(self.replicas, self.dice.choice([2, 3, 3])):
            if not replica.process:
                replica.start()
        writer = Writer(self.replicas)
        self.work(writer, run)
        victims = [lambda r=r: r.kill() for r in self.replicas]
        victims.append(lambda: writer.process.kill())
        self.dice.shuffle(victims)
        for kill in victims:
            kill()
        status = writer.end(signal.SIGKILL)
        assert status == -signal.SIGKILL, f"the writer ended by itself: {writer.errors}"
        self.verify(writer)


def any_majority_has_what_was_acknowledged(replicas):
    seed = os.environ.get("RPMA_EXAMPLES_SEED") or str(random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}, {KILLS} kills", flush=True)
    crashes = Crashes(replicas, random.Random(seed))
    for replica in replicas:
        replica.kill()
    for run in range(KILLS):
        try:
            crashes.round(run)
        except AssertionError as e:
            raise AssertionError(f"in round {run}: {e}") from e
    print(f"{len(crashes.truth)} records were acknowledged", flush=True)
    # In the end everybody has the same.
    for replica in replicas:
        replica.start()
    writer = Writer(replicas)
    writer.give(["the end"])
    until(lambda: writer.found is not None, "the last writer")
    writer.wait_durable(writer.found + 1)
    logs = []

    def agreed():
        logs[:] = [holds(r) for r in replicas]
        return logs[0] == logs[1] == logs[2] and logs[0][-1:] == ["the end"]
    until(agreed, "all to agree")
    assert writer.end() == 0
    assert logs[0][:len(crashes.truth)] == crashes.truth


CASES = [appended_lines_are_read_and_recovered, a_reader_follows_the_tail,
         a_dead_replica_is_dropped_and_catches_up, without_a_majority_nothing_is_durable,
         a_replica_that_is_too_long_is_cut,
         a_replica_that_went_another_way_is_brought_back, a_new_writer_puts_an_end_to_the_old,
         any_majority_has_what_was_acknowledged]


def run_case(case):
    with tempfile.TemporaryDirectory() as work:
        replicas = [Replica(os.path.join(work, f"replica{i}")) for i in range(3)]
        try:
            for replica in replicas:
                replica.start()
            case(replicas)
        finally:
            for writer in Writer.alive[:]:
                writer.end(signal.SIGKILL)
            for replica in replicas:
                replica.kill()


def main():
    os.environ["RPMA_PROVIDER"] = "tcp"
    failed = 0
    for case in CASES:
        print(f"[ RUN      ] {case.__name__}", flush=True)
        try:
            run_case(case)
            print(f"[       OK ] {case.__name__}", flush=True)
        except (AssertionError, subprocess.SubprocessError):
            failed += 1
            traceback.print_exc(file=sys.stdout)
            print(f"[  FAILED  ] {case.__name__}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
