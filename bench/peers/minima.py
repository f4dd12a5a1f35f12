"""Minima of agreement.py: those of PyTorch's L-BFGS and SciPy's least_squares beside ours."""

import numpy as np
import scipy.optimize
import torch

TOLERANCE = 1e-6  # of a parameter's number over the largest: both end where the gradient is small


def valleys(p, _):
    x, y = p[0::2], p[1::2]
    return [1 - x, 10 * (y - x * x)]


def decay(p, data):
    t, y = (np.array(data[name]) for name in "ty")
    return [p[0] * np.exp(-p[1] * t) + p[2] - y]


def enzyme(p, data):
    t, y = (np.array(data[name]) for name in "ty")
    return [p[0] * (t * t + t * p[1]) / (t * t + t * p[2] + p[3]) - y]


def logistic(p, data):
    t = torch.tensor(data["t"], dtype=torch.float64)
    x = torch.tensor(data["x"], dtype=torch.float64).reshape(len(t), -1)
    return torch.nn.functional.softplus(-t * (x @ p)).mean() + 0.05 * (p * p).sum()


RESIDUALS = {"five": valleys, "exponential": decay, "rates": enzyme}
LOSSES = {"five": lambda p, data: 0.5 * sum((part * part).sum() for part in valleys(p, data)), "logistic": logistic}


def by_pytorch(case):
    """Parameters, loss and evaluations."""
    p = torch.tensor(case["start"], dtype=torch.float64, requires_grad=True)
    loss, count = LOSSES[case["problem"].split()[0]], [0]
    solver = torch.optim.LBFGS([p], max_iter=1000, max_eval=5000, tolerance_grad=1e-9, tolerance_change=0, history_size=10,
                               line_search_fn="strong_wolfe")

    def closure():
        solver.zero_grad()
        value = loss(p, case["data"])
        value.backward()
        count[0] += 1
        return value

    solver.step(closure)
    return p.detach().numpy(), loss(p, case["data"]).item(), count[0]


def by_scipy(case):
    residuals = RESIDUALS[case["problem"].split()[0]]
    found = scipy.optimize.least_squares(lambda p: np.concatenate(residuals(p, case["data"])), case["start"], method="lm",
                                         ftol=1e-15, xtol=1e-15, gtol=1e-12)
    return found.x, found.cost, found.nfev


def compare_minima(cases, verdict):
    rows = []
    for case in cases:
        theirs, loss, evaluations = by_scipy(case) if case["solver"] == "levenberg-marquardt" else by_pytorch(case)
        worst = np.abs(np.array(case["parameters"]) - theirs).max() / np.abs(theirs).max()
        rows.append([case["problem"], case["solver"], case["iterations"], case["evaluations"], evaluations,
                     f"{case['loss']:.6g}", f"{loss:.6g}", f"{worst:.1g}", verdict(bool(worst <= TOLERANCE))])
    return rows
