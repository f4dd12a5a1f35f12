"""The parts of gpu_check that compare bits: ops and train; and compute-sanitizer's."""

import os
import re

from gpu_run import Failed, NotAvailable, Program, last_lines, program, run, tests
from project import ROOT

# What runs on a device, by program: filter and seconds.
OPS = {"test_ops": ("*on_cuda*:*Cuda*:*MatmulRuns*", 240),
       "test_cuda_plan": ("*", 60),
       "test_cuda_value_errors": ("*", 60),
       "test_tensor": ("*Cuda*", 60),
       "test_data": ("DeviceRows*", 60),
       "test_run": ("*Donation*", 60),
       "test_random_traces": ("*Cuda*", 240),
       "test_cuda_exit": ("-*ADriver*", 60)}
TRAIN = {"test_cuda_golden": ("*", 240), "test_cuda_fast": ("*", 60), "test_cuda_workers": ("*", 120), "test_cuda_late_loss": ("-CudaSteadyStep*", 60)}

# Tool to op cases of an op, the ops (none: all), seconds.
LAST_BLOCKS = ("sum", "moments", "max", "argmax", "softmax", "matmul", "conv2d", "max_pool2d", "average_pool2d",
               "scatter_rows")
SANITIZERS = {"memcheck": (3, (), 170), "racecheck": (2, LAST_BLOCKS, 120), "initcheck": (1, (), 100)}


def steps_of(programs):
    """Name and function of a step of a part."""
    return [(name, lambda budget, name=name, filters=filters, seconds=seconds:
             tests(name, filters, budget.left(seconds))) for name, (filters, seconds) in programs.items()]


def op_of(case, ops):
    """max_pool2d for max_pool2d_two_by_two: the longest name of an op that the case begins with."""
    return max((op for op in ops if case == op or case.startswith(op + "_")), key=len, default=case.split("_")[0])


def chosen(listing, count, wanted, ops):
    """The filters of `count` cases of each op in the listing of GoogleTest, or of the wanted ops and what begins with
    their names."""
    kept, seen = [], {}
    for name, case in re.findall(r"^  (has_the_same_bits_on_cuda/(\w+))", listing, re.M):
        op = op_of(case, ops)
        if wanted and not any(op == one or op.startswith(one + "_") for one in wanted):
            continue
        seen[op] = seen.get(op, 0) + 1
        if seen[op] <= count:
            kept.append(f"*{name}")
    return kept, len(seen)


def sanitizer(tool, budget):
    count, wanted, seconds = SANITIZERS[tool]
    test_ops = program("test_ops")
    status, listing = run([test_ops, "--gtest_filter=*on_cuda*", "--gtest_list_tests"], 60)
    ops = [folder.name for folder in (ROOT / "retrace/ops").iterdir() if folder.is_dir()]
    kept, groups = chosen(listing, count, wanted, ops)
    if status != 0 or not kept:
        raise Failed(f"no cases are listed:\n{last_lines(listing)}")
    status, text = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "1", test_ops,
                        f"--gtest_filter={':'.join(kept)}"], budget.left(seconds))
    what = f"{len(kept)} cases of {groups} ops"
    said = [line for line in text.split("\n") if line.startswith("=========")]
    summary = [line for line in said if "SUMMARY" in line]
    if status == 0 and summary and re.search(r"^\[  PASSED  \] [1-9]", text, re.M):
        return f"{what}: {summary[-1].strip('= ')}"
    # A machine may refuse the tool, as gVisor does.
    if re.search(r"not supported|insufficient permission|LibraryNotLoaded", text, re.I) and "[       OK ]" not in text:
        raise NotAvailable(f"compute-sanitizer is refused here: {(said or [last_lines(text, 1)])[-1]}")
    how = f"took more than {seconds} s" if status is None else f"ended with {status}"
    raise Failed(f"{tool}, {what}: {how}:\n" + "\n".join(said[:40] or [last_lines(text, 40)]))


def full_batches(budget):
    """Steps of the four networks as the benches time them: the state of the CPU."""
    lines = []
    for workload, steps in (("digits", 50), ("peaks", 20), ("autoencoder", 3), ("cifar10", 2)):
        found = {}
        for device in ("cuda", "cpu"):
            one = Program([program("models"), workload, "train", "accelerated", str(os.cpu_count()), device],
                          budget.left(90))
            found[device] = one.ask(f"fingerprint {steps}", budget.left(90))
            one.close()
        if found["cuda"] != found["cpu"]:
            raise Failed(f"{workload}, {steps} steps: {found['cuda']} on cuda, {found['cpu']} on the CPU")
        lines.append(f"{workload}, {steps} steps: {found['cuda']}")
    return "; ".join(lines)


def sanitizer_steps():
    return [(f"compute-sanitizer {tool}", lambda budget, tool=tool: sanitizer(tool, budget)) for tool in SANITIZERS]
