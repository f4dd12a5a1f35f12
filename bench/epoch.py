"""Steps of training from a folder of JPEG files, loading included: epoch.py BUILD_FOLDER [FOLDER] writes bench-epoch.json.

jobs/cifar10.toml as the command runs it, with two threads, and PyTorch's compiled step with a DataLoader of two workers make
the same number of steps in turn: samples are long, so that what disturbs the machine meets both, and ratios are those of
neighbours. FOLDER (or RETRACE_BENCH_JOB) holds
train/CLASS/*.jpg and test/CLASS/*.jpg, such as CIFAR-10; without one nothing is measured.
"""

import json
import os
import pathlib
import sys
import time

from measure import ROOT, Absent, Program, peers_python, quantile

THREADS, STEPS, WARM_STEPS, ROUNDS = 2, 12, 5, 11  # what was loaded while the other one ran is used up in warm steps
REST_SECONDS = 1  # after a sample its workers load ahead
OURS, PEER = "retrace", "PyTorch compiled"


def programs_of(build, folder):
    """Name to program; and why a peer does not take part."""
    programs = {OURS: Program([f"{build}/bench/epoch", f"{ROOT}/jobs/cifar10.toml", str(THREADS), folder], THREADS)}
    python, absent = peers_python(), {}
    if python is None:
        absent[PEER] = "not installed"
    else:
        try:
            programs[PEER] = Program([str(python), str(ROOT / "bench/peers/torch_epoch.py"), str(THREADS), folder], THREADS)
        except Absent as reason:
            absent[PEER] = str(reason)
    return programs, absent


def sample(program):
    """Seconds a step."""
    program.ask(f"run {WARM_STEPS}")
    seconds = float(program.ask(f"run {STEPS}"))
    time.sleep(REST_SECONDS)
    return seconds / STEPS


def measure(build, folder):
    programs, absent = programs_of(build, folder)
    rounds = [{name: sample(program) for name, program in programs.items()} for _ in range(ROUNDS)]
    rows = []
    for name, program in programs.items():
        times, ratios = [one[name] for one in rounds], [one[name] / one[OURS] for one in rounds]
        rows.append({"what": name, "loss": float(program.ask("loss")), "step_s": quantile(times, 0.5),
                     "p10": quantile(times, 0.1), "p90": quantile(times, 0.9), "ratio": quantile(ratios, 0.5),
                     "ratio_p10": quantile(ratios, 0.1), "ratio_p90": quantile(ratios, 0.9)})
    images = int(programs[OURS].ask("images"))
    for program in programs.values():
        program.close()
    return {"images": images, "threads": THREADS, "rounds": ROUNDS, "rows": rows, "absent": absent}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    folder = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("RETRACE_BENCH_JOB", "")
    found = measure(build, folder) if folder else None
    (build / "bench-epoch.json").write_text(json.dumps(found, indent=1) + "\n")
    for row in found["rows"] if found else []:
        print("epoch:", row["what"], f"{row['step_s'] * 1e3:.0f} ms a step, {row['ratio']:.2f} of ours")


main()
