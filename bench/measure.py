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
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = {"a digits": "digits", "b peaks": "peaks", "c cifar10": "cifar10", "d autoencoder": "autoencoder"}
PHASES = ("train", "predict")
LEAST_SHARE = 0.8        # of the best probe
LEAST_SAMPLES, MOST_SAMPLES = 9, 41  # kept, of one workload and phase
SECONDS, MOST_SECONDS = 20, 120      # the longer while there are too few samples
# As in a training loop: not timed while the threads of the program before stop waiting for work, the caches fill and
# idle cores wake.
WARM_SECONDS, SAMPLE_SECONDS = 0.1, 0.15
REST_SECONDS = 0.3  # after a peer's sample: its threads wait actively for a while, and would disturb what follows
PEERS = {"PyTorch eager": ("torch_peer.py", "eager"), "PyTorch compiled": ("torch_peer.py", "compiled"),
         "JAX jit": ("jax_peer.py", "jit")}
# Of a peer's loss. After 20 steps of cifar10 rounding alone moves it by 1.5e-3: 1.11910 in f64, 1.11937 and 1.12064 in f32.
LOSS_STEPS, LOSS_TOLERANCE = 10, 1e-3


def quantile(values, p):
    return sorted(values)[round(p * (len(values) - 1))]


class Absent(Exception):
    """A program that cannot take part, and why."""


class Program:
    """A process that makes steps on request."""

    def __init__(self, command, threads):
        self.threads = threads
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)
        if self.process.stdout.readline().strip() != "ready":
            raise Absent(f"{' '.join(command)} did not start")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise Absent(f"no answer to \"{line}\" from {' '.join(self.process.args)}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Contestant:
    """A program, and the one whose probes guard its samples."""

    def __init__(self, program, guard):
        self.program, self.guard = program, guard
        self.samples = []  # (seconds, lower probe, mean probe)
        step = min(float(program.ask("run 1")) for _ in range(3))
        self.warm, self.steps = round(WARM_SECONDS / step), max(1, round(SAMPLE_SECONDS / step))

    def calibrate(self, best):
        """Half a second of probes, to meet a moment without neighbours."""
        start = time.monotonic()
        while self.guard.threads not in best or time.monotonic() - start < 0.5:
            self.probe(best)

    def probe(self, best):
        value = float(self.guard.ask("probe"))
        best[self.guard.threads] = max(value, best.get(self.guard.threads, 0))
        return value

    def awake_probe(self, best):
        """The first ones wake idle cores."""
        return max(self.probe(best) for _ in range(4))

    def sample(self, best):
        if self.warm > 0:
            self.program.ask(f"run {self.warm}")
        before = self.awake_probe(best)
        seconds = float(self.program.ask(f"run {self.steps}"))
        if self.guard is not self.program:
            time.sleep(REST_SECONDS)
        after = self.awake_probe(best)
        self.samples.append((seconds / self.steps, min(before, after), (before + after) / 2))

    def kept(self, best):
        """(seconds, probe) of the samples that count."""
        limit = LEAST_SHARE * best[self.guard.threads]
        return [(seconds, mean) for seconds, least, mean in self.samples if least >= limit]


def ours(build, workload, phase):
    """Name to contestant."""
    found = {}
    for name, speed, threads in (("accelerated", "accelerated", 2), ("default", "default", 2), ("plain", "plain", 2),
                                 ("one thread", "accelerated", 1)):
        program = Program([f"{build}/bench/models", WORKLOADS[workload], phase, speed, str(threads)], threads)
        found[name] = Contestant(program, program)
    return found


def peers_python():
    """The interpreter that `make bench-peers` installed, or none."""
    home = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or pathlib.Path.home() / ".config")
    remembered = home / "retrace" / "peers"
    folder = os.environ.get("RETRACE_PEERS") or (remembered.read_text().strip() if remembered.exists() else "")
    python = pathlib.Path(folder) / "bin" / "python"
    return python if folder and python.exists() else None


def peer(command, phase, our_loss, guard):
    """A contestant; Absent if it does not compute what we do."""
    program = Program(command, guard.threads)
    if phase == "train":
        loss = float(program.ask(f"loss {LOSS_STEPS}"))
        if abs(loss - our_loss) > LOSS_TOLERANCE * abs(our_loss):
            program.close()
            raise Absent(f"its loss after {LOSS_STEPS} steps is {loss:.6g}, ours {our_loss:.6g}")
    return Contestant(program, guard)


def peers(workload, phase, guard):
    """Name to contestant, from our starting values; and name to the reason why one does not take part."""
    python, found, absent = peers_python(), {}, {}
    if python is None:
        return found, {name: "not installed" for name in PEERS}
    with tempfile.TemporaryDirectory() as folder:
        weights = f"{folder}/weights.safetensors"
        guard.ask(f"weights {weights}")
        our_loss = float(guard.ask(f"loss {LOSS_STEPS}"))
        for name, (script, speed) in PEERS.items():
            command = [str(python), str(ROOT / "bench/peers" / script), WORKLOADS[workload], phase, speed,
                       str(guard.threads), weights]
            try:
                found[name] = peer(command, phase, our_loss, guard)
            except (Absent, BrokenPipeError) as reason:
                absent[name] = str(reason)
    return found, absent


def best_of(others, ours_s, best):
    """The columns about the peers."""
    times = {name: quantile([seconds for seconds, _ in kept], 0.5) for name, one in others.items()
             if len(kept := one.kept(best)) >= LEAST_SAMPLES}
    first = min(times, key=times.get, default=None)
    return {"peers": times, "best_peer": first, "ratio_to_best_peer": times[first] / ours_s if first else None,
            "best_peer_peak_mib": float(others[first].program.ask("memory")) if first else None}


def row_of(workload, phase, contestants, best):
    kept = {name: contestant.kept(best) for name, contestant in contestants.items()}
    seconds = {name: [sample[0] for sample in samples] for name, samples in kept.items()}
    median = {name: quantile(values, 0.5) if values else None for name, values in seconds.items()}

    def floor(name):
        """Its floor at the peak that the probes around its samples saw."""
        if not kept[name]:
            return {"floor_s": None}
        return json.loads(contestants[name].program.ask(f"floor {quantile([mean for _, mean in kept[name]], 0.5)}"))

    program = contestants["accelerated"].program
    row = {"workload": workload, "phase": phase, "threads": program.threads, "samples": len(kept["accelerated"]),
           "dropped": len(contestants["accelerated"].samples) - len(kept["accelerated"])}
    if not kept["accelerated"]:
        return row
    memory = float(program.ask("memory"))  # before the floor, which takes memory of its own
    ours = floor("accelerated")
    return row | {
        "ours_s": median["accelerated"], "floor_s": ours["floor_s"],
        "ratio_to_floor": median["accelerated"] / ours["floor_s"], "peak_mib": memory,
        "p10_s": quantile(seconds["accelerated"], 0.1), "p90_s": quantile(seconds["accelerated"], 0.9),
        "default_s": median["default"], "plain_s": median["plain"],
        "one_thread_s": median["one thread"],
        "one_thread_floor_s": floor("one thread")["floor_s"],
        "operations": ours["operations"], "bytes": ours["bytes"], "kernel_calls": ours["kernel_calls"],
    }


def measure(build, workload, phase, best):
    contestants = ours(build, workload, phase)
    for contestant in contestants.values():
        if contestant.guard.threads not in best:
            contestant.calibrate(best)
    others, absent = peers(workload, phase, contestants["accelerated"].program)
    everyone = [*contestants.values(), *others.values()]
    start = time.monotonic()
    while (kept := min(len(one.kept(best)) for one in everyone)) < MOST_SAMPLES:
        if time.monotonic() - start > (SECONDS if kept >= LEAST_SAMPLES else MOST_SECONDS):
            break
        for contestant in everyone:
            contestant.sample(best)
    row = row_of(workload, phase, contestants, best)
    row |= best_of(others, row["ours_s"], best) | {"absent_peers": absent} if "ours_s" in row else {}
    for contestant in everyone:
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


if __name__ == "__main__":
    main()
