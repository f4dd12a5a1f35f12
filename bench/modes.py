#!/usr/bin/env python3
"""What the mode fast gains and loses beside the reproducible one: modes.py BUILD_FOLDER. Writes BUILD_FOLDER/bench-modes.json.

One process for each network takes steps in both modes in turn. What is lost is bits: how many states there are after the
same steps, taken several times, and how far the loss is from the reproducible one.
"""

import json
import pathlib
import subprocess
import sys

PAIRS, SAMPLE_SECONDS, THREADS = 21, 0.2, 2
RUNS, STEPS = 5, {"digits": 100, "peaks": 100, "autoencoder": 20, "cifar10": 5}


def quantile(values, p):
    return sorted(values)[round(p * (len(values) - 1))]


class Model:
    """A process of bench/models."""

    def __init__(self, build, workload):
        self.process = subprocess.Popen([f"{build}/bench/models", workload, "train", "accelerated", str(THREADS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"modes: bench/models {workload} did not start")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(build, workload):
    model, steps = Model(build, workload), STEPS[workload]
    count = max(1, round(SAMPLE_SECONDS / float(model.ask("run 1"))))
    seconds, states, losses = {}, {}, {}
    for mode in ("reproducible", "fast"):
        model.ask(f"mode {mode}")
        states[mode] = len({model.ask(f"fingerprint {steps}") for _ in range(RUNS)})
        losses[mode] = [float(model.ask(f"loss {steps}")) for _ in range(RUNS)]
    for i in range(PAIRS):
        for mode in ("reproducible", "fast")[:: 1 if i % 2 else -1]:
            model.ask(f"mode {mode}")
            seconds.setdefault(mode, []).append(float(model.ask(f"run {count}")) / count)
    model.close()
    ratios = [fast / slow for fast, slow in zip(seconds["fast"], seconds["reproducible"])]
    exact = losses["reproducible"][0]
    row = {"workload": workload, "threads": THREADS, "runs": RUNS, "steps": steps,
           "seconds": {mode: quantile(times, 0.5) for mode, times in seconds.items()}, "states": states,
           "ratio": quantile(ratios, 0.5), "ratio_p10": quantile(ratios, 0.1), "ratio_p90": quantile(ratios, 0.9),
           "loss_apart": max(abs(loss - exact) / abs(exact) for loss in losses["fast"])}
    print(f"modes: {workload}: fast takes {row['ratio']:.3f} of the time; states of {RUNS} runs: {states}", flush=True)
    return row


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    (build / "bench-modes.json").write_text(json.dumps([measure(build, workload) for workload in STEPS], indent=1) + "\n")


main()
