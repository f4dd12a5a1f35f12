#!/usr/bin/env python3
"""The live page with many runs in a headless Chromium: how long it takes to open and to zoom, and the server's memory.

    build/bench/series make DIR [RUNS] [POINTS]      makes the runs: 1,000 of 100,000 steps, 10 GB
    bench/page.py build/retrace DIR [ROUNDS]         measures them; each round has a server and a browser of its own
"""

import glob
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
import browser

# In the page: milliseconds since the navigation began until each of these was true and a frame was shown.
WATCH = """
const seen = {};
function shownFrame(act) { requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = act; c.port2.postMessage(0); }); }
(function look() {
  if (!document.getElementById('charts')) return shownFrame(look);
  const graphs = charts instanceof Map ? [...charts.values()] : [];  // before that, it is the element of this id
  const now = {table: runs instanceof Map && runs.size >= RUNS && document.querySelectorAll('#runs tbody tr').length > 0,
               chart: graphs.some(c => c.graph), charts: graphs.length > 0 && graphs.every(c => c.graph || c.element.hidden)};
  for (const name of Object.keys(now)) if (now[name] && !seen[name]) seen[name] = performance.now();
  if (Object.keys(seen).length < 3) shownFrame(look);
})();
"""
# Presses the button of the loss; the milliseconds until its chart was drawn anew and a frame was shown.
ZOOM = """
new Promise(done => {
  const chart = charts.get('loss'), draw = Chart.prototype.draw, begin = performance.now();
  chart.draw = function() { draw.call(this); delete chart.draw; shownFrame(() => done(performance.now() - begin)); };
  document.querySelector('[aria-label="loss: LABEL"]').click();
})
"""
SCROLL = """
new Promise(done => {
  const begin = performance.now(), box = document.querySelector('.scroll');
  box.scrollTop = (PART) * (box.scrollHeight - box.clientHeight);
  shownFrame(() => done(performance.now() - begin));
})
"""


def forget(folder):
    """Takes the runs' files out of the page cache, as after a start of the machine."""
    for path in glob.glob(os.path.join(folder, "*", "*")):
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def memory(process, name):
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


def say(what, values):
    print(f"{what:<52} {statistics.median(values):7.1f} median, {max(values):7.1f} at most, {len(values)} times", flush=True)


def zooms(page, count, ticked):
    page.run(f"shown.clear(), [...runs.keys()].slice(0, {ticked}).forEach(id => shown.add(id)), drawTable(), drawCharts()")
    times = []
    for i in range(count):
        label = ("zoom in", "zoom in", "zoom in", "later", "earlier", "zoom out", "show all")[i % 7]
        times.append(page.run(ZOOM.replace("LABEL", label)))
    say(f"zoom or move, {ticked} runs ticked, ms", times)


def measure(retrace, folder, forgotten):
    if forgotten:
        forget(folder)
    server = subprocess.Popen([retrace, "monitor", folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    page = browser.Browser()
    try:
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        watch = WATCH.replace("RUNS", str(len(os.listdir(folder))))
        page.call("Page.addScriptToEvaluateOnNewDocument", source=watch)
        for what in ("new server", "again"):
            page.open(address)
            page.wait("typeof seen === 'object' && Object.keys(seen).length === 3", 120)
            seen = page.run("seen")
            print(f"open, {what}{', files not in memory' if forgotten and what != 'again' else ''}: "
                  f"table {seen['table']:.0f} ms, first chart {seen['chart']:.0f} ms, all charts {seen['charts']:.0f} ms")
        print(f"server: {memory(server, 'VmHWM'):.0f} MiB at most after opening")
        zooms(page, 70, 3)
        zooms(page, 70, 10)
        for what, part in (("scroll the table, ms", "0.3 + 0.01 * (performance.now() % 10)"), ("scroll to the end, where 50 rows are made, ms", "1")):
            say(what, [page.run(SCROLL.replace("PART", part)) for _ in range(16)])
        for first in range(0, 100, 10):
            page.run(f"shown.clear(), [...runs.keys()].slice({first}, {first} + 10).forEach(id => shown.add(id)), drawCharts()")
        print(f"server: {memory(server, 'VmHWM'):.0f} MiB at most after 100 runs were looked at; errors of the page: {page.errors}")
    finally:
        page.close()
        server.terminate()
        server.wait()


def main():
    retrace, folder, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 2
    for i in range(rounds):
        measure(retrace, folder, forgotten=i == 0)


main()
