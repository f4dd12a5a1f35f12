#!/usr/bin/env python3
"""Measures whole steps and fixed costs: measure.py BUILD_FOLDER writes bench.json and bench-machine.json there.

Programs that speak the line protocol of bench/models.cpp run one step, or a few, in turn (A B A B ...), each sample in
between two probes of the machine on as many threads. Samples with a probe below 0.8 of the best are dropped and counted.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = {"a digits": "digits", "b peaks": "peaks", "c cifar10": "cifar10", "d autoencoder": "autoencoder"}
PHASES = ("train", "predict")
LEAST_SHARE = 0.8     # of the best probe
LEAST_SAMPLES, MOST_SAMPLES = 9, 41  # kept, of one workload and phase
SECONDS, MOST_SECONDS = 8, 30        # the longer while there are too few samples
SAMPLE_SECONDS = 0.01


def quantile(values, p):
    return sorted(values)[round(p * (len(values) - 1))]


class Program:
    """A process that makes steps on request."""

    def __init__(self, command, threads):
        self.threads = threads
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit(f"bench: {' '.join(command)} did not start")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise SystemExit(f"bench: no answer to \"{line}\": {self.process.args}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Contestant:
    """A program, and the one whose probes guard its samples."""

    def __init__(self, program, guard):
        self.program, self.guard = program, guard
        self.samples = []  # (seconds, lower and mean probe)
        step = min(float(program.ask("run 1")) for _ in range(3))
        self.steps = max(1, round(SAMPLE_SECONDS / step))

    def calibrate(self, best):
        """Half a second of probes, to meet a moment without neighbours."""
        start = time.monotonic()
        while self.guard.threads not in best or time.monotonic() - start < 0.5:
            self.probe(best)

    def probe(self, best):
        value = float(self.guard.ask("probe"))
        best[self.guard.threads] = max(value, best.get(self.guard.threads, 0))
        return value

    def sample(self, best):
        before = self.probe(best)
        seconds = float(self.program.ask(f"run {self.steps}")) / self.steps
        after = self.probe(best)
        self.samples.append((seconds, min(before, after), (before + after) / 2))

    def kept(self, best):
        """(seconds, probe) of the samples that count."""
        return [(seconds, mean) for seconds, least, mean in self.samples if least >= LEAST_SHARE * best[self.guard.threads]]


def ours(build, workload, phase):
    """Name to contestant; another framework's program is one more of them, guarded by the first."""
    found = {}
    for name, speed, threads in (("default", "default", 2), ("plain", "plain", 2), ("one thread", "default", 1)):
        program = Program([f"{build}/bench/models", WORKLOADS[workload], phase, speed, str(threads)], threads)
        found[name] = Contestant(program, program)
    return found


def row_of(workload, phase, contestants, best):
    kept = {name: contestant.kept(best) for name, contestant in contestants.items()}
    seconds = {name: [sample[0] for sample in samples] for name, samples in kept.items()}
    median = {name: quantile(values, 0.5) if values else None for name, values in seconds.items()}

    def floor(name):
        """Its floor at the peak that the probes around its samples saw."""
        if not kept[name]:
            return {"floor_s": None}
        return json.loads(contestants[name].program.ask(f"floor {quantile([mean for _, mean in kept[name]], 0.5)}"))

    program = contestants["default"].program
    row = {"workload": workload, "phase": phase, "threads": program.threads, "samples": len(kept["default"]),
           "dropped": len(contestants["default"].samples) - len(kept["default"])}
    if not kept["default"]:
        return row
    memory = float(program.ask("memory"))  # before the floor, which takes memory of its own
    ours = floor("default")
    return row | {
        "ours_s": median["default"], "floor_s": ours["floor_s"], "peers": {}, "ratio_to_best_peer": None,
        "ratio_to_floor": median["default"] / ours["floor_s"], "peak_mib": memory, "best_peer_peak_mib": None,
        "p10_s": quantile(seconds["default"], 0.1), "p90_s": quantile(seconds["default"], 0.9),
        "plain_s": median["plain"], "one_thread_s": median["one thread"],
        "one_thread_floor_s": floor("one thread")["floor_s"],
        "operations": ours["operations"], "bytes": ours["bytes"], "kernel_calls": ours["kernel_calls"],
    }


def measure(build, workload, phase, best):
    contestants = ours(build, workload, phase)
    for contestant in contestants.values():
        if contestant.guard.threads not in best:
            contestant.calibrate(best)
    start = time.monotonic()
    while (kept := min(len(one.kept(best)) for one in contestants.values())) < MOST_SAMPLES:
        if time.monotonic() - start > (SECONDS if kept >= LEAST_SAMPLES else MOST_SECONDS):
            break
        for contestant in contestants.values():
            contestant.sample(best)
    row = row_of(workload, phase, contestants, best)
    for contestant in contestants.values():
        contestant.program.close()
    return row


def command_seconds(command):
    """The smallest CPU time of 30 runs."""
    times = []
    for _ in range(30):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        times.append(usage.ru_utime + usage.ru_stime)
    return min(times)


def costs(build):
    """Name to seconds an item: the smallest of 30 repetitions."""
    text = subprocess.run([f"{build}/bench/costs", "--benchmark_repetitions=30", "--benchmark_min_time=0.01",
                           "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
    found = {}
    for run in json.loads(text)["benchmarks"]:
        if run["run_type"] == "iteration":
            found.setdefault(run["run_name"], []).append(1 / run["items_per_second"])
    result = {name: min(times) for name, times in found.items()}
    result["retrace --version"] = command_seconds([f"{build}/retrace", "--version"])
    return result


def machine(build, best):
    info = json.loads(subprocess.run([f"{build}/retrace", "info", "--json"], check=True, capture_output=True,
                                     text=True).stdout.splitlines()[-1])
    rates = {}
    for threads in (1, 2):
        program = Program([f"{build}/bench/models", "peaks", "predict", "default", str(threads)], threads)
        rates[threads] = {int(size): rate for size, rate in json.loads(program.ask("bandwidths")).items()}
        program.close()
    return {"cpu": info["cpu"], "cores": os.cpu_count(), "simd_target": info["simd_target"],
            "compiler": info["compiler"], "version": info["version"], "best_probe": best, "bandwidths": rates,
            "costs_s": costs(build)}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    best, rows = {}, []
    for workload in WORKLOADS:
        for phase in PHASES:
            rows.append(measure(build, workload, phase, best))
            seconds = rows[-1].get("ours_s")
            print(f"{workload}, {phase}:", f"{seconds * 1e3:.3f} ms" if seconds else "the machine is busy", flush=True)
    (build / "bench.json").write_text(json.dumps(rows, indent=1) + "\n")
    (build / "bench-machine.json").write_text(json.dumps(machine(build, best), indent=1) + "\n")


main()
