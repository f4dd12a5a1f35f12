"""Reading a folder of JPEG files by PyTorch's DataLoader: torch_loader.py WORKERS FOLDER IMAGES.

Speaks the protocol of bench/loader.cpp but for the probe. Workers are processes that live on between passes; Pillow
decodes. An image becomes f32, channels first, between 0 and 1, as torchvision's ToTensor makes it; mini-batches have 128.
"""

import pathlib
import sys
import time

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, folder, count):
        classes = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir())
        files = [(str(file), label) for label, path in enumerate(classes) for file in sorted(path.iterdir())]
        files.sort()
        count = min(count, len(files))
        self.files = [files[i * len(files) // count] for i in range(count)]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with Image.open(path) as image:
            pixels = np.array(image.convert("RGB"))
        return torch.from_numpy(pixels).permute(2, 0, 1).contiguous().to(torch.float32).div(255), label


def main():
    workers, folder, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(1)
    images = Images(folder, count)
    loader = DataLoader(images, batch_size=128, shuffle=True, num_workers=workers, persistent_workers=True)

    def run(passes):
        start = time.perf_counter()
        for _ in range(passes):
            for _ in loader:
                pass
        return time.perf_counter() - start

    run(1)  # starts the workers
    print("ready", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "run":
            print(f"{run(int(arguments[0])):.9f}", flush=True)
        elif command == "images":
            print(len(images), flush=True)
        elif command == "sum":
            print(f"{sum(float((x * 255).round().double().sum()) for x, _ in loader):.0f}", flush=True)
        else:
            print("unknown command", flush=True)


if __name__ == "__main__":
    main()
