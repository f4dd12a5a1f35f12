"""The network of bench/gpt.cpp in PyTorch: torch_gpt.py eager|compiled LAYERS HEADS FEATURES CONTEXT BATCH VOCABULARY THREADS
WEIGHTS. Speaks its line protocol, but for "probe" and "weights"; WEIGHTS is what that wrote."""

import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import workloads


class Attention(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.inputs, self.output = nn.Linear(features, 3 * features), nn.Linear(features, features)

    def forward(self, x):
        batch, length, features = x.shape
        parts = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.inputs(x).split(features, 2))
        y = F.scaled_dot_product_attention(*parts, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(batch, length, features))


class Block(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(features), nn.LayerNorm(features)
        self.attention = Attention(features, heads)
        self.wide, self.narrow = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.narrow(F.gelu(self.wide(self.second(x))))


class Gpt(nn.Module):
    def __init__(self, layers, heads, features, context, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, features), nn.Parameter(torch.zeros(context, features))
        self.blocks = nn.ModuleList([Block(features, heads) for _ in range(layers)])
        self.last, self.scores = nn.LayerNorm(features), nn.Linear(features, vocabulary, bias=False)
        self.scores.weight = self.tokens.weight

    def forward(self, x, targets):
        y = self.tokens(x) + self.positions
        for block in self.blocks:
            y = block(y)
        scores = self.scores(self.last(y))
        return F.cross_entropy(scores.view(-1, scores.shape[-1]), targets.view(-1))


def load(model, path):
    """Our weights: layers of a kind are numbered in the order in which they are used."""
    arrays = {name.removeprefix("parameters/"): torch.from_numpy(value.copy())
              for name, value in workloads.read_safetensors(path).items()}

    def give(module, name, names=(("weight", "weights"), ("bias", "bias"))):
        for theirs, ours in names:
            if getattr(module, theirs) is not None:
                getattr(module, theirs).data.copy_(arrays.pop(f"{name}/{ours}"))

    norm = (("weight", "scale"), ("bias", "offset"))
    model.tokens.weight.data.copy_(arrays.pop("embedding_1/weights"))
    model.positions.data.copy_(arrays.pop("position_embedding_1/weights"))
    for i, block in enumerate(model.blocks):
        give(block.first, f"layer_norm_{2 * i + 1}", norm), give(block.second, f"layer_norm_{2 * i + 2}", norm)
        inputs = block.attention.inputs
        for part, name in enumerate(("query", "key", "value")):
            for theirs, ours in (("weight", "weights"), ("bias", "bias")):
                rows = arrays.pop(f"self_attention_{i + 1}/{name}/{ours}")
                getattr(inputs, theirs).data[part * len(rows):(part + 1) * len(rows)] = rows
        give(block.attention.output, f"self_attention_{i + 1}/output")
        give(block.wide, f"linear_{2 * i + 1}"), give(block.narrow, f"linear_{2 * i + 2}")
    give(model.last, f"layer_norm_{2 * len(model.blocks) + 1}", norm)
    if arrays:
        raise SystemExit(f"torch_gpt: no place for {sorted(arrays)}")


def main():
    form, (layers, heads, features, context, batch, vocabulary, threads) = sys.argv[1], map(int, sys.argv[2:9])
    torch.set_num_threads(threads)

    def tokens(salt):
        drawn = workloads.uniform((batch * context,), salt) * np.float32(vocabulary)
        return torch.from_numpy(drawn.astype(np.int64).reshape(batch, context))

    x, targets = tokens(1), tokens(2)
    model = Gpt(layers, heads, features, context, vocabulary)
    load(model, sys.argv[9])
    forward = torch.compile(model) if form == "compiled" else model
    start = {name: value.clone() for name, value in model.state_dict().items()}
    held = [None]

    def restart():
        model.load_state_dict(start)
        held[0] = torch.optim.Adam(model.parameters(), lr=3e-4, fused=True)

    def step():
        held[0].zero_grad(set_to_none=True)
        loss = forward(x, targets)
        loss.backward()
        held[0].step()
        return loss.detach()

    restart()
    workloads.serve(step, restart, time.perf_counter)


if __name__ == "__main__":
    main()
