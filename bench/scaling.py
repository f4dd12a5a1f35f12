#!/usr/bin/env python3
"""Writes docs/scaling.md, but for its part "Many workers", and its figure docs/scaling.svg from what bench/scaling found:
scaling.py BUILD_FOLDER [FOLDER]."""

import json
import math
import pathlib
import sys

from exchange_model import kept_part

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLANNING_TARGET_S, RECORDING_TARGET_S = 15e-6, 1e-6  # of a node
BUSY_SHARE = 0.2  # of samples that were dropped

TEXT = """# Cost as work grows

Made by `make bench-scaling`; the numbers are those of one machine at one time.

A step is an accelerated training step: loss, gradients, Adam, running statistics, replayed on {threads} threads. The floor
is the time below which no plan of it can come (`bench/common/floor.h`). Recording is one run of the user's code, layers,
gradients and the solver included; planning makes a plan of that recording; both are paid once for each form of the
arguments. Steps are medians of samples that stand between two probes of the machine's speed; a sample is dropped if one
of them falls below 0.8 of the best. Recording and planning are the smallest CPU times of 30 runs.

![Step, recording and planning times against batch, depth and width](scaling.svg)
"""

WHAT = {
    "batch": ("samples", "Batch", "The digits network with its class head."),
    "depth": ("layers", "Depth", "Residual layers x + linear(relu(x)) of 16 features, 32 samples, and a class head."),
    "width": ("channels", "Width", "Three 3x3 convolutions with batch norm and relu on 16 x 16 pixels, 8 samples, and a "
                                   "class head."),
}


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.{3 if seconds < 1e-2 else 1}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " ---: |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def each(row, what):
    """Seconds a node of recording or planning."""
    return row[f"{what}_s"] / row["nodes"]


def step_cells(row):
    if "step_s" not in row:
        return [row["at"], "-", "-", "-", "-", row["kernel_calls"], f"0 ({row['dropped']})"]
    return [row["at"], milliseconds(row["step_s"]), f"{milliseconds(row['step_p10_s'])} - {milliseconds(row['step_p90_s'])}",
            milliseconds(row["floor_s"]), f"{row['step_s'] / row['floor_s']:.1f}", row["kernel_calls"],
            f"{row['samples']} ({row['dropped']})"]


def steps_section(rows, series):
    unit, title, text = WHAT[series]
    return f"## {title}\n\n{text} Milliseconds.\n\n" + table(
        [unit, "step", "10 - 90 %", "floor", "ratio", "kernel calls", "samples (dropped)"],
        [step_cells(row) for row in rows if row["series"] == series])


def verdict(rows, what, target, name):
    values = [each(row, what) for row in rows]
    met = "met" if max(values) <= target else "**missed**"
    return (f"- {name}: at most {max(values) * 1e6:.2f} µs, {values[-1] / values[0]:.1f} times as much at the last depth "
            f"as at the first; target {target * 1e6:.0f} µs: {met}.\n")


def planning_section(rows):
    rows = [row for row in rows if row["series"] == "depth"]
    cells = [[row["at"], row["nodes"], milliseconds(row["record_s"]), f"{each(row, 'record') * 1e6:.2f}",
              milliseconds(row["plan_s"]), f"{each(row, 'plan') * 1e6:.2f}"] for row in rows]
    return ("## Recording and planning\n\nOf the step of that depth. Both should be linear: as long for a node of 1,000 "
            "layers as for one of 10.\n\n" + table(
                ["layers", "recorded nodes", "recording, ms", "a node, µs", "planning, ms", "a node, µs"], cells) + "\n" +
            verdict(rows, "record", RECORDING_TARGET_S, "Recording of a node") +
            verdict(rows, "plan", PLANNING_TARGET_S, "Planning of a node"))


def busy_note(rows):
    kept, dropped = (sum(row[kind] for row in rows) for kind in ("samples", "dropped"))
    if dropped <= BUSY_SHARE * (kept + dropped):
        return ""
    return (f"\n**Provisional:** the machine had other work to do, and {dropped} of {kept + dropped} samples were dropped. "
            "Make the page again on a quiet one.\n")


WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 480, 356, 66, 52, 16, 50  # of a panel


class Panel:
    """A log-log plot at a place of the figure. Curves: (name, colour, dash, [(x, y), ...])."""

    def __init__(self, column, row, title, x_label, y_label, curves):
        self.x0, self.y0 = column * WIDTH, row * HEIGHT
        self.labels = title, x_label, y_label
        self.curves = curves
        points = [point for *_, curve in curves for point in curve]
        self.x_range = self.decades([x for x, _ in points], 1)
        self.y_range = self.decades([y for _, y in points], math.floor)

    @staticmethod
    def decades(values, whole):
        """The range of logarithms; of whole decades, or with a margin."""
        low, high = math.log10(min(values)), math.log10(max(values))
        return (low - 0.08, high + 0.08) if whole == 1 else (math.floor(low), math.ceil(high + 1e-9))

    def x(self, value):
        low, high = self.x_range
        return self.x0 + LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        low, high = self.y_range
        return self.y0 + HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def axes(self):
        left, right = self.x0 + LEFT, self.x0 + WIDTH - RIGHT
        top, bottom = self.y0 + TOP, self.y0 + HEIGHT - BOTTOM
        title, x_label, y_label = self.labels
        middle = (top + bottom) / 2
        yield text((left + right) / 2, self.y0 + 20, title, "middle", weight="bold")
        yield text((left + right) / 2, bottom + 38, x_label, "middle")
        yield text(self.x0 + 16, middle, y_label, "middle", turned=True)
        for exponent in range(self.y_range[0], self.y_range[1] + 1):
            y = self.y(10.0 ** exponent)
            yield line(left, y, right, y, "#dddddd")
            yield text(left - 6, y + 4, f"{10.0 ** exponent:g}", "end")
        for value in sorted({x for *_, curve in self.curves for x, _ in curve}):
            yield line(self.x(value), bottom, self.x(value), bottom + 5, "#333333")
            yield text(self.x(value), bottom + 18, f"{value:,}", "middle")
        yield (f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" '
               'stroke="#333333"/>')

    def draw(self):
        yield from self.axes()
        for number, (name, colour, dash, points) in enumerate(self.curves):
            path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
            yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            if dash == "none":
                yield from (f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points)
            left = self.x0 + LEFT + 98 * number
            yield line(left, self.y0 + TOP - 13, left + 24, self.y0 + TOP - 13, colour, 2, dash)
            yield text(left + 29, self.y0 + TOP - 9, name)


def line(x1, y1, x2, y2, colour, width=1, dash="none"):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}"/>')


def text(x, y, words, anchor="start", weight="normal", turned=False):
    place = f"translate({x:.1f} {y:.1f})" + (" rotate(-90)" if turned else "")
    return f'<text transform="{place}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>'


def curve(rows, series, value):
    return [(row["at"], found) for row in rows if row["series"] == series and (found := value(row)) is not None]


def panels(rows):
    def scaled(name, factor):
        return lambda row: row[name] * factor if name in row else None

    def node(what):
        return lambda row: each(row, what) * 1e6

    for place, series in enumerate(WHAT):
        unit, title, _ = WHAT[series]
        curves = [("step", "#3465a4", "none", curve(rows, series, scaled("step_s", 1e3))),
                  ("floor", "#888888", "5 4", curve(rows, series, scaled("floor_s", 1e3)))]
        yield place % 2, place // 2, f"{title}: training step", unit, "milliseconds", curves
    targets = [("planning", "plan", PLANNING_TARGET_S, "#cc0000"), ("recording", "record", RECORDING_TARGET_S, "#4e9a06")]
    curves = []
    for name, what, target, colour in targets:
        curves.append((name, colour, "none", curve(rows, "depth", node(what))))
        curves.append(("its target", colour, "2 4", curve(rows, "depth", lambda row, target=target: target * 1e6)))
    yield 1, 1, "Depth: recording and planning", "layers", "microseconds a node", curves


def figure(rows):
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}" width="{2 * WIDTH}" '
             f'height="{2 * HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{2 * WIDTH}" height="{2 * HEIGHT}" fill="white"/>']
    for column, row, title, x_label, y_label, curves in panels(rows):
        if curves := [one for one in curves if one[3]]:
            lines += Panel(column, row, title, x_label, y_label, curves).draw()
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    docs = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs")
    rows = json.loads((build / "bench-scaling.json").read_text())
    sections = [TEXT.format(threads=rows[0]["threads"]) + busy_note(rows), steps_section(rows, "batch"),
                steps_section(rows, "depth"), planning_section(rows), steps_section(rows, "width")]
    workers = kept_part(docs / "scaling.md")  # bench/exchange_model.py makes it
    (docs / "scaling.md").write_text("\n".join(sections + [workers] * bool(workers)), encoding="utf-8")
    (docs / "scaling.svg").write_text(figure(rows), encoding="utf-8")


main()
