#!/bin/sh
# The four commands of docs/gpu/first-hour.md, dry, with programs that stand in: killed at a random moment each leaves a
# report that can be read, and on a machine that is five times slower each ends within its limit.
command -v python3 >/dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=scripts exec python3 - <<'PYTHON'
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import gpu_run

COMMANDS = [["ops"], ["train", "sanitizer"], ["times"], ["peers"]]
ENOUGH, LIMIT, GRACE = 120, 7, 6  # seconds: of a command that may take its time, of a slow one, and to end its programs
folder = pathlib.Path(tempfile.mkdtemp())
pack = folder / "pack"
(pack / "bin").mkdir(parents=True)
(pack / "VERSION").write_text("1")


def place(file, text):
    file.write_text(text)
    file.chmod(0o755)


for name in gpu_run.PROGRAMS:
    place(pack / "bin" / name, "#!/bin/sh\ncase $* in *list_tests*) echo '  has_the_same_bits_on_cuda/sum_one'; exit ;; esac\n"
          f"exec {sys.executable} -c 'import os, time; time.sleep(0.3 * int(os.environ[\"SLOWER\"]))\n"
          "print(\"[  PASSED  ] 3 tests.\")'\n")
place(pack / "bin/models", f"#!{sys.executable}" + '''
import json, os, sys, time
slower = int(os.environ["SLOWER"])
print("ready", flush=True)
for line in sys.stdin:
    command, *rest = line.split()
    time.sleep(0.002 * slower)
    answers = {"run": lambda: 1e-2 * slower * int(rest[0]), "reading": lambda: 1e-2 * slower * int(rest[0]), "loss": lambda: 2.0,
               "mode": lambda: rest[0], "weights": lambda: "written", "fingerprint": lambda: "ab",
               "profile": lambda: json.dumps([["a: x", 1.5]])}
    print(answers[command](), flush=True)
''')
place(folder / "peer", "#!/bin/sh\nsleep $(echo 0.1 $SLOWER | awk '{print $1 * $2}')\n"
      """echo '{"row": "best", "loss": 2.0, "seconds": 0.004}'\n""")
code = ("import pathlib, sys, gpu_run; gpu_run.PACK = pathlib.Path(sys.argv.pop(1)); "
        "exec(compile(open('scripts/gpu_check').read(), 'gpu_check', 'exec'))")


def start(parts, out, slower=1, limit=ENOUGH):
    environment = dict(os.environ, OUT=str(out), PYTHON=str(folder / "peer"), RETRACE_NVRTC="none", SLOWER=str(slower))
    return subprocess.Popen([sys.executable, "-c", code, str(pack), "--seconds", str(limit), *parts], env=environment,
                            start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def sections(out, part):
    """Names and texts of the steps in a report; each is there whole."""
    text = (out / f"gpu-{part}.md").read_text()
    assert text.startswith(f"# {part}: ") and text.endswith("\n"), text
    found = re.findall(r"^## ([^\n]*), \d+ s\n\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert len(found) == text.count("\n## ") and all(said.strip() for _, said in found), text
    assert text.count("```") % 2 == 0, text
    return found


def whole(parts):
    """How long it takes by itself, and how many steps it has."""
    begun, out = time.monotonic(), folder / "whole" / parts[0]
    said = (one := start(parts, out)).communicate()[0]
    assert one.returncode == 0, said
    return time.monotonic() - begun, sum(len(sections(out, part)) for part in parts)


def killed(parts, seconds, steps, out):
    """How many steps the report of a killed one holds."""
    moment = random.uniform(0, seconds)
    one = start(parts, out)
    time.sleep(moment)
    os.killpg(one.pid, signal.SIGKILL)
    one.communicate()
    reports = [out / f"gpu-{part}.md" for part in parts]
    there = [part for part, report in zip(parts, reports) if report.exists() and report.stat().st_size]
    count = sum(len(sections(out, part)) for part in there)
    assert count <= steps, (parts, moment, count, steps)
    return count


def slowed(parts):
    """How many steps a machine that is five times slower had no time for."""
    begun, out = time.monotonic(), folder / "slow" / parts[0]
    said = start(parts, out, 5, LIMIT).communicate()[0]
    took = time.monotonic() - begun
    assert took < LIMIT + GRACE, (parts, took, said)
    texts = [text for part in parts for _, text in sections(out, part)]
    return sum("the part's time is over" in text or "took more than" in text for text in texts)


times = [whole(parts) for parts in COMMANDS]
kept = [killed(parts, *times[i], folder / f"killed{round}" / parts[0])
        for round in range(2) for i, parts in enumerate(COMMANDS)]
late = [slowed(parts) for parts in COMMANDS]
print(f"seconds and steps of each: {times}; steps kept of killed ones: {kept}; steps that slow ones had no time for: {late}")
assert any(kept), "each kill came before the first step"
assert late[0] > 0, "nothing was too slow"
shutil.rmtree(folder)
PYTHON
