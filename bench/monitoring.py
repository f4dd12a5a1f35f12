#!/usr/bin/env python3
"""What it costs a training to be watched: bench/monitoring.py build/retrace [ROUNDS [EPOCHS [THREADS]]], from the source tree.

The digits job runs in turn with metrics.jsonl alone, with 20 pages open and one that never reads, and with everything: a terminal,
metrics.jsonl, event files of TensorBoard, the page. Told are processor times of whole processes, and, as two trainings beside other
work differ by more than one per cent, those of the threads that do not train."""

import os
import pty
import re
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

RETRACE = sys.argv[1]
ROUNDS, EPOCHS, THREADS = (int(sys.argv[i]) if len(sys.argv) > i else otherwise for i, otherwise in ((2, 3), (3, 20), (4, 2)))
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(/\?token=\w+)")


class Page:
    """Asks as the page's script does."""

    def __init__(self, port, path):
        self.port, self.cookie = port, ""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.cookie = re.search(r"Set-Cookie: ([^;]*)", self.get(path))[1]
        for name in ("", "dygraph.css", "page.css", "dygraph.js", "charts.js", "page.js"):
            self.get(f"/{name}")
        self.events = self.listen()
        self.get("/api/runs")
        self.next = time.monotonic()

    def send(self, connection, path):
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n\r\n".encode())

    def get(self, path):
        """The head of the answer; its body is read."""
        self.send(self.socket, path)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(1 << 18) or self.closed()
        head, body = data.split(b"\r\n\r\n", 1)
        left = int(re.search(rb"Content-Length: (\d+)", head)[1]) - len(body)
        while left > 0:
            left -= len(self.socket.recv(left)) or self.closed()
        return head.decode()

    def closed(self):
        raise OSError("the server has closed")

    def listen(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        self.send(connection, "/api/events")
        return connection

    def step(self):
        """Once in a second, if the run has gone on."""
        if time.monotonic() < self.next or not select.select([self.events], [], [], 0)[0]:
            return False
        self.next = time.monotonic() + 1
        told = b'"id":1' in self.events.recv(1 << 18)
        if told:
            self.get("/api/series?runs=1&most=500&skip=0")
        return told


def read_thread_seconds(process, seconds):
    """Processor time of each thread; of those that have ended, what was read last."""
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        try:
            with open(f"/proc/{process.pid}/task/{thread}/schedstat") as file:
                seconds[thread] = int(file.read().split()[0]) / 1e9
        except OSError:
            pass


def open_pages(text):
    port, path = ADDRESS.search(text).groups()
    pages = [Page(int(port), path) for _ in range(20)]
    for i, page in enumerate(pages):
        page.next += i / 20
    return pages, pages[0].listen()  # the last one is never read


def train(kind, folder):
    """Processor time of the process, and of its threads that do not train."""
    shutil.rmtree(folder, ignore_errors=True)
    more = {"the least": ["--quiet"], "20 pages": ["--json", "--monitor", "page"],
            "everything": ["--monitor", "page", "--tensorboard", f"{folder}/events"]}[kind]
    ours, theirs = pty.openpty()
    begin = time.monotonic()
    process = subprocess.Popen([RETRACE, "train", "jobs/digits.toml", "--out", f"{folder}/run", "--no-report", "--threads", str(THREADS), "--set",
                                f"training.max_epochs={EPOCHS}", *more], stdout=theirs, stderr=theirs)
    os.close(theirs)
    text, pages, seconds, asked = "", [], {}, 0
    while True:
        ended, _, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        read_thread_seconds(process, seconds)
        if select.select([ours], [], [], 0.02)[0]:
            try:
                text += os.read(ours, 1 << 16).decode(errors="replace")
            except OSError:
                pass
        try:
            if kind == "20 pages" and not pages and ADDRESS.search(text):
                pages, _unread = open_pages(text)
            asked += sum(page.step() for page in pages)
        except OSError:  # the run is over
            text = ""
    os.close(ours)
    others = sum(sorted(seconds.values(), reverse=True)[THREADS:])
    print(f"{kind:<12} {usage.ru_utime + usage.ru_stime:7.2f} s of processors in {time.monotonic() - begin:.1f} s, other threads "
          f"{others:6.3f} s, curves asked for {asked} times", flush=True)
    return usage.ru_utime + usage.ru_stime, others


def main():
    found = {"the least": [], "20 pages": [], "everything": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for kind, results in found.items():
                results.append(train(kind, f"{folder}/runs"))
    for kind, results in found.items():
        share = [100 * others / total for total, others in results]
        print(f"{kind:<12} {statistics.median(total for total, _ in results):7.2f} s of processors, other threads "
              f"{statistics.median(others for _, others in results):6.3f} s: {statistics.median(share):.2f} %, at most {max(share):.2f} %")


main()
