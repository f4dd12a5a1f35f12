#!/usr/bin/env python3
"""Fits a model to what bench/exchange.py found, and writes the part "Many workers" of docs/scaling.md:
exchange_model.py BUILD_FOLDER [FOLDER]."""

import json
import pathlib
import sys

from measure import quantile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADING = "## Many workers\n"
RATES_GBIT, DELAY_S = (1, 10, 100), 50e-6  # of the links that are predicted
LARGE = {"layers": 50, "bytes": 8e6, "step_s": 1.0, "forward": 1 / 3}  # 100 M parameters
PACKET = 8948  # bytes of data in a frame of the links that were measured

TEXT = """
Made by `make bench-scaling` from ranks in network namespaces whose links have a delay, a rate and losses (`bench/exchange.py`,
`bench/links.cpp`). A worker gives partial sums to the owners of slices, who add them along the tree, and gets all sums back
(`docs/workers.md`): an exchange has two rounds, in each of which every worker sends a message to every other one. Of S bytes among N
workers with a shard each it sends 2 (N - 1) messages and 2 (N - 1) / N S bytes, which is the least that an all-reduce can do; where
workers have shards that are no whole subtree, the first round has up to twice log2 of the shards as many bytes. The model is

    T = a + 2 (N - 1) m + 2 k D + 2 c (N - 1) / N S / R

with the delay D and the rate R of a link. Fitted to {points} exchanges of {least} to {most} bytes among 2 to {ranks} ranks, delays of
{delays} ms and {rates} Mbit/s: a = {a:.0f} µs, k = {k:.2f}, c = {c:.2f}. The error is {median:.0%} in the median, and at most {worst:.0%};
of a model that saw 2 and 3 ranks only, for {ranks} ranks, {held:.0%} in the median. A message costs m = {m:.1f} µs, found with up to {many}
ranks on {cores} cores over loopback, so that it holds both ends, and changes between ranks as well: an upper bound.

**Hidden.** Tensors travel in buckets, in the order in which the backward pass makes them, while it goes on. Two ranks with a core
each; a worker waits for what is not hidden:

{hidden}
**Losses.** TCP sends a packet again when it misses it, and all workers wait. With a chance p that a packet is lost, of the n packets
of an exchange of all workers, the mean time grows by s (1 - (1 - p)^n), with s = {stall:.0f} ms here (delay 1 ms; error {lossy:.0%} in the
median of {lossy_points} points). Among 1,000 workers n is above a million: a network that loses one packet in a million already costs about s
in each exchange. Ethernet without losses, or InfiniBand, is a condition.

**Predicted.** Each worker has {samples} images in each step. The step of one worker of N is measured, with peers that answer at once: so
the cost of adding, merging moments and copying is in it. Its exchanges begin when they began there, one behind the other, on links
with a delay of {delay:.0f} µs. The third network is not measured: 100 M parameters in {layers} tensors of one size, a step of
{large:.0f} s, a third of it forward. Milliseconds a step, and the share of the step of one worker in it:

{predicted}
Of 1,000 workers on links of 10 Gbit/s, in milliseconds, of one step:

{parts}
**Where it breaks.** Bytes do not grow with N, messages do: a worker has 2 (N - 1) in each exchange, N^2 travel in all. Buckets grow
with the workers (2 KiB for each) so that few exchanges have many messages. Beyond some hundred workers a step of a few
milliseconds is messages all the same: groups of about the square root of N workers that exchange among themselves, and then one
of each with one of the others, would have 4 sqrt(N) messages, with subtrees as before.
"Growth" is what the step of a worker itself takes longer among N: copies, additions, and the moments of batch norms, which every
worker merges for all shards, a level of the tree at a time.

**What the model leaves out**: several flows that meet at one port of a switch at a time (incast) beyond what 3 senders do; workers that
are slower than others at times, for which all wait; connections (a rank has N - 1 of them: `ulimit -n` must be above that);
a network that others use as well; TCP that begins slowly again after a long pause.
"""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def least_squares(rows, values):
    """The coefficients x for which rows x is nearest to values."""
    size = len(rows[0])
    system = [[sum(row[i] * row[j] for row in rows) for j in range(size)] + [sum(row[i] * v for row, v in zip(rows, values))]
              for i in range(size)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(system[r][i]))
        system[i], system[pivot] = system[pivot], system[i]
        for r in range(size):
            if r != i:
                factor = system[r][i] / system[i][i]
                system[r] = [x - factor * y for x, y in zip(system[r], system[i])]
    return [system[i][size] / system[i][i] for i in range(size)]


class Model:
    """T = a + messages m + delays k D + bytes c / R."""

    def __init__(self, sums, many, cores):
        self.m = least_squares([[1, row["workers"] * (row["workers"] - 1) * 2 / cores] for row in many],
                               [row["median_s"] for row in many])[1]
        weighted, ones = [], []
        for row in sums:  # of relative errors
            rest = row["median_s"]
            weighted.append([value / rest for value in self.terms(row)])
            ones.append(1 - self.messages(row) * self.m / rest)
        self.a, self.k, self.c = least_squares(weighted, ones)

    @staticmethod
    def messages(row):
        return 2 * (row["workers"] - 1)

    @staticmethod
    def sent(row):
        return 2 * (row["workers"] - 1) / row["workers"] * row["bytes"]

    def terms(self, row):
        return [1, 2 * row["delay_s"], self.sent(row) / row["rate"]]

    def seconds(self, row):
        return self.messages(row) * self.m + sum(x * y for x, y in zip((self.a, self.k, self.c), self.terms(row)))

    def errors(self, sums):
        return [abs(self.seconds(row) / row["median_s"] - 1) for row in sums]

    def round(self, workers, size, rate):
        """One round of an exchange, in which a worker sends so many bytes: its terms."""
        return [self.a / 2, (workers - 1) * self.m, self.k * DELAY_S, self.c * size / rate]

    def stall(self, lossy):
        """Seconds that a loss costs, and the errors with them."""
        def chance(row):
            packets = 2 * row["workers"] * max(self.messages(row), self.sent(row) / PACKET)
            return 1 - (1 - row["loss"]) ** packets

        extra = [row["mean_s"] - self.seconds(row) for row in lossy]
        chances = [chance(row) for row in lossy]
        stall = sum(x * y for x, y in zip(extra, chances)) / sum(x * x for x in chances)
        return stall, [abs((self.seconds(row) + stall * x) / row["mean_s"] - 1) for row, x in zip(lossy, chances)]


def large_step(workers):
    """The step of the network that is not measured, as bench/exchange tells of others."""
    first, rest = LARGE["forward"] * LARGE["step_s"], (1 - LARGE["forward"]) * LARGE["step_s"]
    exchanges = []
    for layer in range(LARGE["layers"] if workers > 1 else 0):
        at = first + rest * (layer + 1) / LARGE["layers"]
        exchanges += 2 * [{"at_s": at, "bytes": (workers - 1) / workers * LARGE["bytes"]}]
    return {"network": "100 M parameters", "workers": workers, "step_s": LARGE["step_s"], "exchanges": exchanges}


def predicted(model, row, rate):
    """Seconds of the step on such links."""
    free = 0
    for one in row["exchanges"]:
        free = max(free, one["at_s"]) + sum(model.round(row["workers"], one["bytes"], rate))
    behind = max(0, row["step_s"] - row["exchanges"][-1]["at_s"])  # the update
    return max(row["step_s"], free + behind)


def alone(steps):
    """Seconds of a step that no other worker changes: of one worker, or of two, if that is less."""
    return min(row["step_s"] for workers, row in steps.items() if workers <= 2)


def series(found):
    """By network, its steps by workers."""
    all_steps = {}
    for row in found["steps"]:
        all_steps.setdefault(row["network"], {})[row["workers"]] = row
    any_workers = next(iter(all_steps.values()))
    all_steps["100 M parameters"] = {workers: large_step(workers) for workers in any_workers}
    return all_steps


def predictions(model, found):
    rows = []
    for network, steps in series(found).items():
        for workers, row in steps.items():
            if workers >= 8:
                times = [predicted(model, row, gbit * 1e9 / 8) for gbit in RATES_GBIT]
                rows.append([network, f"{workers:,}"] + [f"{time * 1e3:.1f} ({alone(steps) / time:.2f})" for time in times])
    return table(["network", "workers"] + [f"{gbit} Gbit/s" for gbit in RATES_GBIT], rows)


def parts(model, found):
    rows = []
    for network, steps in series(found).items():
        row = steps[max(steps)]
        terms = [model.round(row["workers"], one["bytes"], 10e9 / 8) for one in row["exchanges"]]
        fixed, messages, delays, sent = map(sum, zip(*terms))
        cells = [alone(steps), row["step_s"] - alone(steps), messages, sent, fixed + delays]
        rows.append([network, len(row["exchanges"])] + [f"{max(0, cell) * 1e3:.1f}" for cell in cells])
    return table(["network", "rounds", "step of one worker", "growth", "messages", "bytes", "delays and a"], rows)


def hidden(found):
    rows = []
    for row in found["trainings"]:
        share = 1 - row["waited_s"] / row["travelled_s"]
        rows.append([f"{row['network']}, {row['samples']} images each, {row['where']}"] +
                    [f"{row[name] * 1e3:.2f}" for name in ("step_s", "travelled_s", "waited_s")] + [f"{share:.0%}"])
    return table(["", "step, ms", "exchanges under way, ms", "waited for, ms", "hidden"], rows)


def listed(values):
    *first, last = (f"{value:g}" for value in sorted(set(values)))
    return ", ".join(first) + " and " + last


def busy_note(found):
    if found["load"] < found["cores"]:
        return ""
    return (f"\n**Provisional:** the machine had other work to do (load {found['load']:.0f} on {found['cores']} cores). Make the page again on "
            "a quiet one.\n")


def part(found):
    sums, many, cores = found["sums"], found["many_ranks"], found["cores"]
    model = Model(sums, many, cores)
    ranks = max(row["workers"] for row in sums)
    few = Model([row for row in sums if row["workers"] < ranks], many, cores)
    stall, lossy = model.stall(found["lossy"])
    return HEADING + busy_note(found) + TEXT.format(
        points=len(sums), least=f"{min(row['bytes'] for row in sums):,}", most=f"{max(row['bytes'] for row in sums):,}", ranks=ranks,
        delays=listed(row["delay_s"] * 1e3 for row in sums), rates=listed(row["rate"] * 8e-6 for row in sums), a=model.a * 1e6,
        k=model.k, c=model.c, m=model.m * 1e6, median=quantile(model.errors(sums), 0.5), worst=max(model.errors(sums)),
        held=quantile(few.errors([row for row in sums if row["workers"] == ranks]), 0.5), cores=cores,
        many=max(row["workers"] for row in many), hidden=hidden(found), stall=stall * 1e3, lossy=quantile(lossy, 0.5),
        lossy_points=len(lossy), samples=found["steps"][0]["samples"], delay=DELAY_S * 1e6, layers=LARGE["layers"],
        large=LARGE["step_s"], predicted=predictions(model, found), parts=parts(model, found))


def kept_part(page):
    """The part of a page that there is."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return text[text.index(HEADING):] if HEADING in text else ""


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    page = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs") / "scaling.md"
    found = json.loads((build / "bench-exchange.json").read_text())
    text = page.read_text(encoding="utf-8")
    before = text[:len(text) - len(kept_part(page))].rstrip("\n") + "\n\n"
    page.write_text(before + part(found), encoding="utf-8")


if __name__ == "__main__":
    main()
