"""A job: the loop over mini-batches, with shards, to the fingerprint (docs/numerics.md 7; docs/numerics/training.md)."""

import numpy as np

from . import data, networks, optim, sums
from .fingerprint import fingerprint
from .rounding import f32
from .tape import Value, gradients


def load(job, folder):
    """Input and targets of the training set; `folder` holds what `retrace data digits` wrote."""
    count, seed, name = job["data"]["train_samples"], job.get("seed", 0), job["network"]["name"]
    if name == "peaks":
        return data.peaks(count)
    if name == "autoencoder":
        return data.noisy_digits(folder, count, seed)
    return data.synthetic_images(count, seed) if name == "cifar10" else data.digits(folder, count)


def shard_gradient(network, parameters, state, batch):
    """Gradients and moments of one shard."""
    leaves = {path: Value(array) for path, array in parameters.items()}
    y, moments = network.forward(leaves, state, batch[0])
    loss = network.loss(y, dict(zip(y, batch[1:])))
    return dict(zip(leaves, gradients(loss, list(leaves.values())))), moments


def batch_gradient(network, parameters, state, batch, shards):
    """Gradients and moments of a mini-batch that is cut into shards."""
    n = len(batch[0])
    sizes = [n // shards + (j < n % shards) for j in range(shards)]
    ends = np.cumsum(sizes)
    parts = [shard_gradient(network, parameters, state, [array[end - size : end] for array in batch])
             for size, end in zip(sizes, ends) if size]
    if shards == 1:
        return parts[0]
    shares = [f32(size) / f32(n) for size in sizes if size]
    total = {path: sums.tree(np.stack([part[0][path] * share for part, share in zip(parts, shares)]))
             for path in parameters}
    moments = {norm: merged([part[1][norm] for part in parts]) for norm in parts[0][1]}
    return total, moments


def merged(moments):
    """Moments (count, mean, M2) of shards along the tree."""
    count, mean, m2 = (np.stack(parts) for parts in zip(*moments))
    return count.sum(), *sums.tree_of_moments(count[:, None], mean, m2)


def solver(training):
    number = training.get
    if number("solver", "adam") == "sgdm":
        return optim.Sgdm(number("momentum", 0.9))
    return optim.Adam(number("gradient_decay", 0.9), number("squared_gradient_decay", 0.999),
                      number("epsilon", 1e-8))


def train(job, folder, shards=None):
    """The fingerprint of the run of a job."""
    training, seed = job["training"], job.get("seed", 0)
    shards = shards or training.get("shards", 1)
    width = {"width": job["network"]["width"]} if "width" in job["network"] else {}
    network = networks.NETWORKS[job["network"]["name"]](**width)
    parameters, state = network.initial(seed)
    queue = data.Queue(load(job, folder), training["mini_batch_size"], seed,
                       training.get("partial_mini_batch", "keep") == "keep")
    step, l2 = solver(training), training.get("l2_regularization", 0)
    iteration, iterations = 0, len(queue) * training["max_epochs"]
    for epoch in range(1, training["max_epochs"] + 1):
        shuffle = training.get("shuffle", "once")
        if shuffle == "every-epoch" or (shuffle == "once" and epoch == 1):
            queue.shuffle()
        for batch in queue:
            rate = optim.learn_rate(training, iteration, iterations, epoch)
            found, moments = batch_gradient(network, parameters, state, batch, shards)
            if l2:
                found = optim.l2_regularization(parameters, found, l2)
            parameters = step.update(parameters, found, rate)
            state = optim.update_statistics(state, moments)
            iteration += 1
    named = {f"parameters/{path}": array for path, array in parameters.items()}
    named.update({f"state/{path}": array for path, array in state.items()})
    return fingerprint(named)
