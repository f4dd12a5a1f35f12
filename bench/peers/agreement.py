"""Compares our solvers, schedules and metrics with PyTorch's, Optax's and scikit-learn's: agreement.py BUILD_FOLDER [docs/peers.md].

Asks BUILD_FOLDER/bench/agreement for what ours make of fixed problems, makes the same with the peers, and writes the page.
What is new on our side takes part by itself; what has no peer here is told. Ends with 1 if anything differs.
"""

import importlib
import inspect
import json
import math
import pathlib
import subprocess
import sys
import warnings

import jax
import numpy as np
import optax
import scipy
import sklearn
import sklearn.metrics as sk
import torch
from torch.optim import lr_scheduler
from torch.optim.swa_utils import AveragedModel

from minima import TOLERANCE as MINIMUM_TOLERANCE
from minima import compare_minima

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PRECISIONS = {"f32": (torch.float32, 2.0**-23), "f64": (torch.float64, 2.0**-52)}
# Units in the last place of the largest number of a tensor. Both round alike but in the order of sums and in the pairs
# of a multiplication and an addition that are one operation for one of us; 50 steps add these up.
SOLVER_ULPS = 32
SCHEDULE_TOLERANCE = 1e-12  # of the initial rate: PyTorch multiplies on from step to step, ours is a formula
METRIC_TOLERANCE = 1e-12    # of the value: sums in another order


class Optax(torch.optim.Optimizer):
    """A solver of Optax on PyTorch's parameters; make(rate) is the solver."""

    def __init__(self, parameters, make):
        super().__init__(parameters, {"lr": 0.0})
        self.make, self.kept = make, None

    def step(self):
        group = self.param_groups[0]
        solver = self.make(group["lr"])
        values = [jax.numpy.asarray(p.detach().numpy()) for p in group["params"]]
        self.kept = self.kept or solver.init(values)
        updates, self.kept = solver.update([jax.numpy.asarray(p.grad.numpy()) for p in group["params"]], self.kept, values)
        with torch.no_grad():
            for p, value in zip(group["params"], optax.apply_updates(values, updates), strict=True):
                p.copy_(torch.from_numpy(np.array(value)))


class Muon(torch.optim.Optimizer):
    """PyTorch's Muon for matrices, its AdamW for the others."""

    def __init__(self, parameters, o):
        decay = o["weight_decay"]
        self.parts = [
            torch.optim.Muon([p for p in parameters if p.ndim == 2], momentum=o["momentum"], weight_decay=decay,
                             ns_steps=o["newton_schulz_iterations"], adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW([p for p in parameters if p.ndim != 2], betas=betas(o), eps=o["epsilon"], weight_decay=decay)]
        self.param_groups = [group for part in self.parts for group in part.param_groups]

    def zero_grad(self):
        for part in self.parts:
            part.zero_grad()

    def step(self):
        for part in self.parts:
            part.step()


def keep_type_in_muon():
    """PyTorch's Muon computes its iterations in bfloat16: here in the type of the parameter, by the same code."""
    module = importlib.import_module("torch.optim._muon")
    text = inspect.getsource(module._zeropower_via_newtonschulz)
    assert text.count("torch.bfloat16") == 1
    exec(text.replace("torch.bfloat16", "grad.dtype"), module.__dict__)


SOLVERS = {
    "sgdm": lambda p, o: torch.optim.SGD(p, momentum=o["momentum"]),
    "adam": lambda p, o: torch.optim.Adam(p, betas=betas(o), eps=o["epsilon"]),
    "adamw": lambda p, o: torch.optim.AdamW(p, betas=betas(o), eps=o["epsilon"], weight_decay=o["weight_decay"]),
    "nadam": lambda p, o: torch.optim.NAdam(p, betas=betas(o), eps=o["epsilon"], momentum_decay=o["momentum_decay"]),
    "adagrad": lambda p, o: torch.optim.Adagrad(p, eps=o["epsilon"]),
    "muon": Muon,
    "lion": lambda p, o: Optax(p, lambda rate: optax.lion(rate, o["gradient_decay"], o["mean_decay"],
                                                          weight_decay=o["weight_decay"])),
    "lamb": lambda p, o: Optax(p, lambda rate: optax.lamb(rate, *betas(o), o["epsilon"], weight_decay=o["weight_decay"])),
    "rmsprop": lambda p, o: torch.optim.RMSprop(p, alpha=o["squared_gradient_decay"], eps=o["epsilon"]),
}


def betas(options):
    return options["gradient_decay"], options["squared_gradient_decay"]


# --- Solvers


class Model(torch.nn.Module):
    def __init__(self, start, dtype):
        super().__init__()
        shapes = {"linear_1/weights": (8, -1), "linear_2/weights": (-1, 8)}
        self.values = torch.nn.ParameterDict({
            path.replace("/", "_"): torch.tensor(values, dtype=dtype).reshape(shapes.get(path, (-1,)))
            for path, values in start.items()})

    def forward(self, x):
        p = self.values
        hidden = torch.nn.functional.linear(x, p["linear_1_weights"], p["linear_1_bias"])
        return torch.nn.functional.linear(torch.softmax(hidden, 1), p["linear_2_weights"], p["linear_2_bias"])


def clip(parameters, case):
    """clip_grad_norm_ adds 1e-6 to the norm, which is left out here."""
    threshold, method = case["gradient_threshold"], case["gradient_threshold_method"]
    if method == "absolute-value":
        torch.nn.utils.clip_grad_value_(parameters, threshold)
    for group in [parameters] if method == "global-l2norm" else [[p] for p in parameters] if method == "l2norm" else []:
        norm = torch.nn.utils.get_total_norm([p.grad for p in group])
        if norm > threshold:
            for p in group:
                p.grad *= threshold / norm


def train(problem, case, dtype):
    """The parameters after all steps, by their paths; None without a peer."""
    if case["solver"] not in SOLVERS:
        return None
    x = torch.tensor(problem["x"], dtype=dtype).reshape(-1, problem["features"])
    t = torch.tensor(problem["t"], dtype=dtype).reshape(-1, problem["targets"])
    model = Model(problem["start"], dtype)
    parameters = list(model.parameters())
    solver = SOLVERS[case["solver"]](parameters, case["options"])
    for group in solver.param_groups:
        group["lr"] = problem["learn_rate"]
    decay = case["average_decay"]
    average = decay > 0 and AveragedModel(model, avg_fn=lambda a, w, n: a + max(1 - decay, 1 / (float(n) + 1)) * (w - a))
    for _ in range(problem["steps"]):
        solver.zero_grad()
        torch.nn.functional.mse_loss(model(x), t).backward()
        with torch.no_grad():  # PyTorch's weight_decay takes biases, too
            for name, p in model.values.items():
                if name.endswith("weights"):
                    p.grad += case["l2_regularization"] * p
        if case["gradient_threshold"] > 0:
            clip(parameters, case)
        solver.step()
        if average:
            average.update_parameters(model)
    made = average.module if average else model
    return {path: made.values[path.replace("/", "_")].detach().double().numpy().ravel() for path in problem["start"]}


def solver_title(case):
    parts = [case["solver"]]
    if case["l2_regularization"]:
        parts.append(f"L2 {case['l2_regularization']:g}")
    if case["gradient_threshold"]:
        parts.append(f"{case['gradient_threshold_method']} {case['gradient_threshold']:g}")
    if case["average_decay"]:
        parts.append(f"average {case['average_decay']:g}")
    return " + ".join(parts)


def furthest(ours, theirs, ulp):
    return max(np.abs(np.array(ours[path]) - values).max() / np.abs(values).max() for path, values in theirs.items()) / ulp


def carried(problem, case, dtype, ulp, theirs):
    """What the peer itself makes of starting values that are one unit in the last place larger."""
    start = {path: [value * (1 + ulp) for value in values] for path, values in problem["start"].items()}
    return furthest(train(problem | {"start": start}, case, dtype), theirs, ulp)


def compare_solvers(problem):
    rows = []
    for case in problem["cases"]:
        row = [solver_title(case), options_text(case["options"])]
        good = True
        for name, (dtype, ulp) in PRECISIONS.items():
            theirs = train(problem, case, dtype)
            if theirs is None:
                good = None
                row += ["-"]
                continue
            worst, allowed = furthest(case[name], theirs, ulp), SOLVER_ULPS
            row.append(f"{worst:.1f} ulp")
            if worst > allowed:  # a problem that blows roundings up
                one = carried(problem, case, dtype, ulp, theirs)
                allowed *= max(1, one)
                row[-1] += f" (1 makes {one:.0f})"
            good = good and worst <= allowed
        rows.append(row + [verdict(good)])
    return rows


# --- Schedules


def polynomial(solver, o, n):
    return lr_scheduler.PolynomialLR(solver, total_iters=n, power=o["power"])


# name: (scheduler of a solver, options and all iterations, whether it steps once an epoch)
SCHEDULES = {
    "none": (lambda s, o, n: lr_scheduler.ConstantLR(s, factor=1, total_iters=n), False),
    "piecewise": (lambda s, o, n: lr_scheduler.StepLR(s, o["drop_period"], o["drop_factor"]), True),
    "linear": (lambda s, o, n: lr_scheduler.LinearLR(s, start_factor=1, end_factor=0, total_iters=n), False),
    "cosine": (lambda s, o, n: lr_scheduler.CosineAnnealingLR(
        s, n, eta_min=o.get("final_factor", 0) * s.param_groups[0]["lr"]), False),
    "polynomial": (polynomial, False),
    "warm-up": (lambda s, o, n: lr_scheduler.LinearLR(
        s, start_factor=1 / o["warm_up_iterations"], total_iters=o["warm_up_iterations"] - 1), False),
    "cyclic": (lambda s, o, n: lr_scheduler.CyclicLR(
        s, base_lr=s.param_groups[0]["lr"], max_lr=s.param_groups[0]["lr"] * o["max_factor"],
        step_size_up=o["cycle_iterations"] / 2, cycle_momentum=False), False),
    "composed(warm-up, 10, cosine)": (lambda s, o, n: lr_scheduler.SequentialLR(
        s, [lr_scheduler.LinearLR(s, start_factor=1 / 10, total_iters=9), lr_scheduler.CosineAnnealingLR(s, n - 10)],
        milestones=[10]), False),
}


def rates(schedules, case):
    """The rates of all steps; None without a peer."""
    if case["schedule"] not in SCHEDULES:
        return None
    n, o = schedules["steps"], case["options"]
    solver = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=schedules["learn_rate"])
    make, by_epoch = SCHEDULES[case["schedule"]]
    scheduler, found = make(solver, o, n), []
    for i in range(n):
        found.append(solver.param_groups[0]["lr"])
        solver.step()
        if not by_epoch or (i + 1) % schedules["steps_of_epoch"] == 0:
            scheduler.step()
    if case["schedule"] == "polynomial":  # PyTorch's falls to 0
        final = o["final_factor"] * schedules["learn_rate"]
        return [final + (1 - o["final_factor"]) * rate for rate in found]
    return found


def compare_schedules(schedules):
    rows = []
    for case in schedules["cases"]:
        theirs = rates(schedules, case)
        row = [case["schedule"], options_text(case["options"])]
        if theirs is None:
            rows.append(row + ["-", verdict(None)])
            continue
        worst = max(abs(a - b) for a, b in zip(case["rates"], theirs, strict=True)) / schedules["learn_rate"]
        rows.append(row + [f"{worst:.1e}", verdict(worst <= SCHEDULE_TOLERANCE)])
    return rows


# --- Metrics


def top_k(t, y, o):
    """Of equal scores scikit-learn takes the last class, we the first: the classes are turned around. A further class of
    the lowest score stands for its other rule for two classes."""
    scores = np.column_stack([np.full(len(y), -1.0), y[:, ::-1]])
    if o["top_k"] >= y.shape[1]:
        return 1.0
    return sk.top_k_accuracy_score(y.shape[1] - t, scores, k=o["top_k"], labels=range(y.shape[1] + 1))


def auc(t, y, o):
    """Of each class against the others, where it has samples and others have; then the mean."""
    areas = [sk.roc_auc_score(t == c, y[:, c]) for c in ([1] if y.shape[1] == 2 else range(y.shape[1]))
             if 0 < np.sum(t == c) < len(t)]
    return np.mean(areas) if areas else math.nan


def macro(index):
    return lambda t, y, o: sk.precision_recall_fscore_support(t, y.argmax(1), average="macro", zero_division=0)[index]


def psnr(t, y, o):
    error = sk.mean_squared_error(t, y)
    return 10 * math.log10(o["psnr_peak"]**2 / error) if error > 0 else math.inf


METRICS = {
    "accuracy": ("accuracy_score", lambda t, y, o: sk.accuracy_score(t, y.argmax(1))),
    "top-k": ("top_k_accuracy_score", top_k),
    "precision": ("precision_recall_fscore_support, macro", macro(0)),
    "recall": ("precision_recall_fscore_support, macro", macro(1)),
    "f-score": ("precision_recall_fscore_support, macro", macro(2)),
    "auc": ("roc_auc_score of each class, their mean", auc),
    "confusion-matrix": ("confusion_matrix", lambda t, y, o: sk.confusion_matrix(t, y.argmax(1),
                                                                                 labels=range(y.shape[1]))),
    "mae": ("mean_absolute_error", lambda t, y, o: sk.mean_absolute_error(t, y)),
    "mape": ("mean_absolute_percentage_error", lambda t, y, o: sk.mean_absolute_percentage_error(t, y)),
    "rmse": ("root_mean_squared_error of all numbers", lambda t, y, o: sk.root_mean_squared_error(t.ravel(), y.ravel())),
    "r2": ("r2_score", lambda t, y, o: sk.r2_score(t, y)),
    "psnr": ("mean_squared_error, then the formula", psnr),
}


def distance(ours, theirs):
    """Relative; numbers that are not finite are null in JSON, and equal each other."""
    ours, theirs = (np.array(value, dtype=float) for value in (ours, theirs))
    if ours.shape != theirs.shape or not np.array_equal(np.isfinite(ours), np.isfinite(theirs)):
        return math.inf
    finite = np.isfinite(theirs)
    return np.max(np.abs(ours - theirs)[finite] / np.maximum(np.abs(theirs[finite]), 1e-300), initial=0.0)


def compare_metrics(sets):
    worst, absent = {}, set()
    for one in sets:
        y = np.array(one["y"], dtype=float).reshape(one["samples"], -1)
        t = np.array(one["t"]) if one["scores"] else np.array(one["t"], dtype=float).reshape(one["samples"], -1)
        for case in one["cases"]:
            if case["metric"] not in METRICS:
                absent.add(case["metric"])
                continue
            found = distance(case["value"], METRICS[case["metric"]][1](t, y, case["options"]))
            worst.setdefault(case["metric"], []).append((found, one["what"]))
    rows = [[name, METRICS[name][0], len(found), f"{max(found)[0]:.1e}" + (f" ({max(found)[1]})" if max(found)[0] else ""),
             verdict(max(found)[0] <= METRIC_TOLERANCE)] for name, found in sorted(worst.items())]
    return rows + [[name, "-", 0, "-", verdict(None)] for name in sorted(absent)]


# --- The page


def verdict(good):
    return "no peer" if good is None else "equal" if good else "DIFFERS"


def options_text(options):
    return ", ".join(f"{name} {value:g}" if isinstance(value, (int, float)) else f"{name} {value}"
                     for name, value in options.items())


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def page(solvers, minima, schedules, metrics):
    return f"""# Beside PyTorch, Optax and scikit-learn

Made by `make bench-agreement` (`bench/agreement.cpp`, `bench/peers/agreement.py`) with PyTorch {torch.__version__.split('+')[0]},
Optax {optax.__version__}, scikit-learn {sklearn.__version__} and numpy {np.__version__}. Every solver, schedule and metric takes part, with its options at
their defaults and moved; what has no peer is said to have none. Ops are in `docs/peers-ops.md`, speed is in `docs/performance.md`.

## Solvers

50 steps of rate 0.002 from equal starting values: linear (8), softmax, linear (3), mean squared error, 24 samples. The column f32
is `train_network`, f64 a loop with `value_and_grad`; PyTorch runs in the same type. A difference is the largest one of a
parameter's numbers over the largest of these numbers, in units in the last place; {SOLVER_ULPS} are allowed, since sums are added
in other orders and 50 steps carry roundings on. Where more come up, `(1 makes N)` says what the peer itself makes of starting values
that are 1 larger, and N times as many are allowed. PyTorch's `clip_grad_norm_` adds 1e-6 to the norm, which is left out here. L2 is
added by hand to what `training.l2_regularization` does not spare, since PyTorch's `weight_decay` takes biases, too. PyTorch's SGD
has the rate outside of the velocity: the same at a constant rate, as here. `lion` and `lamb` are Optax's. PyTorch's Muon computes
its iterations in bfloat16: here its code computes them in the type of the parameter.

{table(["solver", "options", "f32", "f64", ""], solvers)}
## Minima

Solvers that look at all data in each step, in f64, from equal starting values: L-BFGS beside PyTorch's with its strong Wolfe line search, Levenberg-Marquardt beside
SciPy's `least_squares` ({scipy.__version__}, MINPACK, whose evaluations for its differences of residuals are not counted). Both go on until no element of the gradient is above 1e-9, or no step makes the loss smaller. Their steps
are not the same; the minimum is. The largest difference of a parameter's numbers over the largest of these: {MINIMUM_TOLERANCE:g} is allowed.

{table(["problem", "solver", "iterations", "evaluations", "peer's evaluations", "loss", "peer's loss", "difference", ""], minima)}
## Schedules

The rates of 50 steps, 5 in an epoch, beside `torch.optim.lr_scheduler`: the largest difference over the initial rate. {SCHEDULE_TOLERANCE:g}
is allowed, since some of PyTorch's go on from the rate before, and ours are formulas. `polynomial` with a `final_factor` is
PyTorch's, which falls to 0, scaled and shifted.

{table(["schedule", "options", "difference", ""], schedules)}
## Metrics

Of drawn sets, in mini-batches of 7: 2 to 7 classes, scores with many ties, absent classes, samples of one class alone, a single
sample; one and three features, targets of 0, targets that do not differ, equal values; images. The largest relative difference;
{METRIC_TOLERANCE:g} is allowed, since sums are added in another order. Of equal scores scikit-learn's `top_k_accuracy_score` takes the last
class and ours the first one: it gets the classes in reverse.

{table(["metric", "peer", "cases", "largest difference", ""], metrics)}"""


def main():
    torch.set_num_threads(1)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    torch.set_default_dtype(torch.float64)  # of the numbers that NAdam keeps from step to step
    keep_type_in_muon()
    warnings.filterwarnings("ignore")  # of classes that are absent, and of schedulers that step first
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    ours = json.loads(subprocess.run([build / "bench/agreement"], check=True, stdout=subprocess.PIPE).stdout)
    found = [compare_solvers(ours["solvers"]), compare_minima(ours["minima"], verdict), compare_schedules(ours["schedules"]), compare_metrics(ours["metrics"])]
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(page(*found), encoding="utf-8")
    rows = [row for part in found for row in part]
    for row in rows:
        if row[-1] != verdict(True):
            print("agreement:", *row)
    count = {what: sum(row[-1] == what for row in rows) for what in ("equal", "DIFFERS", "no peer")}
    print(f"agreement: {count['equal']} equal, {count['DIFFERS']} that differ, {count['no peer']} without a peer")
    sys.exit(1 if count["DIFFERS"] else 0)


main()
