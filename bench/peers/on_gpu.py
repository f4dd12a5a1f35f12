"""The best form that we know of a whole training step in another framework, timed on a GPU: on_gpu.py torch|jax
digits|peaks|autoencoder|cifar10 WEIGHTS [cpu]

  torch   forward, loss and backward compiled (torch.compile), the whole step with a fused solver captured in a CUDA graph
  jax     the whole step in one jit, its state donated

WEIGHTS are our starting values. Each in three precisions: "fp32", the class of ours; "default", in which both
frameworks may round factors to TF32; and "bf16", beside our mode fast_bf16: in PyTorch autocast to bf16, which also stores
what it computes in bf16, in JAX products with factors in bf16. One line of JSON a row, as soon as it is known: {"row", "loss" of step 20, "seconds"
of a step, the median of 15 samples of 0.1 s} or {"row", "failure"}. With "cpu" it shows that the rows compute what we do.
"""

import json
import os
import sys
import time

LOSS_STEPS, SAMPLES, SAMPLE_SECONDS = 20, 15, 0.1
PRECISIONS = ("fp32", "default", "bf16")


def median_seconds(step, finish):
    def run(count):
        start = time.perf_counter()
        value = None
        for _ in range(count):
            value = step()
        finish(value)
        return (time.perf_counter() - start) / count

    if os.environ["JAX_PLATFORMS"] == "cpu":
        return run(3)
    run(3)
    count = max(3, round(SAMPLE_SECONDS / max(1e-6, run(10))))
    return sorted(run(count) for _ in range(SAMPLES))[SAMPLES // 2]


def set_torch_precision(torch, precision):
    """What a fresh process has, or no TF32 anywhere. Of what autocast leaves in f32, convolutions may round."""
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True  # the fastest algorithm of each convolution


def capture(torch, train):
    """The step as one launch, after steps that compile and allocate."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(4):
            train()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value = train()

    def replay():
        graph.replay()
        return value

    return replay


def torch_step(workload, weights, device, compiles, precision):
    """A step, what puts back the starting values in place, and what waits."""
    import torch
    import torch_peer
    import workloads

    on_gpu = device == "cuda"
    x, targets = workloads.data(workload)
    x, targets = torch_peer.tensor(x).to(device), [torch_peer.tensor(target).to(device) for target in targets]
    model, loss = torch_peer.make(workload)
    workloads.load_torch(model, weights)
    model = (model.to(memory_format=torch.channels_last) if x.ndim == 4 else model).to(device).train()
    solver = torch_peer.solver_of(workload, model.parameters(), fused=True, capturable=on_gpu)
    start = {name: value.clone() for name, value in model.state_dict().items()}

    def forward():
        with torch.autocast(device, dtype=torch.bfloat16, enabled=precision == "bf16"):
            return loss(model(x), targets)

    if compiles:
        forward = torch.compile(forward)

    def train():
        solver.zero_grad(set_to_none=True)
        value = forward()
        value.backward()
        solver.step()
        return value.detach()

    step = capture(torch, train) if on_gpu else train
    if not on_gpu:
        train()

    def restart():
        with torch.no_grad():
            for name, value in model.state_dict().items():
                value.copy_(start[name])
            for state in solver.state.values():
                for value in state.values():
                    if torch.is_tensor(value):
                        value.zero_()

    return step, restart, (torch.cuda.synchronize if on_gpu else lambda: None)


def torch_row(workload, weights, device, precision):
    import torch

    set_torch_precision(torch, precision)
    torch.compiler.reset()
    note = ""
    try:
        step, restart, synchronize = torch_step(workload, weights, device, True, precision)
    except Exception as reason:  # whatever the compiler says, the plain form may be captured
        note = f"not compiled: {type(reason).__name__}: {str(reason).strip()[:120]}"
        step, restart, synchronize = torch_step(workload, weights, device, False, precision)
    restart()
    for _ in range(LOSS_STEPS):
        value = step()
    loss = value.item()
    return {"loss": loss, "seconds": median_seconds(step, lambda value: synchronize()), "note": note}


def jax_row(workload, weights, precision):
    import jax
    import jax.numpy as jnp
    import jax_peer

    jax.config.update("jax_default_matmul_precision", {"fp32": "highest", "bf16": "bfloat16"}.get(precision))
    start, x, targets = jax_peer.starting_values(workload, weights)
    train = jax.jit(jax_peer.training_step(workload), donate_argnums=0)
    held = [jax.tree.map(jnp.copy, start)]

    def step():
        value, held[0] = train(held[0], x, targets)
        return value

    for _ in range(LOSS_STEPS):
        value = step()
    return {"loss": value.item(), "seconds": median_seconds(step, jax.block_until_ready)}


def main():
    framework, workload, weights = sys.argv[1:4]
    device = sys.argv[4] if len(sys.argv) > 4 else "cuda"
    os.environ["JAX_PLATFORMS"] = device  # before JAX is read
    name = {"torch": "PyTorch, compiled, whole step a graph", "jax": "JAX, whole step one jit"}[framework]
    for precision in PRECISIONS:
        try:
            row = (torch_row(workload, weights, device, precision) if framework == "torch" else
                   jax_row(workload, weights, precision))
        except Exception as reason:  # it is told in the row
            row = {"failure": f"{type(reason).__name__}: {str(reason).strip()[:300]}"}
        print(json.dumps({"row": f"{name}, {precision}", **row}), flush=True)


main()
