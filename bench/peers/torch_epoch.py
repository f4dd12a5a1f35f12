"""Training the cifar10 network from a folder of JPEG files in PyTorch: torch_epoch.py THREADS FOLDER.

Speaks the protocol of bench/epoch.cpp but for the probe. What jobs/cifar10.toml says: mini-batches of 128, random flips and
random crops of the image with 4 pixels of border, SGDM with L2. The step is compiled; as many worker processes as threads
decode by Pillow, and live on between epochs.
"""

import pathlib
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from torch_peer import make

BATCH, SIDE, BORDER = 128, 32, 4


class Augmented(Dataset):
    def __init__(self, folder):
        classes = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir())
        self.files = [(str(file), label) for label, path in enumerate(classes) for file in sorted(path.iterdir())]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with Image.open(path) as image:
            pixels = np.pad(np.asarray(image.convert("RGB")), ((BORDER, BORDER), (BORDER, BORDER), (0, 0)))
        flip, top, left = torch.randint(0, 2 * BORDER + 1, (3,)).tolist()
        pixels = pixels[top:top + SIDE, left:left + SIDE]
        if flip % 2:
            pixels = pixels[:, ::-1]
        return torch.from_numpy(np.ascontiguousarray(pixels)).permute(2, 0, 1).to(torch.float32).div(255), label


def main():
    threads, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2]) / "train"
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    loader = DataLoader(Augmented(folder), batch_size=BATCH, shuffle=True, drop_last=True, num_workers=threads,
                        persistent_workers=True)

    def batches():
        while True:
            yield from loader

    model, _ = make("cifar10")
    model = model.to(memory_format=torch.channels_last).train()
    solver = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-10)
    forward = torch.compile(lambda x, t: F.cross_entropy(model(x), t))
    data, last = batches(), [0.0]

    def step():
        x, t = next(data)
        solver.zero_grad(set_to_none=True)
        value = forward(x.contiguous(memory_format=torch.channels_last), t)
        value.backward()
        solver.step()
        last[0] = value.item()

    def run(steps):
        start = time.perf_counter()
        for _ in range(steps):
            step()
        return time.perf_counter() - start

    run(1)  # compiles, and starts the workers
    print("ready", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "run":
            print(f"{run(int(arguments[0])):.9f}", flush=True)
        elif command == "loss":
            print(f"{last[0]:.6f}", flush=True)
        elif command == "images":
            print(BATCH, flush=True)
        else:
            print("unknown command", flush=True)


if __name__ == "__main__":
    main()
