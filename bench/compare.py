#!/usr/bin/env python3
"""Compares two builds on one machine, in turns: compare.py OLD_BUILD NEW_BUILD [models|ops|costs ...].

OLD_BUILD and NEW_BUILD are build folders that hold bench/models, bench/ops and bench/costs. Every pair of samples is
taken one right after the other, so that a neighbour of the machine disturbs both alike. A row is the ratio new / old: of
models the median of the pairs' ratios with the 10th and 90th percentile, of ops the ratio of the smallest 10th
percentiles, of costs the ratio of the smallest times. A row above 1.02 is marked.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PAIRS, SAMPLE_SECONDS = 21, 0.15  # of one workload, phase and number of threads
OP_ROUNDS, COST_ROUNDS = 3, 5
LIMIT = 1.02


def quantile(values, p):
    return sorted(values)[round(p * (len(values) - 1))]


def say(name, ratio, rest=""):
    print(f"{'SLOWER' if ratio > LIMIT else '      '} {ratio:6.3f}  {name}{rest}", flush=True)


class Model:
    """A process of bench/models that makes steps on request."""

    def __init__(self, build, workload, phase, threads):
        self.process = subprocess.Popen([f"{build}/bench/models", workload, phase, "accelerated", str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline().strip() == "ready", f"{build}/bench/models did not start"
        self.steps = max(1, round(SAMPLE_SECONDS / min(self.run(1) for _ in range(3))))

    def run(self, steps):
        self.process.stdin.write(f"run {steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def seconds(self):
        return self.run(self.steps) / self.steps

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def models(builds):
    for workload in ("digits", "peaks", "autoencoder", "cifar10"):
        for phase in ("train", "predict"):
            for threads in (1, 2):
                pair = [Model(build, workload, phase, threads) for build in builds]
                ratios = []
                for i in range(PAIRS):
                    # Who is second profits from awake cores: take turns.
                    times = {one: one.seconds() for one in (pair if i % 2 else pair[::-1])}
                    ratios.append(times[pair[1]] / times[pair[0]])
                for one in pair:
                    one.close()
                low, middle, high = (quantile(ratios, p) for p in (0.1, 0.5, 0.9))
                say(f"{workload}, {phase}, {threads} threads", middle, f"  ({low:.3f} to {high:.3f})")


def smallest(builds, rounds, measure):
    """For each build: name to the smallest of the times that `measure` finds."""
    found = [{}, {}]
    for _ in range(rounds):
        for best, build in zip(found, builds):
            for name, seconds in measure(build).items():
                best[name] = min(seconds, best.get(name, seconds))
    for name in found[0]:
        if name in found[1]:
            say(name, found[1][name] / found[0][name])


def op_times(build):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ops.json"
        subprocess.run([f"{build}/bench/ops", f"--json={path}"], check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(path.read_text())
    return {f"{row['op']}, {row['direction']}, {row['threads']} threads": row["p10_s"] for row in rows}


def cost_times(build):
    text = subprocess.run([f"{build}/bench/costs", "--benchmark_repetitions=20", "--benchmark_min_time=0.01",
                           "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
    found = {}
    for run in json.loads(text)["benchmarks"]:
        if run["run_type"] == "iteration":
            seconds = 1 / run["items_per_second"]
            found[run["run_name"]] = min(seconds, found.get(run["run_name"], seconds))
    return found


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    builds = sys.argv[1:3]
    parts = sys.argv[3:] or ["models", "ops", "costs"]
    if "models" in parts:
        models(builds)
    if "ops" in parts:
        smallest(builds, OP_ROUNDS, op_times)
    if "costs" in parts:
        smallest(builds, COST_ROUNDS, cost_times)


main()
