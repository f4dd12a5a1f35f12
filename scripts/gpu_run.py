"""What gpu_check's parts share: where the programs are, how one is run with a deadline, and what is kept of its output.

The programs are those of build-gpu/pack.tar.xz where that is there (scripts/gpu_pack), else of a build in build-gpu."""

import concurrent.futures
import ctypes
import glob
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import time

from project import ROOT

BUILD = ROOT / "build-gpu"
ARCHIVE, PACK = BUILD / "pack.tar.xz", BUILD / "pack"
# Each with the folder of the build that it lies in.
PROGRAMS = {"test_ops": "tests", "test_cuda_plan": "tests", "test_cuda_value_errors": "tests", "test_cuda_exit": "tests",
            "test_tensor": "tests", "test_data": "tests", "test_run": "tests", "test_random_traces": "tests",
            "test_cuda_golden": "tests", "test_cuda_fast": "tests", "test_cuda_workers": "tests", "test_cuda_late_loss": "tests",
            "models": "bench", "retrace": ""}


class Failed(Exception):
    """A step that failed, with what the report says of it."""


class NotAvailable(Exception):
    """A tool that this machine has not."""


def unpack():
    """Makes PACK of ARCHIVE, unless it is there."""
    stamp = PACK / "VERSION"
    if ARCHIVE.exists() and not (stamp.exists() and stamp.stat().st_mtime >= ARCHIVE.stat().st_mtime):
        shutil.rmtree(PACK, ignore_errors=True)
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(PACK)
        stamp.touch()


def program(name):
    folder = PACK / "bin" if (PACK / "VERSION").exists() else BUILD / PROGRAMS[name]
    if not (folder / name).exists():
        raise Failed(f"there is no {name}: scripts/gpu_pack makes it on another machine, and the part build on this one")
    return str(folder / name)


def version():
    stamp = PACK / "VERSION"
    if stamp.exists():
        return f"packed: {stamp.read_text().strip()}"
    try:
        return f"built here: {subprocess.check_output(['git', 'describe', '--always', '--dirty'], cwd=ROOT, text=True).strip()}"
    except (OSError, subprocess.CalledProcessError):
        return "built here"


def python():
    """The interpreter that has PyTorch and JAX."""
    return os.environ.get("PYTHON", "python3")


def nvrtc():
    """The file of NVRTC where the library would not find it by itself: beside nvcc, or in Python's packages."""
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):
        for place in (name, f"{os.environ.get('CUDA_HOME', '')}/lib64/{name}", f"/usr/local/cuda/lib64/{name}"):
            try:
                ctypes.CDLL(place)
                return None
            except OSError:
                pass
    places = []
    if nvcc := shutil.which("nvcc"):
        home = pathlib.Path(nvcc).resolve().parent.parent
        places += [home / "lib64", home / "lib", *home.glob("targets/*/lib")]
    try:
        paths = subprocess.check_output([python(), "-c", "import site, sys; print(*sys.path, *site.getsitepackages(), sep='\\n')"],
                                        text=True, timeout=60).split("\n")
    except (OSError, subprocess.SubprocessError):
        paths = []
    for path in filter(None, paths):
        places += [pathlib.Path(found) for found in sorted(glob.glob(f"{path}/nvidia/*/lib"), reverse=True)]
    for place in places:
        for file in sorted(place.glob("libnvrtc.so*")):
            if ".alt" not in file.name:
                return str(file)
    return None


_environment = None


def environment():
    """Of our programs: with the libraries of the pack or of DEPS, and the real devices only."""
    global _environment
    if _environment is None:
        env = dict(os.environ, RETRACE_CUDA_EMULATION=os.environ.get("RETRACE_CUDA_EMULATION", "off"))
        folders = [str(PACK / "lib")] if (PACK / "VERSION").exists() else []
        if os.environ.get("DEPS"):
            folders += map(str, pathlib.Path(os.environ["DEPS"]).resolve().glob("usr/lib/*-linux-gnu"))
        if folders:
            env["LD_LIBRARY_PATH"] = ":".join(folders + [env.get("LD_LIBRARY_PATH", "")])
        if "RETRACE_NVRTC" not in env and (file := nvrtc()):
            env["RETRACE_NVRTC"] = file
        _environment = env
    return _environment


def last_lines(text, count=20):
    return "\n".join(text.strip().split("\n")[-count:])


def run(command, seconds, env=None, lines=""):
    """Exit status (None: it was ended after `seconds`) and output, errors among it, of a program that reads `lines`."""
    with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryFile("w+") as given:
        given.write(lines)
        given.seek(0)
        try:
            process = subprocess.Popen(command, cwd=ROOT, env=env or environment(), stdin=given, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        except FileNotFoundError as error:
            raise NotAvailable(f"there is no {command[0]}") from error
        try:
            status = process.wait(max(1, seconds))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
        output.seek(0)
        return status, output.read()


def checked(command, seconds, env=None):
    """The output; Failed with the end of it if it fails or takes too long."""
    status, text = run(command, seconds, env)
    if status != 0:
        how = f"took more than {seconds} s" if status is None else f"ended with {status}"
        raise Failed(f"{' '.join(map(str, command))}\n{how}:\n{last_lines(text, 40)}")
    return text


def failures(text, count=3, length=2500):
    """The first tests that failed, with what they printed, and the names of all: after an illegal address the device is
    dead for the process, and only the first says why."""
    blocks = re.findall(r"^\[ RUN      \] (.*?)(?=^\[ RUN      \]|^\[-----|\Z)", text, re.M | re.S)
    bad = [block for block in blocks if "[  FAILED  ]" in block or "[       OK ]" not in block and "SKIPPED" not in block]
    names = [block.split("\n")[0] for block in bad]
    shown = [block[:length] + ("\n..." if len(block) > length else "") for block in bad[:count]]
    more = f"\n{len(names)} in all: {' '.join(names[:60])}" if len(names) > count else ""
    return "\n".join(shown) + more


SHARDS = {"test_ops": 12}  # processes among which the tests of a program are shared out: most of each test is NVRTC's compiler


def shard(name, filters, seconds, number, count):
    """Exit status and output of one of the processes."""
    env = dict(environment(), GTEST_TOTAL_SHARDS=str(count), GTEST_SHARD_INDEX=str(number))
    return run([program(name), f"--gtest_filter={filters}"], seconds, env)


def tests(name, filters, seconds):
    """What GoogleTest counts; the first failures if there are any."""
    count = min(SHARDS.get(name, 1), os.cpu_count())
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        results = list(pool.map(lambda number: shard(name, filters, seconds, number, count), range(count)))
    for status, text in results:
        if status != 0:
            how = f"took more than {seconds:.0f} s" if status is None else f"ended with {status}"
            raise Failed(f"{name} --gtest_filter={filters}\n{how}:\n{failures(text) or last_lines(text)}")
    passed, skipped = (sum(int(number) for _, text in results for number in re.findall(rf"^\[  {what} \] (\d+) test", text, re.M))
                       for what in ("PASSED ", "SKIPPED"))
    if passed == 0:
        raise Failed(f"{name} --gtest_filter={filters}\nno test ran on a device:\n{last_lines(results[0][1])}")
    return f"{passed} passed, {skipped} skipped"


class Program:
    """A process that answers lines, as bench/models.cpp does."""

    def __init__(self, command, seconds):
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.name = " ".join(pathlib.Path(part).name for part in command)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=self.errors, env=environment(), cwd=ROOT, start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if self._line(seconds) != "ready":
            self._fail("did not start")

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def _line(self, seconds):
        try:
            line = self.lines.get(timeout=max(1, seconds))
        except queue.Empty:
            return self._fail(f"gave no answer in {seconds:.0f} s")
        return line if line is not None else self._fail("ended")

    def _fail(self, how):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.errors.seek(0)
        raise Failed(f"{self.name} {how}:\n{last_lines(self.errors.read())}")

    def ask(self, line, seconds=60):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self._fail("ended")
        return self._line(seconds)

    def step_seconds(self):
        """The median of 15 samples of 0.1 s."""
        step = max(1e-6, float(self.ask("run 10")) / 10)
        count = max(3, round(0.1 / step))
        return sorted(float(self.ask(f"run {count}")) / count for _ in range(15))[7]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self._fail("did not end")


class Budget:
    """The time that a part has."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self, most):
        left = self.end - time.monotonic()
        if left < 5:
            raise Failed("not begun: the part's time is over")
        return min(most, left)
