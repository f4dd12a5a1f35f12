#!/usr/bin/env python3
"""A browser watches a run on its live page and stops it: page_browser.py RETRACE JOB. Skips without a Chromium."""

import atexit
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser

RETRACE, JOB = sys.argv[1:]
KEYS = ["data.train_samples=320", "data.test_samples=32", "network.width=8", "training.max_epochs=1000"]
SETTINGS = [word for key in KEYS for word in ("--set", key)]


def train(*arguments):
    result = subprocess.run([RETRACE, "train", *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def address_in(stream):
    for line in stream:
        found = re.search(r"http://\S+", line)
        if found:
            return found[0]
    sys.exit("no address was printed")


def cell(column, row=0):
    """The text of a table's cell, as a script."""
    return (f"(document.querySelectorAll('#runs tbody tr')[{row}]?.cells[1 + kColumns.findIndex(c => c.title === '{column}')]"
            ".textContent ?? '')")


def watch_and_stop(page):
    # Scalar kernels: the run goes on while it is looked at.
    process = subprocess.Popen([RETRACE, "train", JOB, *SETTINGS, "--threads", "1", "--out", "watched", "--monitor", "page", "--json"],
                               env={**os.environ, "RETRACE_SIMD": "scalar"}, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    page.open(address_in(process.stderr))
    page.wait(f"{cell('state')} === 'running'")
    page.wait("charts.has('loss') && !!charts.get('loss').graph")
    steps = page.run(f"Number({cell('step')})")
    page.wait(f"Number({cell('step')}) > {steps}")
    # The curve grows without a reload.
    last = page.run("charts.get('loss').extent[1]")
    page.wait(f"charts.get('loss').extent[1] > {last}")
    # A logarithmic scale, by its switch.
    page.run("[...document.querySelectorAll('.chart input')].find(i => i.getAttribute('aria-label').startsWith('loss:')).click()")
    assert page.run("charts.get('loss').graph.getOption('logscale')") is True
    # A zoom, by the mouse; then every point is there.
    place = page.run("(() => { const r = charts.get('loss').plot.getBoundingClientRect(); return [r.left, r.right, r.top + r.height / 2]; })()")
    left, right, y = place
    page.drag(left + 0.3 * (right - left), left + 0.4 * (right - left), y)
    page.wait("charts.get('loss').range !== null")
    page.run("document.querySelector('[aria-label=\"loss: show all\"]').click()")
    page.wait("charts.get('loss').range === null")
    assert page.errors == [], page.errors
    # The button asks once more, and the run ends after its iteration.
    page.run("setTimeout(() => document.querySelector('#runs tbody tr button[aria-label^=stop]').click(), 0), true")
    page.wait("runs.get(1).stop_asked || runs.get(1).state === 'stopped' || document.getElementById('connection').textContent !== 'live'")
    # The page that was open is told the end.
    page.wait("runs.get(1).state === 'stopped'")
    page.wait("document.getElementById('connection').textContent.startsWith('the run is over')")
    assert page.run("document.getElementById('message').textContent") != "Failed to fetch"
    out, err = process.communicate(timeout=60)
    result = json.loads(out.splitlines()[-1])
    assert process.returncode == 0 and result["stop_reason"] == "stopped by user", (process.returncode, result)
    assert result["iterations"] < 10000, "it had ended before it was stopped"
    assert "go on with: retrace train --resume watched" in err, err


def compare(page):
    server = subprocess.Popen([RETRACE, "monitor", ".", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        page.open(address_in(server.stdout))
        page.errors.clear()  # of the first page, whose server has ended
        page.wait("document.querySelectorAll('#runs tbody tr').length >= 2")
        for name in ("watched", "whole"):
            page.run(f"if (![...shown].some(id => runs.get(id).name === '{name}')) [...runs.values()].filter(r => r.name === '{name}').forEach(r => show(r.id, true))")
        page.run("for (const id of [...shown]) if (!['watched', 'whole'].includes(runs.get(id).name)) show(id, false)")
        page.wait("!document.getElementById('compare').hidden")
        assert page.run("[2.26e31, -1.5e-7, 0, 0.0014, 125000].map(axisText).join()") == "2.26e31,-1.5e-7,0,0.0014,125000"
        page.wait("charts.get('loss')?.graph?.getOptionForAxis('axisLabelFormatter', 'y') === axisText")
        page.wait("new Set(charts.get('loss')?.found?.map(one => one.run.id)).size === 2")
        # The table has as many rows as are wanted, and more when they are.
        page.run("mostRows = 1, drawTable()")
        assert page.run("document.querySelectorAll('#runs tbody tr').length === 1 && !document.getElementById('more').hidden")
        page.run("document.getElementById('more').click()")
        assert page.run("document.querySelectorAll('#runs tbody tr').length === runs.size && document.getElementById('more').hidden")
        page.run("document.getElementById('compare').click()")
        page.wait("document.getElementById('message').textContent.includes('have the same 10000 steps')")
        assert page.run("[...runs.values()].some(r => r.same_as > 0)")
        page.run("select([...shown][0]); document.getElementById('note').value = 'a <b>note</b>'; document.getElementById('save-note').click()")
        page.wait("[...runs.values()].some(r => r.note === 'a <b>note</b>')")
        assert page.run("document.querySelectorAll('#runs b').length") == 0
        assert page.errors == [], page.errors
        pictures(page, "page")
    finally:
        server.terminate()
        assert server.wait(timeout=20) == 0


def trials(page):
    return page.run("document.querySelectorAll('#trials tbody tr').length")


def study(page):
    """A study: sorted, filtered, a range of an axis, a trial that is to be made anew."""
    with open("small.toml", "w") as file:
        file.write('[network]\nname = "digits"\nwidth = 4\n[data]\ntrain_samples = 64\ntest_samples = 16\n'
                   '[training]\nmax_epochs = 1\nmini_batch_size = 16\n')
    with open("study.toml", "w") as file:
        file.write('job = "small.toml"\nstrategy = "random"\ntrials = 8\n[parameters]\n'
                   'training.initial_learn_rate = {low = 1e-4, high = 1e-2, log = true}\n'
                   'training.solver = ["adam", "sgdm"]\n')
    subprocess.run([RETRACE, "sweep", "study.toml", "--out", "studies/rates"], capture_output=True, check=True)
    server = subprocess.Popen([RETRACE, "monitor", "studies", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        page.dress(1280, 900)
        page.open(address_in(server.stdout))
        page.errors.clear()
        page.wait("location.pathname === '/' && document.readyState === 'complete' && document.querySelectorAll('#trials tbody tr').length === 8")
        page.wait("document.querySelectorAll('#runs tbody tr').length === 8 && charts.has('loss') && !!charts.get('loss').graph")
        assert page.run("document.querySelectorAll('#parallel polyline').length") == 8
        assert page.run("document.querySelectorAll('#importance meter').length") == 2
        page.run("[...document.querySelectorAll('#trials th button')].find(b => b.textContent === 'loss').click()")
        losses = page.run("[...document.querySelectorAll('#trials tbody tr')].map(r => Number(r.cells[2].textContent))")
        assert losses == sorted(losses), losses
        # The lower half of the axis of the loss, by the mouse; a click chooses all again.
        page.run("document.getElementById('parallel').scrollIntoView()")
        x, top, bottom = page.run("(() => { const r = document.querySelector('[data-axis=loss]').getBoundingClientRect(); return [(r.left + r.right) / 2, r.top, r.bottom]; })()")
        page.drag(x, x, bottom - 2, y_to=(top + bottom) / 2)
        page.wait("study.ranges.has('loss') && document.querySelectorAll('#trials tbody tr').length < 8")
        assert 0 < trials(page) < 8
        page.drag(x, x, bottom - 2)
        page.wait("!study.ranges.has('loss') && document.querySelectorAll('#trials tbody tr').length === 8")
        page.run("document.getElementById('trial-filter').value = 'sgdm'; drawStudy()")
        assert trials(page) == page.run("study.table.trials.filter(t => t.parameters['training.solver'] === 'sgdm').length")
        page.run("document.getElementById('trial-filter').value = ''; drawStudy()")
        pictures(page, "study")
        page.run("setTimeout(() => document.querySelector('#trials button[aria-label=\"Restart trial 3\"]').click(), 0), true")
        page.wait("study.table.trials[2].state === 'stopped'")
        page.wait("document.getElementById('study-message').textContent.includes('the next retrace sweep')")
        page.wait("!!document.querySelector('#trials button[aria-label=\"Cancel trial 3\"]')")
        assert page.errors == [], page.errors
    finally:
        server.terminate()
        assert server.wait(timeout=20) == 0


def report(page):
    """The report of a run is a page as well."""
    page.dress(1280, 900)
    page.open("file://" + os.path.abspath("whole/report.html"))
    page.wait("location.protocol === 'file:' && document.readyState === 'complete' && document.querySelectorAll('svg').length > 0")
    assert page.errors == [], page.errors
    pictures(page, "report")


def pictures(page, what):
    """For people, where RETRACE_PICTURES names a folder: light, dark, on a telephone."""
    folder = os.environ.get("RETRACE_PICTURES")
    if not folder:
        return
    for name, width, dark in (("light", 1280, False), ("dark", 1280, True), ("narrow", 400, False)):
        page.dress(width, 1000, dark)
        page.run("if (typeof charts !== 'undefined') for (const chart of charts.values()) chart.draw()")
        page.picture(os.path.join(folder, f"{what}-{name}.png"))


def main():
    if not browser.program():
        print("page_browser: skipped: there is no Chromium (package chromium)")
        return
    whole = train(JOB, *SETTINGS, "--out", "whole")
    page = browser.Browser()
    try:
        watch_and_stop(page)
        resumed = train("--resume", "watched", "--threads", "2")
        assert resumed["fingerprint"] == whole["fingerprint"], (resumed, whole)
        compare(page)
        study(page)
        report(page)
    finally:
        page.close()
    print("page_browser: all good")


main()
