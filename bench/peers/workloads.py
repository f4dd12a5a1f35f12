"""What the peers share: the data of the four workloads, our exported weights, and the line protocol."""

import struct
import json
import resource
import sys

import numpy as np

BATCH = {"digits": 32, "peaks": 40000, "cifar10": 256, "autoencoder": 500}


def uniform(shape, salt):
    """The benches' synthetic numbers in [0, 1): a multiplicative hash of the index, the same on our side."""
    count = int(np.prod(shape))
    index = np.arange(count, dtype=np.uint32) + np.uint32(salt * 0x9E3779B9 & 0xFFFFFFFF)
    index ^= index >> np.uint32(16)
    index *= np.uint32(0x7FEB352D)
    index ^= index >> np.uint32(15)
    index *= np.uint32(0x846CA68B)
    index ^= index >> np.uint32(16)
    return (index >> np.uint32(8)).astype(np.float32).reshape(shape) * np.float32(1 / 16777216)


def data(workload):
    """Input and targets; images are [batch, height, width, channels]."""
    n = BATCH[workload]
    classes = (uniform((n,), 2) * 10).astype(np.int64)
    if workload == "digits":
        return uniform((n, 28, 28, 1), 1), [classes, uniform((n, 1), 3) * np.float32(90) - np.float32(45)]
    if workload == "peaks":
        return uniform((n, 2), 1) * np.float32(6) - np.float32(3), [uniform((n, 1), 2)]
    if workload == "cifar10":
        return uniform((n, 32, 32, 3), 1), [classes]
    return uniform((n, 32, 32, 1), 1), [uniform((n, 32, 32, 1), 2)]


def read_safetensors(path):
    """Name to array, f32 only."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header, body = json.loads(file.read(size)), file.read()
    return {name: np.frombuffer(body[slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def tree(arrays, root):
    """Nested dictionaries from names such as parameters/conv2d_1/weights."""
    found = {}
    for name, value in arrays.items():
        first, *path = name.split("/")
        if first != root:
            continue
        at = found
        for part in path[:-1]:
            at = at.setdefault(part, {})
        at[path[-1]] = value
    return found


def jax_weights(workload, jnp, path):
    arrays = {name: jnp.asarray(value) for name, value in read_safetensors(path).items()}
    return tree(arrays, "parameters"), tree(arrays, "state")


def torch_order(value):
    """Our [kh, kw, in, out] as [out, in, kh, kw]; [out, in] and vectors stay."""
    return value.transpose(3, 2, 0, 1) if value.ndim == 4 else value


def load_torch(model, path):
    """Our entries into the modules that have their names; an underscore ends one that Python would not take."""
    import torch  # JAX's peer has no need of it

    arrays = read_safetensors(path)
    for name, module in model.named_modules():
        for ours, theirs in (("weights", "weight"), ("bias", "bias"), ("scale", "weight"), ("offset", "bias")):
            value = arrays.get(f"parameters/{name.rstrip('_')}/{ours}")
            if value is not None:
                getattr(module, theirs).data.copy_(torch.from_numpy(torch_order(value).copy()))


def serve(step, restart, clock, finish=lambda value: None):
    """Warms up, then answers until the input ends: "run N" with the seconds of N steps, "loss N" with the loss of step
    N after the starting values, "memory" with the peak in MiB. finish(value) waits for what a device still computes."""
    for _ in range(3):
        finish(step())
    print("ready", flush=True)
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "memory":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, flush=True)
            continue
        if command == "loss":
            restart()
        value, start = None, clock()
        for _ in range(int(rest[0])):
            value = step()
        finish(value)
        print(clock() - start if command == "run" else value.item(), flush=True)
