"""llm.c's CPU program with the weights of bench/gpt.cpp: llmc.py LAYERS HEADS FEATURES CONTEXT BATCH VOCABULARY THREADS WEIGHTS.

It compiles bench/peers/llmc_gpt.c with the folder llm.c of the peers' environment, which holds train_gpt2.c, writes llm.c's
checkpoint beside WEIGHTS, and becomes that program. It takes gelu in the form with tanh, so that its loss differs by some 1e-5.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import workloads

HEADER, MAGIC, VERSION, PADDING = 256, 20240326, 3, 128
FLAGS = ["-Ofast", "-march=native", "-fopenmp", "-DOMP", "-w"]


def checkpoint(path, size, weights):
    layers, heads, features, context, _, vocabulary = size
    arrays = {name.removeprefix("parameters/"): value for name, value in workloads.read_safetensors(weights).items()}
    padded = -(-vocabulary // PADDING) * PADDING
    tokens = np.zeros((padded, features), np.float32)
    tokens[:vocabulary] = arrays["embedding_1/weights"]

    def layered(name):
        return [arrays[name(i)] for i in range(layers)]

    def norm(which, part):
        return layered(lambda i: f"layer_norm_{2 * i + which}/{part}")

    def inputs(part):
        return [np.concatenate([arrays[f"self_attention_{i + 1}/{kind}/{part}"] for kind in ("query", "key", "value")])
                for i in range(layers)]

    def both(name):
        return [layered(lambda i, part=part: f"{name(i)}/{part}") for part in ("weights", "bias")]

    last = f"layer_norm_{2 * layers + 1}"
    parts = [[tokens], [arrays["position_embedding_1/weights"]], norm(1, "scale"), norm(1, "offset"), inputs("weights"), inputs("bias"),
             *both(lambda i: f"self_attention_{i + 1}/output"), norm(2, "scale"), norm(2, "offset"),
             *both(lambda i: f"linear_{2 * i + 1}"), *both(lambda i: f"linear_{2 * i + 2}"),
             [arrays[f"{last}/scale"]], [arrays[f"{last}/offset"]]]
    header = np.zeros(HEADER, np.int32)
    header[:8] = MAGIC, VERSION, context, vocabulary, layers, heads, features, padded
    with open(path, "wb") as file:
        header.tofile(file)
        for part in parts:
            for value in part:
                np.ascontiguousarray(value, np.float32).tofile(file)


def main():
    (*size, threads), weights = map(int, sys.argv[1:8]), pathlib.Path(sys.argv[8])
    checkout = pathlib.Path(sys.prefix) / "llm.c"
    program, model = weights.with_name("llmc_gpt"), weights.with_name("llmc.bin")
    source = pathlib.Path(__file__).with_name("llmc_gpt.c")
    subprocess.run(["cc", *FLAGS, f"-I{checkout}", source, "-o", program, "-lm"], check=True)
    checkpoint(model, size, weights)
    os.execve(program, [program, model, str(size[3]), str(size[4])], os.environ | {"OMP_NUM_THREADS": str(threads)})


if __name__ == "__main__":
    main()
