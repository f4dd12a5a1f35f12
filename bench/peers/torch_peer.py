"""The four workloads in PyTorch: torch_peer.py WORKLOAD PHASE eager|compiled|graphed THREADS WEIGHTS [cpu|cuda].

"graphed" is compiled with CUDA graphs (mode reduce-overhead).

WEIGHTS are our starting values (safetensors). Speaks the benches' line protocol (workloads.serve). Data are synthetic, made
once, in memory, channels last; what is timed is the step of a training loop: forward, loss, backward, update.
"""

import copy
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import workloads


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv2d_1, self.batch_norm_1 = nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16)
        self.conv2d_2, self.batch_norm_2 = nn.Conv2d(16, 32, 3, stride=2), nn.BatchNorm2d(32)
        self.conv2d_3, self.batch_norm_3 = nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.conv2d_skip, self.batch_norm_skip = nn.Conv2d(16, 32, 1, stride=2), nn.BatchNorm2d(32)
        self.class_, self.angle = nn.Linear(6272, 10), nn.Linear(6272, 1)

    def forward(self, x):
        x = F.relu(self.batch_norm_1(self.conv2d_1(x)))
        skip = self.batch_norm_skip(self.conv2d_skip(x))
        x = F.relu(self.batch_norm_2(self.conv2d_2(F.pad(x, (0, 1, 0, 1)))))  # "same" with stride 2 pads at the end only
        x = F.relu(self.batch_norm_3(self.conv2d_3(x)) + skip)
        x = torch.flatten(x.permute(0, 2, 3, 1), 1)
        return self.class_(x), self.angle(x)


def digits_loss(y, targets):
    return F.cross_entropy(y[0], targets[0]) + 0.1 * 0.5 * F.mse_loss(y[1], targets[1])


def sequential(layers):
    """Layers by name; those without one are numbered."""
    model = nn.Sequential()
    for i, layer in enumerate(layers):
        name, module = layer if isinstance(layer, tuple) else (f"layer{i}", layer)
        model.add_module(name, module)
    return model


def peaks():
    return sequential([("linear_1", nn.Linear(2, 20)), nn.ReLU(), ("linear_2", nn.Linear(20, 5)), nn.ReLU(),
                       ("linear_3", nn.Linear(5, 1))])


def cifar10():
    layers, before = [], 3
    for i in range(12):
        width = 32 << i // 4
        layers += [(f"conv2d_{i + 1}", nn.Conv2d(before, width, 3, padding=1)),
                   (f"batch_norm_{i + 1}", nn.BatchNorm2d(width)), nn.ReLU()]
        layers += [nn.MaxPool2d(2, 2)] if i in (3, 7) else []
        before = width
    return sequential(layers + [nn.AvgPool2d(8), nn.Flatten(), ("linear_1", nn.Linear(128, 10))])


def autoencoder():
    layers = []
    for i, (before, width) in enumerate(((1, 8), (8, 16), (16, 32)), 1):
        layers += [(f"conv2d_{i}", nn.Conv2d(before, width, 3, padding=1)), nn.ReLU(), nn.MaxPool2d(2, 2)]
    for i, (before, width) in enumerate(((32, 32), (32, 16), (16, 8)), 1):
        layers += [(f"transposed_conv2d_{i}", nn.ConvTranspose2d(before, width, 2, stride=2)), nn.ReLU()]
    return sequential(layers + [("conv2d_4", nn.Conv2d(8, 1, 1)), nn.Hardtanh(0, 1)])


def make(workload):
    """Model, loss."""
    if workload == "digits":
        return Digits(), digits_loss
    if workload == "cifar10":
        return cifar10(), lambda y, t: F.cross_entropy(y, t[0])
    return peaks() if workload == "peaks" else autoencoder(), lambda y, t: F.mse_loss(y, t[0])


def solver_of(workload, parameters, **options):
    """`options` are Adam's: where and how it computes."""
    if workload == "cifar10":
        fused = {name: value for name, value in options.items() if name == "fused"}
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-10, **fused)
    rates = {"digits": 0.0001, "peaks": 0.08, "autoencoder": 0.001}
    return torch.optim.Adam(parameters, lr=rates[workload], **options)


def tensor(array):
    value = torch.from_numpy(array)
    return value.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last) if array.ndim == 4 else value


def main():
    workload, phase, speed, threads, weights = sys.argv[1:6]
    device = sys.argv[6] if len(sys.argv) > 6 else "cpu"
    torch.set_num_threads(int(threads))
    x, targets = workloads.data(workload)
    x, targets = tensor(x).to(device), [tensor(t).to(device) for t in targets]
    model, loss = make(workload)
    solver = solver_of(workload, model.parameters())
    workloads.load_torch(model, weights)
    if x.ndim == 4:
        model = model.to(memory_format=torch.channels_last)
    model = model.to(device)
    model.train(phase == "train")
    start = copy.deepcopy(model.state_dict()), copy.deepcopy(solver.state_dict())

    forward, predicts = lambda: loss(model(x), targets), model
    if speed != "eager":
        mode = {"compiled": "default", "graphed": "reduce-overhead"}[speed]
        forward, predicts = torch.compile(forward, mode=mode), torch.compile(model, mode=mode)

    def train():
        solver.zero_grad(set_to_none=True)
        value = forward()
        value.backward()
        solver.step()
        return value

    def predict():
        with torch.inference_mode():
            return predicts(x)

    def restart():
        model.load_state_dict(start[0])
        solver.load_state_dict(start[1])

    workloads.serve(train if phase == "train" else predict, restart, time.perf_counter,
                    lambda value: torch.cuda.synchronize() if device == "cuda" else None)


if __name__ == "__main__":
    main()
