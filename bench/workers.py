#!/usr/bin/env python3
"""Throughput of workers: workers.py BUILD_FOLDER writes bench-workers.json there.

The same job on one worker with two threads, on two workers of one process and on two ranks of mpirun, in turn; beside it
PyTorch with two threads, and with DistributedDataParallel (gloo) on two processes of one thread, in turn. A sample is a whole
training; its rate is that between the ends of its first and its last epoch. Fingerprints tell whose bits depend on the number of
workers.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from measure import ROOT, peers_python, quantile

ROUNDS = 5
# Workload: what its job says beside the network, epochs, mini-batches an epoch.
JOBS = {"digits": ('train_samples = 3200\ntest_samples = 10', "mini_batch_size = 32", 12, 100),
        "cifar10": ('source = "cifar10-synthetic"\ntrain_samples = 896\ntest_samples = 10', "mini_batch_size = 128", 3, 7)}
WAYS = {"1 worker, 2 threads": (["--workers", "1", "--threads", "2"], []),
        "2 workers, 1 thread each": (["--workers", "2", "--threads", "1"], []),
        "2 ranks, 1 thread each": (["--threads", "1"], ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", "2"])}
PEER_WAYS = {"PyTorch, 2 threads": "1", "PyTorch DDP (gloo), 2 processes": "2"}


def job_text(workload):
    data, batch, epochs, _ = JOBS[workload]
    return (f'seed = 1\n[network]\nname = "{workload}"\n[data]\n{data}\n[training]\n{batch}\nmax_epochs = {epochs}\nshards = 2\n'
            '[validation]\ndata = "none"\n')


def ours(build, workload, way, folder):
    """Steps a second, fingerprint."""
    flags, launcher = WAYS[way]
    job, run = folder / "job.toml", folder / "run"
    job.write_text(job_text(workload))
    shutil.rmtree(run, ignore_errors=True)
    result = subprocess.run([*launcher, f"{build}/retrace", "train", str(job), "--out", str(run), "--json", "--quiet", "--no-report",
                             *flags], check=True, capture_output=True, text=True)
    ends = [event["seconds"] for event in map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
            if event["event"] == "epoch"]
    steps = JOBS[workload][3] * (len(ends) - 1)
    return steps / (ends[-1] - ends[0]), json.loads(result.stdout.splitlines()[-1])["fingerprint"]


def peer(workload, way):
    _, _, epochs, steps = JOBS[workload]
    answer = subprocess.run([str(peers_python()), str(ROOT / "bench/peers/torch_ddp.py"), workload, PEER_WAYS[way],
                             str((epochs - 1) * steps)], check=True, capture_output=True, text=True).stdout.split()
    return float(answer[-2]), answer[-1]


def measure(build, workload, folder):
    ways = {way: lambda way=way: ours(build, workload, way, folder) for way in WAYS
            if not WAYS[way][1] or (shutil.which("mpirun") and pathlib.Path(build, "libretrace_mpi.so").exists())}
    if peers_python() is not None:
        ways |= {way: lambda way=way: peer(workload, way) for way in PEER_WAYS}
    found = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in ways.items():
            found[way].append(run())
    rows = []
    for way, samples in found.items():
        base = found[next(iter(PEER_WAYS if way in PEER_WAYS else WAYS))]
        ratios = [sample[0] / other[0] for sample, other in zip(samples, base)]
        rows.append({"what": way, "steps_s": quantile([rate for rate, _ in samples], 0.5), "ratio": quantile(ratios, 0.5),
                     "ratio_p10": quantile(ratios, 0.1), "ratio_p90": quantile(ratios, 0.9),
                     "same_bits": {mark for _, mark in samples} == {base[0][1]}})
        print(f"workers: {workload}, {way}: {rows[-1]['steps_s']:.1f} steps a second, {rows[-1]['ratio']:.3f}", flush=True)
    return {"workload": workload, "rounds": ROUNDS, "rows": rows}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").absolute()
    os.environ.pop("RETRACE_THREADS", None)
    with tempfile.TemporaryDirectory() as folder:
        found = [measure(build, workload, pathlib.Path(folder)) for workload in JOBS]
    (build / "bench-workers.json").write_text(json.dumps(found, indent=1))


main()
