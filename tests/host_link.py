#!/usr/bin/env python3
"""host_link HOST: waits until a host of tests/hosts_testing.sh, whose link came up again, reaches this machine."""

import re
import socket
import subprocess
import sys
import time


def wait_until_up(host):
    """A neighbour that did not answer counts as one that is not there for some seconds: both sides forget it first."""
    subprocess.run(["ip", "-n", host, "neigh", "flush", "dev", "eth0"], stderr=subprocess.DEVNULL)
    own = subprocess.run(["ip", "-n", host, "-o", "-4", "addr", "show", "dev", "eth0"], capture_output=True, text=True).stdout
    network = re.search(r"inet (\d+\.\d+\.\d+)\.", own)[1]
    subprocess.run(["ip", "neigh", "flush", "to", f"{network}.0/24"], stderr=subprocess.DEVNULL)
    with socket.create_server((f"{network}.254", 0)) as server:
        reach = f"exec 3<>/dev/tcp/{network}.254/{server.getsockname()[1]}"
        end = time.monotonic() + 10
        while subprocess.run(["ip", "netns", "exec", host, "bash", "-c", reach], stderr=subprocess.DEVNULL).returncode:
            if time.monotonic() > end:
                sys.exit(f"the link of {host} does not come up again")
            time.sleep(0.05)


if __name__ == "__main__":
    wait_until_up(sys.argv[1])
