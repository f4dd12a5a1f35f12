#!/usr/bin/env python3
"""What the server of the live page refuses, while a training goes on unharmed: page_attacks.py RETRACE JOB."""

import atexit
import http.client
import json
import re
import socket
import subprocess
import sys
import time

RETRACE, JOB = sys.argv[1:]
NAME = "<img src=x onerror=alert(1)>"
KEYS = ["data.train_samples=320", "data.test_samples=32", "network.width=8", "training.max_epochs=100000"]


def train(*arguments):
    settings = [word for key in KEYS for word in ("--set", key)]
    return subprocess.Popen([RETRACE, "train", JOB, *settings, "--threads", "1", *arguments], stderr=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, text=True)


def address_of(process):
    for line in process.stderr:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", line)
        if found:
            return int(found[1]), found[2]
    sys.exit("no address was printed")


class Server:
    def __init__(self, port, token):
        self.port, self.host = port, f"127.0.0.1:{port}"
        answer = self.ask("GET", f"/?token={token}", cookie=None)
        assert answer.status == 303, answer.status
        self.cookie = answer.getheader("Set-Cookie").split(";")[0]
        assert "HttpOnly" in answer.getheader("Set-Cookie") and "SameSite=Strict" in answer.getheader("Set-Cookie")

    def ask(self, method, path, cookie="own", host=None, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or self.host)
        if cookie:
            connection.putheader("Cookie", self.cookie if cookie == "own" else cookie)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.text = answer.read() if "event-stream" not in answer.getheader("Content-Type") else b""
        return answer

    def status(self, *arguments, **more):
        return self.ask(*arguments, **more).status

    def raw(self, data, wait=15):
        """What comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            try:
                connection.sendall(data)
                return connection.recv(1 << 16)
            except (ConnectionError, TimeoutError):
                return b""


def memory_of(process):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{process.pid}/status").read())[1]) / 1024


def refusals(server):
    own = {"Origin": f"http://{server.host}", "X_Retrace": "1"}
    # The token.
    assert server.status("GET", "/", cookie=None) == 403
    assert server.status("GET", "/?token=" + "0" * 32, cookie=None) == 403
    assert server.status("GET", "/?token=0", cookie=None) == 403
    assert server.status("GET", "/api/runs", cookie=server.cookie[:-1] + "x") == 403
    assert server.status("GET", "/api/runs") == 200
    # Another site: a name that it has pointed at this machine, a form, a script.
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example", "localhost.evil.example", ""):
        assert server.status("GET", "/api/runs", host=host or "x") == 403, host
    assert server.status("GET", "/api/runs", host=f"localhost:{server.port}") == 200
    assert server.status("POST", "/api/stop?run=1", body=b"") == 403
    assert server.status("POST", "/api/stop?run=1", body=b"", Origin="http://evil.example", X_Retrace="1") == 403
    assert server.status("POST", "/api/stop?run=1", body=b"", Origin=own["Origin"]) == 403
    assert server.status("POST", "/api/stop?run=1", body=b"", Origin="null", X_Retrace="1") == 403
    # A stop is no reading.
    assert server.status("GET", "/api/stop?run=1") == 404
    for method in ("DELETE", "PUT", "OPTIONS", "PATCH", "CONNECT", "TRACE"):
        assert server.status(method, "/api/stop?run=1", **own) == 405, method
    # Paths.
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/job?run=../..", "/api/job?run=1%00", "/page.js/..", "//etc/passwd",
                 "/api/job?run=99999999999999999999", "/api/job?run=-1"):
        assert server.status("GET", path) == 404, path
    answer = server.ask("GET", "/api/series?runs=1,-1,99999999999999999999,&names=../../x%0Aloss&most=99999999")
    found = json.loads(answer.text)
    assert answer.status == 200 and [one["name"] for one in found] == ["loss"] and found[0]["x"] != []
    answer = server.ask("GET", "/api/series?runs=" + "1," * 1000 + "&names=loss")
    assert answer.status == 200 and len(json.loads(answer.text)) == 64
    assert server.ask("GET", "/api/series?runs=-1").text == b"[]\n"
    assert server.status("POST", "/api/note?run=1", body=b"x" * 5000, **own) == 500
    assert server.status("POST", "/api/note?run=1", body=b"x" * 70000, **own) == 413


def broken_requests(server):
    assert b" 431 " in server.raw(b"GET / HTTP/1.1\r\nX: " + b"a" * 20000)
    assert b" 431 " in server.raw(b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: a\r\n" % i for i in range(5000)))
    for data in (b"\x00" * 100 + b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n",
                 b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                 b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
        assert b" 400 " in server.raw(data), data
    # Chunks without an end.
    assert b" 400 " in server.raw(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"ffff\r\n" + b"a" * 65535 + b"\r\n") * 4)
    # A request that does not end is closed.
    begin = time.monotonic()
    assert server.raw(b"GET / HT", wait=30) == b"" and 5 < time.monotonic() - begin < 25


def many_connections(server, process):
    before = memory_of(process)
    idle = []
    for _ in range(1000):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        connection.setblocking(False)
        idle.append(connection)
    # Streams that nobody reads.
    streams = []
    for connection in idle[-900:]:
        connection.close()
    for connection in idle[:60]:
        try:
            connection.send(b"GET /api/events HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n" % (server.host.encode(), server.cookie.encode()))
            streams.append(connection)
        except OSError:
            pass
    time.sleep(3)
    assert memory_of(process) - before < 64, (before, memory_of(process))
    for connection in idle[:100]:
        connection.close()
    time.sleep(1)
    assert server.status("GET", "/api/runs") == 200


def main():
    process = train("--out", NAME, "--monitor", "page")
    atexit.register(process.kill)
    server = Server(*address_of(process))
    time.sleep(1)
    refusals(server)
    broken_requests(server)
    many_connections(server, process)
    assert process.poll() is None, "the training has ended"
    runs = json.loads(server.ask("GET", "/api/runs").text)["runs"]
    assert runs[0]["name"] == NAME and runs[0]["state"] == "running" and not runs[0]["stop_asked"], runs
    steps = runs[0]["iteration"]
    time.sleep(2)
    assert json.loads(server.ask("GET", "/api/runs").text)["runs"][0]["iteration"] > steps, "the training stands still"
    # The page itself may.
    own = {"Origin": f"http://{server.host}", "X_Retrace": "1"}
    assert server.status("POST", "/api/stop?run=1", body=b"", **own) == 200
    text = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and "stopped by its user; go on with" in text, (process.returncode, text)
    print("page_attacks: all refused")


main()
