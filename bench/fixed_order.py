"""What the fixed order of the sums costs: 3x3 convolutions against the same kernels with one chain for each sum.

    python3 bench/fixed_order.py [build folder]

Both programs run in turn; a row holds the median over the rounds of one's time for each unit of its probes' peak over
the other's. Writes BUILD/bench-order.json.
"""
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 5
CASES = "conv2d 3x3, "


def shares(program, file):
    """Case to its share of the peak."""
    subprocess.run([program, f"--json={file}", f"--benchmark_filter={CASES}"], check=True, stdout=subprocess.DEVNULL)
    return {(row["op"], row["direction"], row["threads"]): row["share_of_peak"] for row in json.loads(file.read_text())}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    file = build / "bench-order.json"
    costs = {}
    for _ in range(ROUNDS):
        ours = shares(build / "bench/ops", file)
        one_chain = shares(build / "bench/ops_one_chain", file)
        for case in ours.keys() & one_chain.keys():
            costs.setdefault(case, []).append(one_chain[case] / ours[case] - 1)
    rows = [{"op": op, "direction": direction, "threads": threads, "rounds": len(found),
             "cost": statistics.median(found), "low": min(found), "high": max(found)}
            for (op, direction, threads), found in sorted(costs.items())]
    file.write_text(json.dumps(rows, indent=1) + "\n")


main()
