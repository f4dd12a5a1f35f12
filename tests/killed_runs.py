#!/usr/bin/env python3
"""Runs that are killed (kill -9) at any moment can be read: killed_runs.py RETRACE JOB [KILLS [SEED]], in an empty folder.

Each run writes its log, its steps, a checkpoint after every step, and event files. The page's server then says of each what its
files hold."""

import http.client
import json
import os
import random
import re
import subprocess
import sys
import time

RETRACE, JOB = sys.argv[1:3]
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 20
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
KEYS = ["data.train_samples=320", "data.test_samples=32", "network.width=8", "training.max_epochs=10", "training.checkpoint_iterations=1",
        "training.checkpoint_seconds=0"]
SETTINGS = [word for key in KEYS for word in ("--set", key)]


def start(name):
    return subprocess.Popen([RETRACE, "train", JOB, *SETTINGS, "--threads", "1", "--out", f"runs/{name}", "--tensorboard", f"events/{name}", "--quiet"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for_folder(name, process):
    while not os.path.exists(f"runs/{name}") and process.poll() is None:
        time.sleep(0.001)


def lines(path):
    """The complete ones."""
    try:
        with open(path, "rb") as file:
            return file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return []


class Reader:
    def __init__(self, *folders):
        self.process = subprocess.Popen([RETRACE, "monitor", *folders, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port, path = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+)", self.process.stdout.readline()).groups()
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
        self.cookie = ""
        self.cookie = self.ask(path).getheader("Set-Cookie").split(";")[0]

    def ask(self, path):
        self.connection.request("GET", path, headers={"Cookie": self.cookie})
        answer = self.connection.getresponse()
        answer.text = answer.read()
        return answer

    def get(self, path):
        return json.loads(self.ask(path).text)

    def series(self, run):
        return {one["name"]: sum(one["points"]) for one in self.get(f"/api/series?runs={run['id']}")}


def main():
    chance = random.Random(SEED)
    process = start("whole")
    wait_for_folder("whole", process)
    begin = time.monotonic()
    assert process.wait() == 0
    whole = time.monotonic() - begin
    kills = runs = 0
    while kills < KILLS:
        process = start(f"killed-{runs}")
        wait_for_folder(f"killed-{runs}", process)
        time.sleep(chance.random() * whole)
        was_over = process.poll() is not None
        process.kill()
        process.wait()
        runs, kills, whole = runs + 1, kills + (not was_over), whole * (0.9 if was_over else 1.01)
    reader = Reader("runs")
    found = {run["name"].split("/")[-1]: run for run in reader.get("/api/runs")["runs"]}
    stepped = finished = 0
    for name in ["whole", *(f"killed-{i}" for i in range(runs))]:
        steps = lines(f"runs/{name}/steps.jsonl")
        if not lines(f"runs/{name}/metrics.jsonl") and not steps:
            continue  # killed before it had begun
        run = found[name]
        assert run["job"] == "digits" or not lines(f"runs/{name}/metrics.jsonl"), run
        assert run["iteration"] >= len(steps), (name, run, len(steps))
        assert reader.series(run).get("loss", 0) == len(steps), (name, reader.series(run), len(steps))
        stepped += len(steps) > 0
        finished += run["state"] == "finished"
    reader.process.terminate()
    reader = Reader("events")
    events = reader.get("/api/runs")["runs"]
    assert all(isinstance(reader.series(run), dict) for run in events)
    reader.process.terminate()
    assert stepped > finished, "none was killed between its first step and its end"
    print(f"killed_runs: {KILLS} kills (seed {SEED}) in {runs} runs: {len(found) - 1} had begun, {stepped - 1} had made steps, {finished - 1} had told their end; all can be read")


main()
