"""Images a second from a folder of JPEG files: loader.py BUILD_FOLDER [FOLDER] writes bench-loader.json there.

Our queue with two threads, PyTorch's DataLoader with two workers and bare libjpeg-turbo on two threads read the same files
in turn, each sample between two probes of the machine. FOLDER (or RETRACE_BENCH_IMAGES) has a folder for each class, such as
the training set of CIFAR-10; without one, JPEG files are drawn with Pillow, where the peers are installed.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from measure import LEAST_SAMPLES, ROOT, Absent, Contestant, Program, peers_python, quantile

IMAGES, THREADS, SECONDS = 8192, 2, 20
OURS, PEER, FLOOR = "retrace", "PyTorch DataLoader", "libjpeg-turbo alone"
# 32 x 32 pixels of smooth noise, about a kilobyte each, as photographs of this size have.
DRAW = """
import pathlib, sys
import numpy as np
from PIL import Image
random = np.random.default_rng(1)
for i in range(int(sys.argv[2])):
    folder = pathlib.Path(sys.argv[1]) / str(i % 10)
    folder.mkdir(exist_ok=True)
    small = Image.fromarray(random.integers(0, 256, (8, 8, 3), dtype=np.uint8))
    small.resize((32, 32), Image.BICUBIC).save(folder / f"{i:05}.jpg", quality=90)
"""


def contestants(build, folder):
    """Name to contestant, our programs first; and why a peer does not take part."""
    programs = {name: Program([f"{build}/bench/loader", kind, str(THREADS), folder, str(IMAGES)], THREADS)
                for name, kind in ((OURS, "queue"), (FLOOR, "decoder"))}
    python, absent = peers_python(), {}
    if python is None:
        absent[PEER] = "not installed"
    else:
        try:
            programs[PEER] = Program([str(python), str(ROOT / "bench/peers/torch_loader.py"), str(THREADS), folder,
                                      str(IMAGES)], THREADS)
        except Absent as reason:
            absent[PEER] = str(reason)
    sums = {name: program.ask("sum") for name, program in programs.items()}
    if len(set(sums.values())) > 1:
        raise SystemExit(f"loader: the programs read other pixels: {sums}")
    return {name: Contestant(program, programs[OURS]) for name, program in programs.items()}, absent


def measure(build, folder):
    best = {}
    everyone, absent = contestants(build, folder)
    everyone[OURS].calibrate(best)
    start = time.monotonic()
    while time.monotonic() - start < SECONDS or (
            min(len(one.kept(best)) for one in everyone.values()) < LEAST_SAMPLES and time.monotonic() - start < 6 * SECONDS):
        for one in everyone.values():
            one.sample(best)
    images = int(everyone[OURS].program.ask("images"))
    rows = []
    for name, one in everyone.items():
        kept = [images / seconds for seconds, _ in one.kept(best)]
        rows.append({"what": name, "samples": len(kept), "dropped": len(one.samples) - len(kept)} | (
            {"images_s": quantile(kept, 0.5), "p10": quantile(kept, 0.1), "p90": quantile(kept, 0.9)}
            if len(kept) >= LEAST_SAMPLES else {}))
        one.program.close()
    return {"images": images, "threads": THREADS, "rows": rows, "absent": absent}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    folder = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("RETRACE_BENCH_IMAGES", "")
    with tempfile.TemporaryDirectory() as drawn:
        if not folder and peers_python() is not None:
            subprocess.run([peers_python(), "-c", DRAW, drawn, str(IMAGES)], check=True)
            folder = drawn
        found = measure(build, folder) if folder else None
    (build / "bench-loader.json").write_text(json.dumps(found, indent=1) + "\n")
    for row in found["rows"] if found else []:
        print("loader:", row["what"], f"{row['images_s']:.0f} images a second" if "images_s" in row else "too few samples")


main()
