"""The parts of gpu_check that look at the clock: times, of steps and of their kernels, and peers."""

import json
import os
import pathlib
import re
import tempfile

from gpu_run import Failed, NotAvailable, Program, last_lines, program, python, run
from project import ROOT

# Seconds of a step wanted on an H100.
WORKLOADS = {"digits": 0.15e-3, "peaks": 0.03e-3, "autoencoder": None, "cifar10": 6.1e-3}
# Of a peer's loss, relative. After 20 steps of CIFAR-10 two runs of PyTorch in fp32 on an H100 were 6.5e-4 apart.
LOSS_STEPS, LOSS_TOLERANCE = 20, {"digits": 1e-3, "peaks": 1e-3, "autoencoder": 1e-3, "cifar10": 4e-3}
BF16_TOLERANCE = 0.05  # of rows of peers in bf16, from our loss in fast_bf16
FAST_MODES = ("fast", "fast_bf16")
SHOWN_KERNELS = 12
MOST_THREADS = 16
CPU_STEPS = {"digits": 100, "peaks": 500, "autoencoder": 5, "cifar10": 2}


def in_mode(server, mode):
    """Products in TF32 (fast) or bf16 (fast_bf16) from here on; the first steps plan anew."""
    server.ask(f"mode {mode}")
    server.ask("run 3")


def ours(workload, phase, budget, threads=2, device="cuda"):
    return Program([program("models"), workload, phase, "accelerated", str(threads), device], budget.left(90))


def milliseconds(seconds):
    return f"{seconds * 1e3:.4f}"


def steps(workload, budget):
    """Of training, with the loss read in each step or never, and in the other modes; and of a prediction."""
    wanted = WORKLOADS[workload]
    train = ours(workload, "train", budget)
    cells = [milliseconds(train.step_seconds()), milliseconds(wanted) if wanted else "-"]
    count = max(20, min(500, round(0.5 / max(1e-6, float(train.ask("run 20")) / 20))))
    cells.append(milliseconds(float(train.ask(f"reading {count}")) / count))
    for mode in FAST_MODES:
        in_mode(train, mode)
        cells.append(milliseconds(train.step_seconds()))
    train.close()
    predict = ours(workload, "predict", budget)
    cells.append(milliseconds(predict.step_seconds()))
    predict.close()
    return ("| train, ms | wanted | train, each loss read, ms | train in the mode fast (TF32), ms | in fast_bf16, ms | predict, ms |\n"
            "| ---: | ---: | ---: | ---: | ---: | ---: |\n| " +
            " | ".join(cells) + " |")


def kernels(workload, budget, mode=None):
    """What each launch of a training step takes, between events on the device."""
    train = ours(workload, "train", budget)
    if mode:
        in_mode(train, mode)
    calls = json.loads(train.ask("profile 50"))
    train.close()
    total = sum(time for _, time in calls)
    if not calls or total <= 0:
        raise Failed("no launch was timed")
    by_kernel = {}
    for name, time in calls:
        kernel = name.split(":")[0]
        count, sum_of = by_kernel.get(kernel, (0, 0.0))
        by_kernel[kernel] = (count + 1, sum_of + time)
    lines = [f"{len(calls)} launches, {total:.1f} us one after the other.", "", "| launch | us |", "| --- | ---: |"]
    lines += [f"| {name} | {time:.2f} |" for name, time in sorted(calls, key=lambda call: -call[1])[:SHOWN_KERNELS]]
    lines += ["", "| kernel | launches | us |", "| --- | ---: | ---: |"]
    shown = sorted(by_kernel.items(), key=lambda one: -one[1][1])[:SHOWN_KERNELS]
    lines += [f"| {name} | {count} | {time:.2f} |" for name, (count, time) in shown]
    return "\n".join(lines)


def thread_counts():
    """1, 2, 4, ... up to 16 or what this process may use, and that."""
    most = min(MOST_THREADS, len(os.sched_getaffinity(0)))
    return [*(1 << i for i in range(most.bit_length()) if 1 << i < most), most]


def processors(workload, budget):
    """How steps on the CPU scale: the same bits with each number of threads, and the speed beside one thread."""
    lines, alone, bits = ["| threads | train, ms | times one thread |", "| ---: | ---: | ---: |"], None, None
    for threads in thread_counts():
        train = ours(workload, "train", budget, threads, "cpu")
        found = train.ask(f"fingerprint {CPU_STEPS[workload]}", budget.left(90))
        step = float(train.ask(f"run {CPU_STEPS[workload]}", budget.left(90))) / CPU_STEPS[workload]
        train.close()
        if found != (bits := bits or found):
            raise Failed(f"{workload}: {found} with {threads} threads, {bits} with one")
        alone = alone or step
        lines.append(f"| {threads} | {milliseconds(step)} | {alone / step:.2f} |")
    return "\n".join([*lines, "", f"After {CPU_STEPS[workload]} steps: {bits} with each."])


def counters(budget):
    """Nsight Compute on kernels of the CIFAR-10 step: what limits each."""
    of_peak = [f"{unit}__throughput.avg.pct_of_peak_sustained_elapsed" for unit in ("sm", "l1tex", "lts", "dram")]
    metrics = ["gpu__time_duration.sum", *of_peak, "sm__warps_active.avg.pct_of_peak_sustained_active"]
    status, text = run(["ncu", "--clock-control", "none", "--kernel-name", "regex:conv2d|moments|max_pool2d|sum_",
                        "--launch-count", "110", "--csv", "--page", "raw", "--metrics", ",".join(metrics),
                        program("models"), "cifar10", "train", "accelerated", "2", "cuda"], budget.left(150), lines="run 1\n")
    rows = [line for line in text.split("\n") if line.startswith('"')]
    if not rows and re.search("LibraryNotLoaded|ERR_NVGPUCTRPERM|not supported", text):
        raise NotAvailable(f"ncu reads no counters here: {last_lines(text, 2)}")
    if not rows:
        raise Failed(f"ncu ended with {status}:\n{last_lines(text)}")
    return "```\n" + "\n".join(rows) + "\n```"


def times_steps():
    found = []
    for workload in WORKLOADS:
        found.append((f"steps of {workload}", lambda budget, workload=workload: steps(workload, budget)))
    for workload in WORKLOADS:
        found.append((f"launches of {workload}", lambda budget, workload=workload: kernels(workload, budget)))
    for mode in FAST_MODES:
        for workload in WORKLOADS:
            found.append((f"launches of {workload} in the mode {mode}",
                          lambda budget, workload=workload, mode=mode: kernels(workload, budget, mode)))
    return found


def threads_steps():
    return [(f"{workload} on the CPU", lambda budget, workload=workload: processors(workload, budget))
            for workload in WORKLOADS]


def peer_rows(script, workload, weights, ours_in, budget):
    """Lines of the table, of one process, and what it said last if it failed. A row with another loss than ours is
    void. ours_in: our loss and seconds in f32, and, for rows in bf16, in the mode fast_bf16."""
    status, text = run([python(), str(ROOT / "bench/peers/on_gpu.py"), script, workload, weights], budget.left(150),
                       dict(os.environ))  # a peer has its own libraries, not those of our programs
    lines = []
    for line in text.split("\n"):
        if not line.startswith('{"row"'):
            continue
        row = json.loads(line)
        in_bf16 = row["row"].endswith("bf16")
        our_loss, our_seconds = ours_in[in_bf16]
        tolerance = BF16_TOLERANCE if in_bf16 else LOSS_TOLERANCE[workload]
        if "failure" in row:
            lines.append(f"| {row['row']} | - | - | failed: {row['failure']} |")
        elif not abs(row["loss"] - our_loss) <= tolerance * abs(our_loss):
            lines.append(f"| {row['row']} | void | - | its loss after {LOSS_STEPS} steps is {row['loss']:.6g} |")
        else:
            ratio = row["seconds"] / our_seconds
            lines.append(f"| {row['row']} | {milliseconds(row['seconds'])} | {ratio:.2f} | {row.get('note', '')} |")
    if status == 0:
        return lines, ""
    how = "took too long" if status is None else f"ended with {status}"
    return lines + [f"| {script} | - | - | {how} |"], f"\n{script} {how}:\n\n```\n{last_lines(text)}\n```"


def peers_of(workload, budget):
    with tempfile.TemporaryDirectory() as folder:
        weights = str(pathlib.Path(folder) / "weights.safetensors")
        train = ours(workload, "train", budget)
        train.ask(f"weights {weights}")
        loss = float(train.ask(f"loss {LOSS_STEPS}"))
        seconds = train.step_seconds()
        in_mode(train, "fast_bf16")
        fast = float(train.ask(f"loss {LOSS_STEPS}")), train.step_seconds()
        train.close()
        lines = [f"Training; the loss after {LOSS_STEPS} steps is {loss:.6g} with ours, and within {LOSS_TOLERANCE[workload]:g} of it "
                 f"with each that has a time; in bf16 {fast[0]:.6g}, and within {BF16_TOLERANCE:g}. Rows in bf16 are by ours in the mode fast_bf16.", "", "| | ms | by ours | |", "| --- | ---: | ---: | --- |",
                 f"| retrace | {milliseconds(seconds)} | 1 | |", f"| retrace, fast_bf16 | {milliseconds(fast[1])} | 1 | |"]
        said = ""
        for framework in ("torch", "jax"):
            rows, last = peer_rows(framework, workload, weights, ((loss, seconds), fast), budget)
            lines, said = lines + rows, said + last
    return "\n".join(lines) + said


def peers_steps():
    return [(f"peers of {workload}", lambda budget, workload=workload: peers_of(workload, budget))
            for workload in WORKLOADS]
