#!/usr/bin/env python3
"""Writes docs/performance.md from what the benches found: report.py BUILD_FOLDER [FILE]."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

TEXT = """# Performance

Made by `make bench`; the numbers are those of one machine at one time. Floors and shares say more than times do.

## How it is measured

- **Guard.** Every sample runs in between two probes: independent multiply-adds in registers, on the same threads, for a
  fifth of a millisecond each. A sample counts if both probes reach 0.8 of the best one, else it is dropped; tables give
  medians and how many samples were kept and dropped. The *peak* of a row is that of the probes around its samples.
- **Floor.** The time below which no plan of the work can come. Each contraction (convolution, its gradients, matrix
  product) takes at least its operations over the peak; only taps inside of the image count. What enters or leaves the
  work has to be moved once, at the best bandwidth that a sum of two arrays of that size, or of a larger one, reaches
  here. For a contraction the larger of the two times counts. Values in between may stay in caches and count nothing,
  nor does arithmetic outside of contractions. `bench/common/floor.h` computes it from the trace.
- **Single ops** are plans of one op on the same data again and again, packing included, the helping threads awake.
- **Steps** are whole processes that do what a user's loop does: loss, gradients, update, running statistics, by
  `value_and_grad`, on one synthetic mini-batch in memory. *Accelerated* replays the step, *default* records it and looks
  its plan up, *plain* plans it anew. The columns are measured in turn, and memory is the peak of the process.
"""

# Convolutions of 32 channels, by the beginning of their rows' names.
KINDS = {"3x3 convolution, 4 groups": "conv2d 3x3 4 groups", "3x3 convolution, 8 groups": "conv2d 3x3 8 groups",
         "3x3 convolution, stride 2": "conv2d 3x3 stride 2", "3x3 convolution, dilation 2": "conv2d 3x3 dilation 2",
         "1x1 convolution, stride 1 and 2": "conv2d 1x1", "transposed convolution, 2x2 and 3x3": "transposed"}


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.3g}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def machine_section(machine, ops):
    def peak(threads):
        found = sorted(row["peak"] for row in ops if row["threads"] == threads)
        return found[len(found) // 2] if found else 0

    rows = [["peak of multiply-adds, GFLOP/s"] + [f"{peak(threads) / 1e9:.0f}" for threads in (1, 2)]]
    for size in sorted(map(int, machine["bandwidths"]["1"])):
        name = f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
        rows.append([f"bandwidth of {name}, GB/s"] + [f"{machine['bandwidths'][threads][str(size)] / 1e9:.0f}"
                                                     for threads in ("1", "2")])
    return (f"## Machine\n\n{machine['cpu']}, {machine['cores']} cores; instruction set {machine['simd_target']}, "
            f"{machine['compiler']}, retrace {machine['version']}.\n\n" + table(["", "1 thread", "2 threads"], rows))


def verdict(met):
    return "open" if met is None else "met" if met else "**missed**"


# Times as fast as the fastest peer; or, no peer being faster, this multiple of the floor.
STEP_TARGETS = {"a digits": (2.5, 2.0), "b peaks": (8, 2.5), "c cifar10": (1.2, 1.45), "d autoencoder": (4, 3.0)}


def step_target(row):
    times, floors = STEP_TARGETS[row["workload"]]
    if (row["workload"], row["phase"]) == ("a digits", "predict"):
        times = 2
    peer, floor = row.get("ratio_to_best_peer"), row.get("ratio_to_floor")
    met = None if not peer or not floor else peer >= times or (peer >= 1 and floor <= floors)
    return [f"step of {row['workload']}, {row['phase']}, 2 threads",
            f"{times} times as fast as the fastest peer, or {floors} times its floor and no peer faster",
            f"{peer:.1f} times as fast, {floor:.1f} times its floor" if peer and floor else "not measured", verdict(met)]


def targets_section(ops, steps, order):
    rows = []

    def share(what, least, wanted):
        target = f"{least:.0%} of the peak"
        row = min(filter(wanted, ops), key=lambda row: row["share_of_peak"], default=None)
        if row is None:
            return rows.append([what, target, "not measured", "open"])
        value, threads = row["share_of_peak"], "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
        rows.append([what, target, f"{value:.0%} ({row['direction']}, {threads})",
                     verdict(value >= least)])

    for channels in (16, 32, 64, 128):
        name = f"conv2d 3x3, {channels} channels"
        share(f"3x3 convolution, {channels} channels, forward and input gradient", 0.85,
              lambda row: row["op"].startswith(name) and row["direction"] != "filter gradient")
        share(f"3x3 convolution, {channels} channels, filter gradient", 0.72 if channels == 128 else 0.8,
              lambda row: row["op"].startswith(name) and row["direction"] == "filter gradient")
    for direction, most in (("forward", 0.03), ("filter gradient", 0.06)):
        cost = max((row["cost"] for row in order if row["direction"] == direction), default=None)
        rows.append([f"cost of the fixed order, 3x3 convolutions, {direction}", f"{most:.0%}",
                     "not measured" if cost is None else f"{cost:+.1%}", verdict(None if cost is None else cost <= most)])
    share("matrix product 1024 x 1024 x 1024", 0.7, lambda row: row["op"] == "matmul 1024x1024x1024")
    for kind, name in KINDS.items():
        share(f"{kind}, 32 channels, forward and both gradients", 0.25, lambda row: row["op"].startswith(name))
    for row in steps:
        rows.append(step_target(row))
    return "## Targets\n\nThe worst of directions and thread counts.\n\n" + table(
        ["what", "target", "measured", ""], rows)


def steps_section(steps):
    rows = []
    for row in steps:
        name = f"{row['workload']}, {row['phase']}"
        if "ours_s" not in row:
            rows.append([name] + ["-"] * 10 + [f"{row['samples']} ({row['dropped']})"])
            continue
        one_ratio = row["one_thread_s"] / row["one_thread_floor_s"] if row["one_thread_s"] else None
        rows.append([name, milliseconds(row["ours_s"]), f"{milliseconds(row['p10_s'])} - {milliseconds(row['p90_s'])}",
                     milliseconds(row["floor_s"]), f"{row['ratio_to_floor']:.1f}", milliseconds(row["default_s"]),
                     milliseconds(row["plain_s"]), milliseconds(row["one_thread_s"]), f"{one_ratio:.1f}" if one_ratio else "-",
                     f"{row['peak_mib']:.0f}", row["kernel_calls"], f"{row['samples']} ({row['dropped']})"])
    return ("## Steps\n\nMilliseconds a step; 2 threads, but where 1 is said. Batches: digits 32, peaks 40,000, "
            "cifar10 256, autoencoder 500.\n\n" + table(
                ["step", "accelerated", "10 - 90 %", "floor", "ratio", "default", "plain", "1 thread", "ratio", "MiB", "kernel calls",
                 "samples (dropped)"], rows))


def peers_section(steps):
    names = sorted({name for row in steps for name in [*row.get("peers", {}), *row.get("absent_peers", {})]})
    rows, reasons = [], []
    for row in steps:
        name = f"{row['workload']}, {row['phase']}"
        times, ratio = row.get("peers", {}), row.get("ratio_to_best_peer")
        rows.append([name, milliseconds(row.get("ours_s"))] + [milliseconds(times.get(peer)) for peer in names] +
                    [f"{ratio:.2f}" if ratio else "-", f"{row['peak_mib']:.0f}" if "peak_mib" in row else "-",
                     f"{row['best_peer_peak_mib']:.0f}" if row.get("best_peer_peak_mib") else "-"])
        reasons += [f"- {name}: {peer} is not available: {why}" for peer, why in row.get("absent_peers", {}).items()
                    if why != "not installed"]
    if all(row.get("ratio_to_best_peer") is None for row in steps):
        return "## Peers\n\nNot available: none was installed when this was made (`make bench-peers DIR=folder`).\n"
    return ("## Peers\n\nMilliseconds a step on 2 threads, measured in turn with ours in one run, from our starting "
            "values; a peer whose loss after 10 steps differs by more than 1e-3 takes no part, and \"-\" stands where "
            "fewer than 9 samples counted.\n\n" +
            table(["step", "ours, accelerated"] + names + ["best peer / ours", "our MiB", "best peer's MiB"], rows) +
            "".join(f"\n{reason}" for reason in reasons) + "\n")


def ops_section(ops):
    def cells(row):
        if row is None:
            return ["-"] * 5
        share = f"{row['share_of_peak']:.0%}" if row["operations"] else "-"
        return [f"{row['ours_s'] * 1e6:.0f}", f"{row['floor_s'] * 1e6:.0f}", f"{row['ratio_to_floor']:.1f}", share,
                f"{row['samples']} ({row['dropped']})"]

    by_name = {}
    for row in ops:
        by_name.setdefault((row["op"], row["direction"]), {})[row["threads"]] = row
    rows = [[f"{name}, {direction}"] + cells(found.get(1)) + cells(found.get(2))
            for (name, direction), found in by_name.items()]
    one = ["µs", "floor", "ratio", "of peak", "samples (dropped)"]
    return ("## Single ops\n\nMicroseconds; five columns for 1 thread, five for 2. Batch 32 where nothing else is "
            "said.\n\n" + table(["op"] + one + one, rows))


def order_section(order):
    rows = [[f"{row['op']}, {row['direction']}", row["threads"], f"{row['cost']:+.1%}",
             f"{row['low']:+.1%} - {row['high']:+.1%}"] for row in order]
    return ("## What the fixed order costs\n\nTime of a convolution over that of the same kernel with one chain for "
            "each sum: no blocks forward, no tree in the filter gradient. Medians of rounds in turn, each in units of "
            "its probes.\n\n" + table(["op", "threads", "cost", "rounds"], rows))


def modes_section(modes):
    rows = [[row["workload"], milliseconds(row["seconds"]["reproducible"]), milliseconds(row["seconds"]["fast"]),
             f"{row['ratio']:.3f} ({row['ratio_p10']:.3f} to {row['ratio_p90']:.3f})",
             f"{row['states']['reproducible']} and {row['states']['fast']} of {row['runs']}, {row['steps']} steps each",
             f"{row['loss_apart']:.1g}"] for row in modes]
    return ("## What the modes cost and lose\n\nSteps of training on 2 threads in both modes of `set_mode`, in turn in one process. States "
            "are those after the same steps from the same starting values: one, where every bit is the same. The last column is the "
            "largest distance of a loss of the mode fast from the reproducible one, by the latter. On the CPU the mode fast_bf16 computes what "
            "fast does; what both cost on a GPU is measured by `make gpu-check PART=times`.\n\n" +
            table(["network", "reproducible, ms", "fast, ms", "fast / reproducible (10 % to 90 %)", "states, reproducible and fast",
                   "loss apart"], rows))


def loader_section(loader):
    """Target: at least twice PyTorch's DataLoader, and 0.85 of bare decoding."""
    head = "## Loading images\n\n"
    if loader is None:
        return head + "Not measured: no folder of images was given, and the peers that draw one were not installed.\n"
    rate = {row["what"]: row.get("images_s") for row in loader["rows"]}
    ours = rate["retrace"]

    def ratio(other, least):
        value = ours / rate[other] if ours and rate.get(other) else None
        return ["-", verdict(None)] if value is None else [f"{value:.2f} (at least {least})", verdict(value >= least)]

    targets = {"PyTorch DataLoader": 2, "libjpeg-turbo alone": 0.85}
    rows = [[row["what"], f"{row['images_s']:.0f}" if "images_s" in row else "-",
             f"{row['p10']:.0f} - {row['p90']:.0f}" if "p10" in row else "-", f"{row['samples']} ({row['dropped']})"] +
            (ratio(row["what"], targets[row["what"]]) if row["what"] in targets else ["", ""]) for row in loader["rows"]]
    rows += [[name, "-", "-", why, "-", verdict(None)] for name, why in loader["absent"].items()]
    return (head + f"Images a second from {loader['images']} JPEG files, in turn, in mini-batches of 128 and a new order in each pass: our "
            f"queue with {loader['threads']} threads, PyTorch's DataLoader with {loader['threads']} workers that live on (Pillow "
            f"decodes), and libjpeg-turbo alone on {loader['threads']} threads, which reads and decodes the files and keeps "
            "nothing.\n\n" + table(["what", "images a second", "10 - 90 %", "samples (dropped)", "ours / it", ""], rows))


def epoch_section(epoch):
    """Target: a step, loading included, takes no longer than PyTorch's."""
    head = "## Training from image files\n\n"
    if epoch is None:
        return head + "Not measured: no folder of images was given.\n"
    rows = [[row["what"], milliseconds(row["step_s"]), f"{milliseconds(row['p10'])} - {milliseconds(row['p90'])}",
             f"{epoch['images'] / row['step_s']:.0f}"] +
            (["", "", ""] if row["what"] == "retrace" else
             [f"{row['ratio']:.2f} (at least 1)", f"{row['ratio_p10']:.2f} - {row['ratio_p90']:.2f}", verdict(row["ratio"] >= 1)])
            for row in epoch["rows"]]
    rows += [[name, "-", "-", "-", why, "-", verdict(None)] for name, why in epoch["absent"].items()]
    return (head + f"Milliseconds a step of jobs/cifar10.toml from JPEG files, in turn, all included: decoding, flips and crops, "
            f"mini-batches of {epoch['images']}, the step, on our side the step log and checkpoints. PyTorch's step is compiled, and "
            f"its DataLoader has {epoch['threads']} workers that live on. Medians of {epoch['rounds']} rounds.\n\n" +
            table(["what", "ms", "10 - 90 %", "images a second", "it / ours", "10 - 90 %", ""], rows))


def workers_section(workers):
    """Target: two workers on two cores reach 0.95 of one worker with two threads."""
    head = "## Workers\n\n"
    if workers is None:
        return head + "Not measured.\n"
    rows = [[found["workload"], row["what"], f"{row['steps_s']:.1f}", f"{row['ratio']:.2f}",
             f"{row['ratio_p10']:.2f} - {row['ratio_p90']:.2f}", "equal" if row["same_bits"] else "other",
             verdict(row["ratio"] >= 0.95) if row["what"].startswith("2 ") else ""]
            for found in workers for row in found["rows"]]
    return (head + "Steps a second of whole trainings on two cores, in turn; ratios are to the first row of the same program, bits to its "
            f"parameters. Medians of {workers[0]['rounds']} rounds. Two workers of ours should reach 0.95.\n\n" +
            table(["workload", "what", "steps a second", "ratio", "10 - 90 %", "bits", ""], rows))


def costs_section(machine):
    def readable(seconds):
        return f"{seconds * 1e9:.0f} ns" if seconds < 1e-6 else f"{seconds * 1e6:.2f} µs" if seconds < 1e-3 else \
            f"{seconds * 1e3:.1f} ms"

    return ("## Costs beside the arithmetic\n\nThe smallest CPU time of 30 repetitions.\n\n" + table(
        ["what", "time"], [[name, readable(seconds)] for name, seconds in machine["costs_s"].items()]))


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    target = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/performance.md")
    ops, steps, machine, order, modes, loader, epoch, workers = (
        json.loads((build / name).read_text())
        for name in ("bench-ops.json", "bench.json", "bench-machine.json", "bench-order.json", "bench-modes.json",
                     "bench-loader.json", "bench-epoch.json", "bench-workers.json"))
    sections = [TEXT, machine_section(machine, ops), targets_section(ops, steps, order), steps_section(steps), peers_section(steps),
                ops_section(ops), order_section(order), modes_section(modes), loader_section(loader), epoch_section(epoch),
                workers_section(workers), costs_section(machine)]
    target.write_text("\n".join(sections), encoding="utf-8")


main()
