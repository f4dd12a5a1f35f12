#!/bin/sh
# scripts/gpu_check without a device: which cases it takes, what it keeps of programs that fail, hang or die, and of peers.
command -v python3 >/dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=scripts exec python3 - <<'PYTHON'
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import gpu_run
import gpu_tests
import gpu_times

folder = pathlib.Path(tempfile.mkdtemp())
gpu_run.PACK = folder / "pack"
(gpu_run.PACK / "bin").mkdir(parents=True)
(gpu_run.PACK / "VERSION").write_text("1")
os.environ["RETRACE_NVRTC"] = "none"


def program(name, text):
    file = gpu_run.PACK / "bin" / name
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(0o755)
    return str(file)


def failure_of(body):
    try:
        body()
    except (gpu_run.Failed, gpu_run.NotAvailable) as reason:
        return f"{type(reason).__name__}: {reason}"
    raise AssertionError("nothing failed")


def holds(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"


# Cases of an op are found by the longest name of an op.
listing = "\n".join(f"  has_the_same_bits_on_cuda/{case}  # GetParam()" for case in
                    ("max_a_nan_wins", "max_all", "max_apart", "max_pool2d_one", "max_pool2d_gradient_one", "matmul_a",
                     "matmul_b", "sum", "exp_odd"))
ops = ("max", "max_pool2d", "max_pool2d_gradient", "matmul", "sum", "exp")
kept, groups = gpu_tests.chosen(listing, 1, (), ops)
assert groups == 6 and "*has_the_same_bits_on_cuda/max_pool2d_one" in kept and len(kept) == 6, kept
kept, groups = gpu_tests.chosen(listing, 2, ("max_pool2d", "matmul"), ops)
assert sorted(name.split("/")[1] for name in kept) == ["matmul_a", "matmul_b", "max_pool2d_gradient_one", "max_pool2d_one"]

# Of a device that died, the first failure is kept, whatever comes after it.
program("test_ops", """echo '[ RUN      ] A.good'; echo '[       OK ] A.good (1 ms)'
echo '[ RUN      ] A.first'; echo 'an illegal address was met'; echo '[  FAILED  ] A.first (1 ms)'
i=0; while [ $i -lt 3000 ]; do echo "[ RUN      ] A.later$i"; echo 'device unusable'; echo "[  FAILED  ] A.later$i (0 ms)"; i=$((i + 1)); done
exit 1
""")
text = failure_of(lambda: gpu_run.tests("test_ops", "*", 20))
holds(text, "A.first", "an illegal address was met", "3001 in all")
assert "A.good" not in text and len(text) < 10000
program("test_ops", "echo '[ RUN      ] A.hangs'; echo 'a last word' >&2; sleep 60\n")
start = time.monotonic()
holds(failure_of(lambda: gpu_run.tests("test_ops", "*", 1)), "took more than 1 s", "A.hangs", "a last word")
assert time.monotonic() - start < 20
program("test_ops", "echo '[ RUN      ] A.dies'; echo '[  PASSED  ] 3 tests.'; kill -9 $$\n")
holds(failure_of(lambda: gpu_run.tests("test_ops", "*", 20)), "ended with -9", "A.dies")
program("test_ops", "echo '[  PASSED  ] 0 tests.'; echo '[  SKIPPED ] 4 tests, listed below:'\n")
holds(failure_of(lambda: gpu_run.tests("test_ops", "*", 20)), "no test ran on a device")
program("test_ops", "echo '[  PASSED  ] 12 tests.'; echo '[  SKIPPED ] 4 tests, listed below:'\n")
processes = min(gpu_run.SHARDS["test_ops"], os.cpu_count())  # which share the tests
assert gpu_run.tests("test_ops", "*", 20) == f"{12 * processes} passed, {4 * processes} skipped"

# A tool that a machine refuses is no failure; one that finds something is.
case = "  has_the_same_bits_on_cuda/sum_one"
program("test_ops", f"echo '{case}'\n")
tools = folder / "tools"
tools.mkdir()
gpu_run._environment = dict(gpu_run.environment(), PATH=f"{tools}:/usr/bin:/bin")
os.environ["PATH"] = f"{tools}:/usr/bin:/bin"


def sanitizer_says(text, status):
    tool = tools / "compute-sanitizer"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
    tool.chmod(0o755)
    return lambda: gpu_tests.sanitizer("memcheck", gpu_run.Budget(60))


holds(failure_of(sanitizer_says("========= Error: Device not supported. Please refer to the docs", 1)), "NotAvailable",
      "Device not supported")
good = "[  PASSED  ] 1 test.\n========= ERROR SUMMARY: 0 errors"
assert sanitizer_says(good, 0)() == "1 cases of 1 ops: ERROR SUMMARY: 0 errors"
holds(failure_of(sanitizer_says("========= Invalid __global__ read of size 4 bytes\n========= ERROR SUMMARY: 1 error", 1)),
      "Failed", "Invalid __global__ read")
holds(failure_of(sanitizer_says("========= ERROR SUMMARY: 0 errors", 0)), "Failed")  # no case ran

# Programs that answer lines.
program("models", "echo ready; read line; echo 0.5; read line; echo 'out of memory' >&2; exit 3\n")
one = gpu_run.Program([gpu_run.program("models")], 20)
assert one.ask("run 1") == "0.5"
holds(failure_of(lambda: one.ask("run 1")), "ended", "out of memory")
program("models", "echo 'no device' >&2; sleep 60\n")
holds(failure_of(lambda: gpu_run.Program([gpu_run.program("models")], 1)), "gave no answer in 1 s", "no device")

# A peer counts only with our loss; one that dies says why.
peer = folder / "python"
os.environ["PYTHON"] = str(peer)
rows = [{"row": "a", "loss": 2.001, "seconds": 0.004, "note": ""}, {"row": "b", "loss": 2.1, "seconds": 0.001},
        {"row": "c", "loss": float("nan"), "seconds": 0.001}, {"row": "d", "failure": "Error: none"},
        {"row": "e, bf16", "loss": 2.0, "seconds": 0.004}, {"row": "f, bf16", "loss": 2.5, "seconds": 0.004}]
peer.write_text("#!/bin/sh\n" + "\n".join(f"echo '{json.dumps(row)}'" for row in rows) + "\necho 'killed' >&2; exit 5\n")
peer.chmod(0o755)
table, said = gpu_times.peer_rows("torch", "digits", "w", ((2.0, 0.002), (2.1, 0.001)), gpu_run.Budget(60))
assert table[0] == "| a | 4.0000 | 2.00 |  |" and table[1].startswith("| b | void") and table[2].startswith("| c | void")
assert table[4].startswith("| e, bf16 | 4.0000 | 4.00 |") and table[5].startswith("| f, bf16 | void"), table
holds("\n".join(table[3:]) + said, "failed: Error: none", "torch | - | - | ended with 5", "torch ended with 5:", "killed")

# The tables of times, launches and peers.
(folder / "models.py").write_text('''
import json, sys
print("ready", flush=True)
mode = "reproducible"
for line in sys.stdin:
    command, *rest = line.split()
    if command == "mode":
        mode = rest[0]
    answers = {"run": lambda: {"fast": 0.001, "fast_bf16": 0.0005}.get(mode, 0.002) * int(rest[0]), "mode": lambda: mode,
               "reading": lambda: 0.003 * int(rest[0]), "loss": lambda: 2.0,
               "weights": lambda: "written", "fingerprint": lambda: "ab" + sys.argv[1],
               "profile": lambda: json.dumps([["a: x", 1.5], ["b: y", 4.25], ["a: z", 3]])}
    print(answers[command](), flush=True)
''')
program("models", f"exec {sys.executable} {folder}/models.py $1\n")
budget = gpu_run.Budget(60)
holds(gpu_times.steps("digits", budget), "| 2.0000 | 0.1500 | 3.0000 | 1.0000 | 0.5000 | 2.0000 |")
holds(gpu_times.kernels("digits", budget), "3 launches, 8.8 us", "| b: y | 4.25 |", "| a | 2 | 4.50 |")
holds(gpu_times.peers_of("digits", budget), "is 2 with ours", "| retrace | 2.0000 | 1 | |", "| a | 4.0000 | 2.00 |")
holds(gpu_tests.full_batches(budget), "cifar10, 2 steps: abcifar10")
gpu_times.thread_counts = lambda: [1, 2]
holds(gpu_times.processors("digits", budget), "| 1 | 2.0000 | 1.00 |", "| 2 | 2.0000 | 1.00 |", "100 steps: abdigits with each")
(folder / "models.py").write_text((folder / "models.py").read_text().replace('"ab" + sys.argv[1]', '"ab" + sys.argv[2]'))
program("models", f"exec {sys.executable} {folder}/models.py $1 $4\n")
holds(failure_of(lambda: gpu_times.processors("digits", budget)), "digits: ab2 with 2 threads, ab1 with one")

# NVRTC beside nvcc, else in Python's packages.
def no_library(name):
    raise OSError(name)


gpu_run.ctypes.CDLL = no_library
os.environ["PATH"] = str(tools)
packages = folder / "site-packages/nvidia/cu13/lib"
packages.mkdir(parents=True)
(packages / "libnvrtc.so.13").touch()
peer.write_text(f"#!/bin/sh\necho '{folder}/site-packages'\n")
assert gpu_run.nvrtc() == str(packages / "libnvrtc.so.13"), gpu_run.nvrtc()
for file in ("cuda/bin/nvcc", "cuda/lib64/libnvrtc.so.12"):
    (folder / file).parent.mkdir(parents=True)
    (folder / file).touch(0o755)
os.environ["PATH"] = f"{folder}/cuda/bin"
assert gpu_run.nvrtc() == str(folder / "cuda/lib64/libnvrtc.so.12")
os.environ["PATH"] = f"{tools}:/usr/bin:/bin"

# The report is on disk after each step; the limit holds for all; an unknown part is named.
out = folder / "out"
program("test_cuda_golden", "echo '[  PASSED  ] 5 tests.'\n")
program("test_cuda_workers", "sleep 60\n")
program("models", "exit 1\n")
code = ("import pathlib, sys, gpu_run; gpu_run.PACK = pathlib.Path(sys.argv.pop(1)); "
        "exec(compile(open('scripts/gpu_check').read(), 'gpu_check', 'exec'))")
run = lambda *arguments: subprocess.run([sys.executable, "-c", code, str(gpu_run.PACK), *arguments], text=True,
                                        env=dict(os.environ, OUT=str(out)), capture_output=True)
done = run("--seconds", "6", "train")
report = (out / "gpu-train.md").read_text()
assert done.returncode == 1, done
holds(report, "packed: 1", "5 passed, 0 skipped", "test_cuda_workers --gtest_filter=*\ntook more than", "the part's time is over")
holds(run("oops").stderr, "there is no part oops: build ops train")
shutil.rmtree(folder)
PYTHON
