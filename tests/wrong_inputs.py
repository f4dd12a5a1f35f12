"""Runs the cases of tests/wrong_inputs/*.txt: wrong_inputs.py PATH_OF_RETRACE [--write].

A case is a title, command lines, and what each must say: its exit code and, where that is not 0, the whole of standard
error. A line after the first one is what the message asks for, and must help. The inputs are made here, in a folder of
their own for each case ("- stop" ends what a command line with & began):

    # A misspelt solver
    $ retrace train points.toml --set training.solver=adm
    exit 2
    error[RT...
    $ retrace train points.toml --set training.solver=adam
    exit 0

--write puts what the command says now into the files, to be read before it is committed.
"""

import gzip
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz/corpus"
LEAST_CASES = 60
SECONDS = 60  # of a command

# --- Inputs that are right


def png(width=10, height=9, value=128, channels=3):
    rows = b"".join(b"\0" + bytes([value]) * (width * channels) for _ in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def npy(shape, kind="<f4", fill=1):
    code = {"<f4": "<f", "<i4": "<i"}.get(kind, "<f")
    count = 1
    for size in shape:
        count *= size
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack(code, fill) * count


def idx(shape, values):
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape) + bytes(values)


def points(first):
    rows = [f"{i // 8},{i % 8},{'below' if i // 8 > i % 8 else 'above'}" for i in range(first, 64, 2)]
    return "\n".join(["x,y,side", *rows]) + "\n"


LAYERS = '[{type = "linear", features = 4}, {type = "relu"}, {type = "linear", features = 2}, {type = "softmax"}]'
POINTS = f"""seed = 1
device = "cpu"
[network]
layers = {LAYERS}
[data]
source = "csv"
path = "points"
features = 2
[training]
max_epochs = 2
mini_batch_size = 8
"""
IMAGES = """device = "cpu"
[network]
layers = [{type = "conv2d", size = 3, filters = 2}, {type = "global_average_pool2d"}, {type = "linear", features = 2}]
[data]
source = "images"
path = "images"
image_height = 9
image_width = 10
image_channels = 3
[training]
max_epochs = 1
mini_batch_size = 2
"""
ARRAYS = POINTS.replace('"csv"', '"npy"').replace('"points"', '"arrays"')
MNIST = """device = "cpu"
[network]
name = "digits"
width = 4
heads = ["class"]
[data]
source = "mnist"
path = "mnist"
[training]
max_epochs = 1
mini_batch_size = 2
"""


def write(path, content):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def make_inputs():
    """Jobs and their data, all right, in the current folder."""
    for name, text in {"points": POINTS, "images": IMAGES, "arrays": ARRAYS, "mnist": MNIST}.items():
        write(f"{name}.toml", text)
    for first, split in enumerate(("train", "test")):
        write(f"points/{split}.csv", points(first))
        for name in ("cat", "dog"):
            for i in range(2):
                write(f"images/{split}/{name}/{i}.png", png(value=100 * i + 20 * len(name)))
        write(f"arrays/{split}_inputs.npy", npy((6, 2)))
        write(f"arrays/{split}_targets.npy", npy((6,), "<i4"))
        prefix = {"train": "train", "test": "t10k"}[split]
        write(f"mnist/{prefix}-images-idx3-ubyte", idx((4, 28, 28), [7] * 4 * 784))
        write(f"mnist/{prefix}-labels-idx1-ubyte", idx((4,), [1, 2, 3, 4]))


# --- What is wrong: steps that a case names in a line "- NAME ARGUMENTS", before its commands


def replace(path, old, new):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    write(path, text.replace(old, new, 1))


def damage(path, place):
    """Changes the byte at a place: a share of the file, or a negative number that counts from its end."""
    content = bytearray(pathlib.Path(path).read_bytes())
    content[int(place) if place.startswith("-") else int(float(place) * len(content))] ^= 1
    write(path, bytes(content))


def cut(path, size):
    content = pathlib.Path(path).read_bytes()
    write(path, content[:int(size)])


def folder(path):
    pathlib.Path(path).mkdir(parents=True)


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


STEPS = {
    "corpus": lambda name, path: write(path, (CORPUS / name).read_bytes()),
    "cut": cut,
    "cut-newest": lambda path, size: cut(max(pathlib.Path(path).iterdir(), key=os.path.getmtime), size),
    "damage": damage,
    "folder": folder,
    "gzip": lambda path: write(path + ".gz", gzip.compress(pathlib.Path(path).read_bytes())),
    "idx": lambda path, shape, value: write(path, idx(json.loads(shape), [int(value)] * json.loads(shape)[0])),
    "link": lambda to, path: os.symlink(to, path),
    "npy": lambda path, shape, kind="<f4", fill="1": write(path, npy(tuple(json.loads(shape)), kind, float(fill) if
                                                                      kind[1] == "f" else int(fill))),
    "png": lambda path, width, height, channels="3": write(path, png(int(width), int(height), 9, int(channels))),
    "remove": remove,
    "rename": lambda old, new: os.rename(old, new),
    "replace": replace,
    "write": lambda path, text="": write(path, text),
}

# --- Cases


def parse(path):
    """Titles, and under each its lines."""
    cases = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            cases.append((line, []))
        elif line:
            cases[-1][1].append(line)
    return cases


def steady(text):
    """Without what differs between machines and runs, and without lists of things that may come to be more."""
    text = re.sub(r"[\w-]+(?:, [\w-]+){3,}(?=\n|$)", "LIST", text)
    text = re.sub(r"step-\d+\.safetensors", "step-N.safetensors", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "CHECKSUM", text)
    text = re.sub(r"process \d+ on \S+ since [-0-9: ]+ UTC", "process N on HOST since TIME", text)
    return re.sub(r"\d+ bytes free", "N bytes free", text)


def run(retrace, line):
    """What a command line says: its exit code, and the error."""
    words = shlex.split(line)
    background = words[-1] == "&"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RETRACE_")}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    assert words[0] == "retrace", line
    command = [retrace, *words[1:-1 if background else None]]
    if background:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        weights = pathlib.Path(command[command.index("--out") + 1]) / "weights.safetensors"
        while not weights.exists() and process.poll() is None:
            time.sleep(0.02)
        return ["exit 0"], process
    made = subprocess.run(command, capture_output=True, env=environment, timeout=SECONDS, check=False)
    said = steady(made.stderr.decode()).splitlines() if made.returncode else []
    return [f"exit {made.returncode}", *said], None


def outcome(retrace, lines):
    """The lines of a case as the command makes them now."""
    make_inputs()
    found, processes = [], []
    for line in lines:
        if line == "- stop":
            for process in processes:
                process.terminate()
                process.wait()
        elif line.startswith("- "):
            name, *arguments = shlex.split(line[2:])
            STEPS[name](*(text.replace("\\n", "\n") for text in arguments))
        elif line.startswith("$ "):
            said, process = run(retrace, line[2:])
            processes += [process] if process else []
            found += [line, *said]
            continue
        else:
            continue
        found.append(line)
    for process in processes:
        process.kill()
        process.wait()
    return found


def main():
    retrace, failures, count = os.path.realpath(sys.argv[1]), 0, 0
    for path in sorted((ROOT / "tests/wrong_inputs").glob("*.txt")):
        text = []
        for title, lines in parse(path):
            count += 1
            with tempfile.TemporaryDirectory() as place:
                os.chdir(place)
                found = outcome(retrace, lines)
                os.chdir(ROOT)
            text += [title, *found, ""]
            if found != lines and "--write" not in sys.argv:
                failures += 1
                print(f"FAILED: {path.name}: {title[2:]}", "--- expected", *lines, "--- found", *found, sep="\n", file=sys.stderr)
        if "--write" in sys.argv:
            path.write_text("\n".join(text), encoding="utf-8")
    assert count >= LEAST_CASES, f"{count} cases"
    print(f"wrong_inputs_test: {count} cases, {failures} failures")
    sys.exit(1 if failures else 0)


main()
