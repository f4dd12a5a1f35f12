#!/usr/bin/env python3
"""Our Bayesian search beside Optuna's TPE: search.py BUILD_FOLDER [--trials=50] [--seeds=20] [FUNCTION...].

Asks BUILD_FOLDER/bench/search for what our strategies find of six test functions, runs TPESampler (default settings, one
trial after the other) on the same functions, ranges and numbers of trials, and prints the table of docs/experiments.md.
Ends with 1 where the functions of both programs differ, or where ours is worse by the median.
"""

import concurrent.futures
import json
import math
import pathlib
import statistics
import subprocess
import sys

import optuna

TOLERANCE = 1e-12  # of two values of one function, of the larger of 1 and the value
HEIGHTS = (1, 1.2, 3, 3.2)
WIDTHS = {3: ((3, 10, 30), (0.1, 10, 35), (3, 10, 30), (0.1, 10, 35)),
          6: ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14))}
CENTRES = {3: ((0.3689, 0.117, 0.2673), (0.4699, 0.4387, 0.747), (0.1091, 0.8732, 0.5547), (0.0381, 0.5743, 0.8828)),
           6: ((0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886), (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
               (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665), (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381))}


def branin(x):
    a = x[1] - 5.1 / (4 * math.pi**2) * x[0]**2 + 5 / math.pi * x[0] - 6
    return a**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


def hartmann(x):
    bells = zip(HEIGHTS, WIDTHS[len(x)], CENTRES[len(x)])
    return -sum(height * math.exp(-sum(w * (at - c)**2 for w, at, c in zip(widths, x, centres)))
                for height, widths, centres in bells)


def rosenbrock(x):
    return sum(100 * (b - a**2)**2 + (1 - a)**2 for a, b in zip(x, x[1:]))


def ackley(x):
    squares, waves = sum(at**2 for at in x) / 5, sum(math.cos(2 * math.pi * at) for at in x) / 5
    return -20 * math.exp(-0.2 * math.sqrt(squares)) - math.exp(waves) + 20 + math.e


def training(x):
    layers, rate, solver = x
    floor, best_rate = {"adam": (0.1, -2.7), "rmsprop": (0.12, -3.2), "sgdm": (0.08, -1)}[solver]
    away = math.log10(rate) - (best_rate - 0.08 * layers)
    loss = (1.5 if away > 0 else 0.3) * away**2
    return floor + 0.3 * math.exp(-layers / 3) + 0.01 * layers + 2.3 * (1 - math.exp(-loss / 2.3))


FUNCTIONS = {"branin": branin, "hartmann-3": hartmann, "hartmann-6": hartmann, "rosenbrock-4": rosenbrock,
             "ackley-5": ackley, "training": training}


def drawn(trial, name, parameter):
    if "values" in parameter:
        return trial.suggest_categorical(name, parameter["values"])
    draw = trial.suggest_int if parameter["integer"] else trial.suggest_float
    number = int if parameter["integer"] else float
    return draw(name, number(parameter["low"]), number(parameter["high"]), log=parameter["log"])


def tpe(name, parameters, trials, seed):
    """The best value of a study."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: FUNCTIONS[name]([drawn(trial, key, one) for key, one in parameters.items()]),
                   n_trials=trials)
    return study.best_value


def disagreements(name, ours):
    for trial in ours["trials"]:
        value = FUNCTIONS[name](list(trial["at"].values()))
        if not abs(value - trial["value"]) <= TOLERANCE * max(1, abs(value)):
            yield f"{name} at {trial['at']} is {trial['value']} in C++ and {value} in Python"


def main():
    asked = json.loads(subprocess.run([pathlib.Path(sys.argv[1]) / "bench/search", *sys.argv[2:]], check=True,
                                      capture_output=True, text=True).stdout)
    wrong = [text for name, ours in asked["functions"].items() for text in disagreements(name, ours)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{asked['trials']} trials, {asked['seeds']} seeds, Optuna {optuna.__version__}: the best value less the "
          "smallest one, median of the seeds\n")
    print("| function | Bayesian | TPE | random | Bayesian, window 4 | better than TPE | window 4 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    worse = []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for name, ours in asked["functions"].items():
            seeds = range(1, asked["seeds"] + 1)
            peer = list(pool.map(tpe, *zip(*((name, ours["parameters"], asked["trials"], seed) for seed in seeds))))
            best = {way: found["best"] for way, found in ours["ways"].items()} | {"tpe": peer}
            median = {way: statistics.median(values) - ours["least"] for way, values in best.items()}
            wins = {way: sum(a < b for a, b in zip(values, peer)) for way, values in best.items()}
            print(f"| {name} |", " | ".join(f"{median[way]:.2g}" for way in
                                            ("bayesian", "tpe", "random", "bayesian, window 4")),
                  f"| {wins['bayesian']} | {wins['bayesian, window 4']} |", flush=True)
            worse += [name] if median["bayesian"] > median["tpe"] else []
    if worse:
        sys.exit(f"worse than TPE: {', '.join(worse)}")


if __name__ == "__main__":
    main()
