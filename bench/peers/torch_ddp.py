"""A workload of PyTorch on several processes: torch_ddp.py WORKLOAD PROCESSES STEPS prints steps a second and a hash of the
parameters.

One process has two threads; two have one each, share each mini-batch, and exchange gradients by DistributedDataParallel over
gloo. Data are the synthetic ones of the benches, in memory; the step is eager, as DDP's documentation has it.
"""

import hashlib
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.nn.parallel import DistributedDataParallel

import workloads
from torch_peer import make, solver_of, tensor

WARM_STEPS, BATCH = 5, {"digits": 32, "cifar10": 128}


def train(rank, workload, processes, steps):
    torch.set_num_threads(2 // processes)
    torch.manual_seed(1)
    if processes > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": os.environ.get("MASTER_PORT", "29541")}
        dist.init_process_group("gloo", rank=rank, world_size=processes)
    x, targets = workloads.data(workload)
    share = BATCH[workload] // processes
    mine = slice(rank * share, (rank + 1) * share)
    x, targets = tensor(x[mine]), [tensor(t[mine]) for t in targets]
    model, loss = make(workload)
    model = model.to(memory_format=torch.channels_last).train()
    whole = DistributedDataParallel(model) if processes > 1 else model
    solver = solver_of(workload, model.parameters())

    def run(count):
        for _ in range(count):
            solver.zero_grad(set_to_none=True)
            loss(whole(x), targets).backward()
            solver.step()

    run(WARM_STEPS)
    start = time.perf_counter()
    run(steps)
    seconds = time.perf_counter() - start
    if rank == 0:
        mark = hashlib.sha256(b"".join(p.detach().contiguous().numpy().tobytes() for p in model.parameters()))
        print(f"{steps / seconds:.3f}", mark.hexdigest()[:16], flush=True)
    if processes > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    name, count, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if count == 1:
        train(0, name, 1, steps)
    else:
        multiprocessing.spawn(train, (name, count, steps), nprocs=count)
