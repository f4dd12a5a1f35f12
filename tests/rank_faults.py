#!/usr/bin/env python3
"""rank_faults: RETRACE COUNT KINDS HOSTS JOB ARGUMENTS..., from tests/rank_faults_test.sh and in its folder. Trains with
three ranks COUNT times, each time with one fault: its kind, its moment, and whom it hits follow from the number of the run.
Each training must end, without a step missing or made twice, as the run `whole` did; it must name the rank that was lost,
go on soon, and make at most one step again. Prints what that took."""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

import host_link

RETRACE, COUNT, KINDS, HOSTS, JOB = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(), sys.argv[4].split(), sys.argv[5:]
TIMEOUT = 2  # of ranks that give no sign of life, seconds
SOON, START = 5, 1  # seconds to go on, where the ranks take START to begin; a slower machine has longer
HANGS = 300
WHOLE_STEPS = open("whole/steps.jsonl", "rb").read()
STEPS = WHOLE_STEPS.count(b"\n")


def fingerprint(text):
    found = re.search(r'"fingerprint":"([0-9a-f]{16})"', text)
    return found and found[1]


def steps_logged(run):
    try:
        with open(f"{run}/steps.jsonl", "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


class Training:
    """One command, and when its standard error said what."""

    def __init__(self, run, profile, *more):
        self.run = run
        self.out = open("out", "w+")
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [RETRACE, "train", *JOB, "--profile", profile, "--timeout", str(TIMEOUT), "--restarts", "9", "--monitor", "json",
             "--json", "--threads", "1", "--out", run, *more], stdout=self.out, stderr=subprocess.PIPE, text=True)
        self.steps = []  # (when, iteration)
        self.starts = []  # (when, iteration) of a training that goes on
        self.text = []  # other lines
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            now = time.monotonic()
            with self.changed:
                if line.startswith('{"event":"step"'):
                    self.steps.append((now, int(re.search(r'"iteration":(\d+)', line)[1])))
                elif line.startswith('{"event":'):
                    event = json.loads(line)
                    if event["event"] in ("started", "resumed"):
                        self.starts.append((now, event.get("iteration", 0)))
                else:
                    self.text.append(line)
                self.changed.notify_all()

    def wait_for_step(self, iteration):
        with self.changed:
            self.changed.wait_for(lambda: self.steps and self.steps[-1][1] >= iteration or not self.runs(), HANGS)

    def runs(self):
        return self.process.poll() is None

    # The process of a rank; 0: there is none now.
    def process_of(self, rank):
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    command = file.read().split(b"\0")
                with open(f"/proc/{entry}/environ", "rb") as file:
                    environ = file.read().split(b"\0")
            except OSError:
                continue
            ours = command[0] == RETRACE.encode() and self.run.encode() in command
            if ours and b"OMPI_COMM_WORLD_RANK=%d" % rank in environ:
                return int(entry)
        return 0

    # The exit code; -1: it had to be ended.
    def end(self):
        try:
            code = self.process.wait(HANGS)
        except subprocess.TimeoutExpired:
            code = -1
            for rank in range(3):
                if process := self.process_of(rank):
                    os.kill(process, signal.SIGKILL)
            self.process.kill()
        self.reader.join(20)
        self.out.seek(0)
        self.told = self.out.read()
        self.said = "".join(self.text)
        return code


class Fault:
    """What happens in the training of this number."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.rank = draw.randrange(3)
        self.early = draw.random() < 0.15  # while the ranks begin
        self.iteration = draw.randrange(1, STEPS)
        self.pause = draw.uniform(0, 0.3 if self.early else 0.01)
        self.lasts = draw.choice([0.02, 0.1, 1000])  # seconds for which a disk is full
        on_hosts = bool(HOSTS) and "link" in KINDS
        self.memory = self.kind == "disk" and on_hosts and draw.random() < 0.3  # that of the host that keeps copies
        self.files = draw.random() < 0.25  # it goes on from checkpoints
        three = self.kind == "link" or self.memory or (on_hosts and self.kind != "disk" and draw.random() < 0.4)
        self.profile = "three" if three else "here"
        self.when = None  # it happened
        self.logged = 0

    def __str__(self):
        where = f"{'as they begin' if self.early else f'in step {self.iteration}'} + {self.pause * 1000:.0f} ms"
        what = f"{self.kind}{' of copies' if self.memory else ''} of rank {self.rank}"
        return f"{what} ({self.profile}{', checkpoints' if self.files else ''}) {where}"

    def happen(self, training):
        victim = 0
        if self.early:
            while not victim and training.runs() and time.monotonic() < training.begin + 20:
                victim = training.process_of(self.rank)
        else:
            training.wait_for_step(self.iteration)
            victim = training.process_of(self.rank)
        time.sleep(self.pause)
        if not training.runs():
            return
        if self.kind in ("kill", "stop"):
            if not victim:
                return
            try:
                os.kill(victim, signal.SIGKILL if self.kind == "kill" else signal.SIGSTOP)
            except ProcessLookupError:
                return
        elif self.kind == "link":
            subprocess.run(["ip", "link", "set", HOSTS[self.rank], "down"], check=True)
        else:
            self.fill(f"shm-{HOSTS[1]}" if self.memory else "disk")
        self.when = time.monotonic()
        self.logged = steps_logged(training.run)

    def fill(self, folder):
        self.filler = f"{folder}/filler"
        file = os.open(self.filler, os.O_WRONLY | os.O_CREAT)
        try:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        os.write(file, b"x" * size)
                except OSError:
                    pass
        finally:
            os.close(file)
        if self.lasts < 100:
            threading.Timer(self.lasts, self.undo).start()

    def undo(self):
        if self.kind == "link":
            host = HOSTS[self.rank]
            for process in subprocess.run(["ip", "netns", "pids", host], capture_output=True, text=True).stdout.split():
                try:
                    os.kill(int(process), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            subprocess.run(["ip", "link", "set", host, "up"], check=True)
            host_link.wait_until_up(host)
        elif self.kind == "disk" and self.when:
            try:
                os.remove(self.filler)
            except FileNotFoundError:
                pass


class Outcome:
    """What is asked of a training with a fault, and what is wrong."""

    def __init__(self, seed):
        self.fault = fault = Fault(seed)
        run = "disk/run" if fault.kind == "disk" else f"run-{seed}"
        self.wrong = []
        self.recovery = self.again = None
        self.lost = self.resumed = False
        often = ["--set", "training.snapshot_iterations=0", "--set", "training.checkpoint_iterations=2"] if fault.files else []
        self.training = training = Training(os.path.abspath(run), fault.profile, *often)
        fault.happen(training)
        code = training.end()
        fault.undo()
        if code == -1:
            self.wrong.append("it hangs")
        elif code == 74 and fault.kind == "disk" and not fault.memory:
            self.resumed = True
            self.expect("No space left on device" in training.said, "nothing is said of the disk")
            self.training = training = Training(os.path.abspath(run), fault.profile, "--continue", *often)
            code = training.end()
        self.expect(code == 0, f"exit code {code}")
        self.check_result(run)
        if self.fault.kind != "disk":
            self.check_loss()
        # A host that was lost keeps its copies until it starts again.
        subprocess.run(["rm", "-rf", run, *(f"shm-{host}/retrace-{os.geteuid()}" for host in HOSTS)], check=True)

    def expect(self, good, text):
        if not good:
            self.wrong.append(text)

    def check_result(self, run):
        told = self.training.told
        self.expect(fingerprint(told) == fingerprint(open("whole-out").read()), "another fingerprint")
        try:
            with open(f"{run}/steps.jsonl", "rb") as file:
                self.expect(file.read() == WHOLE_STEPS, "another steps.jsonl: a step is missing, there twice, or another one")
            left = [name for _, _, names in os.walk(run) for name in names if "partial" in name or "snapshot" in name]
            self.expect(not left, f"{left} is left")
        except OSError as error:
            self.wrong.append(str(error))

    def check_loss(self):
        fault, training = self.fault, self.training
        lost = re.search(r"the training was lost \(exit code \d+\)(.*)", training.said)
        self.lost = bool(lost)
        if not lost or fault.when is None:
            return
        ended = "after the end of its run" in lost[1]
        if not fault.early:
            self.expect(f"worker {fault.rank} " in lost[1], f"the lost rank is not named: {lost[0]}")
        after = [when for when, _ in training.steps if when > fault.when and when > self.went_on()]
        if not ended and after:
            self.recovery = after[0] - fault.when
            self.check_time()
        if fault.files:
            return
        # Steps that were made, and those from which it went on.
        seen = [iteration for _, iteration in training.steps]
        self.again = len(seen) - len(set(seen))
        begun = [iteration for when, iteration in training.starts if when > fault.when]
        if begun:
            self.expect(begun[-1] >= fault.logged - 1, f"goes on after step {begun[-1]}, {fault.logged} were logged")
        self.expect(self.again <= 1, f"{self.again} steps are made again")

    def check_time(self):
        fault, training = self.fault, self.training
        if fault.early:
            return
        start = training.steps[0][0] - training.begin
        most = SOON * max(1, start / START) + (0 if fault.kind == "kill" else TIMEOUT)
        self.expect(self.recovery <= most, f"on again after {self.recovery:.2f} s, more than {most:.2f}; it began in {start:.2f}")

    # When the training that went on said so.
    def went_on(self):
        return next((when for when, _ in self.training.starts if when > self.fault.when), float("inf"))


def main():
    outcomes, failures, begin = [], 0, time.monotonic()
    first = int(os.environ.get("RETRACE_RANK_FAULTS_FROM", "0"))
    for seed in range(first, first + COUNT):
        outcome = Outcome(seed)
        outcomes.append(outcome)
        if os.environ.get("RETRACE_RANK_FAULTS_SHOWN") or outcome.wrong:
            took = f", on again after {outcome.recovery:.2f} s" if outcome.recovery else ""
            print(f"{seed}: {outcome.fault}{took}", flush=True)
        if outcome.wrong:
            failures += 1
            print(f"FAILED: {'; '.join(outcome.wrong)}\n  standard output: {outcome.training.told[-600:]}\n"
                  f"  standard error:  {outcome.training.said[-2500:]}", file=sys.stderr, flush=True)
    for kind in KINDS:
        mine = [outcome for outcome in outcomes if outcome.fault.kind == kind]
        times = [outcome.recovery for outcome in mine if outcome.recovery]
        again = [outcome.again for outcome in mine if outcome.again is not None]
        text = f"rank_faults: {kind}: {len(mine)} faults, {sum(o.lost for o in mine)} lost"
        if times:
            text += (f"; on again after {statistics.median(times):.2f} s (median), {max(times):.2f} s (maximum); "
                     f"steps made again: {sum(again)}, at most {max(again)} at a time")
        if kind == "disk":
            text += f", {sum(o.resumed for o in mine)} ended with 74 and went on later"
        print(text, flush=True)
    print(f"rank_faults: {time.monotonic() - begin:.0f} s", flush=True)
    if COUNT >= 8 and not any(outcome.lost for outcome in outcomes):
        failures += 1
        print("FAILED: no fault reached a training", file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
