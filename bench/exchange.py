#!/usr/bin/env python3
"""What the exchange of a training step costs: exchange.py BUILD_FOLDER [--quick] writes bench-exchange.json there.

Ranks in network namespaces, joined by links with a delay, a rate and losses (bench/links.cpp), exchange sums of several sizes;
then many ranks on one machine, for the cost of a message; one worker of up to 1,000, whose peers answer at once, for what a step
costs without a network; and two ranks that train, for the share of the exchange that is hidden behind the backward pass.
bench/exchange_model.py fits a model to that. Needs root, mpirun, ip and tc.
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DELAYS_MS, RATES_MBIT, RANKS = (0.1, 1, 5), (100, 1000), (2, 3, 4)
SIZES = (4096, 65536, 348160, 2719744)  # the last two: gradients of digits and of cifar10
LOSSES, LOSSY = (1e-4, 1e-3, 1e-2), {"delay_ms": 1, "rate_mbit": 1000}
MANY_RANKS, SHORT = (2, 4, 8, 16, 32), 64
ROUNDS = 3
WORKERS = (1, 2, 8, 32, 128, 512, 1000)
STEPS = {"digits": 32, "cifar10": 32}  # samples of each worker
MTU, BUFFER_KB = 9000, 1024
OPTIONS = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **options).stdout


class Hosts:
    """Network namespaces with a link for mpirun and, from link() on, one that is measured."""

    made = 0

    def __init__(self, count, folder):
        Hosts.made += 1
        self.name = f"rx{os.getpid() % 100000}{Hosts.made}"
        self.names = [f"{self.name}{chr(ord('a') + i)}" for i in range(count)]
        self.agent = pathlib.Path(folder) / "agent"
        self.switch = None

    def __enter__(self):
        try:
            run("ip", "link", "add", self.name, "type", "bridge")
            run("ip", "addr", "add", "10.179.0.254/24", "dev", self.name)
            run("ip", "link", "set", self.name, "up")
            for i, host in enumerate(self.names, 1):
                run("ip", "netns", "add", host)
                run("ip", "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", host)
                run("ip", "link", "set", host, "master", self.name, "up")
                self.inside(host, "ip", "addr", "add", f"10.179.0.{i}/24", "dev", "eth0")
                for device in ("eth0", "lo"):
                    self.inside(host, "ip", "link", "set", device, "up")
        except subprocess.CalledProcessError as error:
            self.__exit__()
            sys.exit(f"exchange: no network namespaces: {error.stderr.strip()}")
        # In place of ssh: agent HOST COMMAND...
        self.agent.write_text('#!/bin/sh\nhost=$1\nshift\nexec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"\n')
        self.agent.chmod(0o755)
        return self

    def __exit__(self, *_):
        self.unlink()
        for host in self.names:
            for kind in ("link", "netns"):
                subprocess.run(["ip", kind, "del", host], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.name], check=False, capture_output=True)

    @staticmethod
    def inside(host, *command):
        return run("ip", "netns", "exec", host, *command)

    def link(self, build, delay_ms, rate_mbit, loss):
        """New links: the sender's rate by tc, the rest by bench/links."""
        self.unlink()
        self.switch = subprocess.Popen([f"{build}/bench/links", str(delay_ms * 1000), str(loss), str(rate_mbit), str(BUFFER_KB),
                                        *self.names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.switch.stdout.readline().strip() != "ready":
            sys.exit("exchange: bench/links did not start")
        for i, host in enumerate(self.names, 1):
            self.inside(host, "sh", "-e", "-c", f"""
                ip link set link0 address 02:00:00:00:00:0{i} mtu {MTU} up
                ip addr add 10.178.0.{i}/24 dev link0
                tc qdisc add dev link0 root tbf rate {rate_mbit}mbit burst 64kb limit 16mb
                sysctl -qw net.ipv4.tcp_congestion_control=cubic || :""")

    def unlink(self):
        if self.switch:
            self.switch.communicate()
            self.switch = None

    def ranks(self, count, *command):
        """The lines of JSON that the first of so many ranks prints, each on a host of its own."""
        return rows_of(run("mpirun", *OPTIONS, "--mca", "plm_rsh_agent", self.agent, "--mca", "oob_tcp_if_include", "10.179.0.0/24",
                           "--mca", "btl_tcp_if_include", "10.178.0.0/24", "--host", ",".join(self.names[:count]), "-n", count,
                           *command, timeout=300))


def rows_of(output):
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def over_links(build, folder, budget, grid):
    """Sums over links: a row for each size."""
    found = []
    with Hosts(max(RANKS), folder) as hosts:
        for (delay, rate, loss), points in itertools.groupby(grid, lambda point: point[:3]):
            hosts.link(build, delay, rate, loss)
            for *_, ranks in points:
                for row in hosts.ranks(ranks, f"{build}/bench/exchange", "sums", budget, *SIZES):
                    found.append({"delay_s": delay * 1e-3, "rate": rate * 1e6 / 8, "loss": loss, **row})
                    print(f"exchange: {ranks} ranks, {delay} ms, {rate} Mbit/s, loss {loss:g}, {row['bytes']} bytes: "
                          f"{row['median_s'] * 1e3:.2f} ms", flush=True)
    return found


def many_ranks(build, budget):
    """Short sums among many ranks of this machine, over TCP."""
    found = []
    for ranks in MANY_RANKS:
        found += rows_of(run("mpirun", *OPTIONS, "-n", ranks, f"{build}/bench/exchange", "sums", budget, SHORT))
        print(f"exchange: {ranks} ranks on {os.cpu_count()} cores: {found[-1]['median_s'] * 1e3:.2f} ms", flush=True)
    return found


def steps(build):
    """The step of one worker of many, without a network: the fastest of some rounds."""
    found = []
    for network, samples in STEPS.items():
        rounds = [[rows_of(run(f"{build}/bench/exchange", "step", network, workers, samples))[0] for workers in WORKERS]
                  for _ in range(ROUNDS)]
        for same in zip(*rounds):
            found.append(min(same, key=lambda row: row["step_s"]))
            print(f"exchange: {network}, 1 of {found[-1]['workers']}: {found[-1]['step_s'] * 1e3:.2f} ms", flush=True)
    return found


def trainings(build, folder):
    """Two ranks that train: on one machine, and over a link of 1 Gbit/s."""
    found = []

    def note(where, rows):
        found.extend({"where": where, **row, "exchanges": len(row["exchanges"])} for row in rows)
        print(f"exchange: {found[-1]['network']}, {where}: {found[-1]['waited_s'] * 1e3:.2f} of "
              f"{found[-1]['travelled_s'] * 1e3:.2f} ms are waited for", flush=True)

    shared = ["--allow-run-as-root", "--bind-to", "none", "-n", "2"]
    for network, samples in STEPS.items():
        command = [f"{build}/bench/exchange", "train", network, samples]
        note("shared memory", rows_of(run("mpirun", *shared, *command)))
        with Hosts(2, folder) as hosts:
            hosts.link(build, 0.1, 1000, 0)
            note("1 Gbit/s, 0.1 ms", hosts.ranks(2, *command))
    return found


def main():
    words = [word for word in sys.argv[1:] if word != "--quick"]
    quick = len(words) + 1 < len(sys.argv)
    build = pathlib.Path(words[0] if words else ROOT / "build").absolute()
    if os.geteuid() != 0 or not all(map(shutil.which, ("mpirun", "ip", "tc", "unshare"))):
        sys.exit("exchange: needs root, mpirun, ip, tc and unshare (packages openmpi-bin, iproute2 and util-linux)")
    budget = 0.1 if quick else 0.7
    grid = [(delay, rate, 0, ranks) for delay, rate, ranks in itertools.product(DELAYS_MS, RATES_MBIT, RANKS)]
    lossy = [(LOSSY["delay_ms"], LOSSY["rate_mbit"], loss, ranks) for loss, ranks in itertools.product(LOSSES, RANKS)]
    os.environ.pop("RETRACE_THREADS", None)
    with tempfile.TemporaryDirectory() as folder:
        found = {"cores": os.cpu_count(), "load": os.getloadavg()[0], "trainings": trainings(build, folder), "steps": steps(build),
                 "many_ranks": many_ranks(build, budget), "sums": over_links(build, folder, budget, grid),
                 "lossy": over_links(build, folder, 4 * budget, lossy)}
    (build / "bench-exchange.json").write_text(json.dumps(found, indent=1))


main()
