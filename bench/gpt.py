"""Training steps of GPTs beside PyTorch's: gpt.py BUILD_FOLDER [SIZE...] writes docs/gpt-speed.md, or those sections of it; about 15 minutes.

The programs take steps in turn (A B C A B C ...), from our weights, on the same tokens, with 2 threads. A peer whose loss after
some steps is not ours has no time. The floor is the time that the products of a step take at the peak of the processor: 6
operations for each weight of a product and token, and 12 for each feature, position, token and layer of attention. llm.c takes
part where train_gpt2.c lies in the folder llm.c of the peers' environment.
"""

import pathlib
import sys
import tempfile
import time

from measure import REST_SECONDS, ROOT, Absent, Program, peers_python, quantile

THREADS = 2
# Layers, heads, features, context, mini-batch, vocabulary; steps of the loss that is compared, samples, steps of each.
SIZES = {
    "nanoGPT on a CPU": ((4, 4, 128, 64, 12, 65), 10, 15, 5),
    "nanoGPT, characters": ((6, 6, 384, 256, 64, 65), 2, 5, 1),
    "GPT-2": ((12, 12, 768, 64, 4, 50257), 2, 7, 1),
}
LOSS_TOLERANCE = 1e-3
PEERS = {"PyTorch eager": ["torch_gpt.py", "eager"], "PyTorch compiled": ["torch_gpt.py", "compiled"], "llm.c": ["llmc.py"]}
TOO_SLOW = {("nanoGPT, characters", "llm.c")}  # half a minute a step


def operations(layers, _, features, context, batch, vocabulary):
    tokens = batch * context
    return tokens * (6 * (12 * layers * features ** 2 + features * vocabulary) + 12 * layers * context * features)


def programs_of(build, name_of_size, size, loss_steps):
    """Name to program, ours first, and what is said of those that do not take part."""
    found = {"retrace": Program([f"{build}/bench/gpt", *map(str, size), str(THREADS)], THREADS)}
    absent, python = {}, peers_python()
    with tempfile.TemporaryDirectory() as folder:
        weights = pathlib.Path(folder) / "weights.safetensors"
        found["retrace"].ask(f"weights {weights}")
        loss = float(found["retrace"].ask(f"loss {loss_steps}"))
        for name, (script, *form) in PEERS.items():
            if python is None:
                absent[name] = "not installed"
                continue
            if (name_of_size, name) in TOO_SLOW:
                absent[name] = "too slow to be timed in turns"
                continue
            try:
                peer = Program([str(python), str(ROOT / "bench/peers" / script), *form, *map(str, size), str(THREADS),
                                str(weights)], THREADS)
                theirs = float(peer.ask(f"loss {loss_steps}"))
            except Absent as reason:
                absent[name] = str(reason)
                continue
            if abs(theirs - loss) > LOSS_TOLERANCE * abs(loss):
                absent[name] = f"its loss after {loss_steps} steps is {theirs:.6g}, ours {loss:.6g}"
                peer.close()
                continue
            found[name] = peer
    return found, absent


def measure(build, name):
    size, loss_steps, samples, steps = SIZES[name]
    programs, absent = programs_of(build, name, size, loss_steps)
    times, peak = {one: [] for one in programs}, 0
    for _ in range(samples):
        for one, program in programs.items():
            peak = max(peak, *(float(programs["retrace"].ask("probe")) for _ in range(4)))
            if steps > 1:
                program.ask("run 1")  # wakes threads and fills caches
            times[one].append(float(program.ask(f"run {steps}")) / steps)
            time.sleep(REST_SECONDS)
    for program in programs.values():
        program.close()
    ours = quantile(times["retrace"], 0.5)
    lines = [f"## {name}", "", "{} layers, {} heads, {} features, {} positions, mini-batch {}, vocabulary {}: floor {:.1f} ms.".format(
        *size, operations(*size) / peak * 1e3), "", "| | median, ms | least, ms | by ours |", "| --- | ---: | ---: | ---: |"]
    lines += [f"| {one} | {quantile(seconds, 0.5) * 1e3:.1f} | {min(seconds) * 1e3:.1f} | {quantile(seconds, 0.5) / ours:.2f} |"
              for one, seconds in times.items()]
    return lines + [f"| {one} | - | - | {reason} |" for one, reason in absent.items()] + [""]


HEADER = ["# The speed of GPTs", "", "Written by `python3 bench/gpt.py build`: whole training steps (forward, loss, backward, Adam) with 2 threads,",
          "in turn, from the same weights and on the same tokens; losses agree. The floor is the products of a step at the peak.", ""]


def main():
    build, page = pathlib.Path(sys.argv[1]), ROOT / "docs/gpt-speed.md"
    sections = {text.split("\n", 1)[0]: "## " + text.rstrip() + "\n" for text in page.read_text().split("## ")[1:]} if page.exists() else {}
    for name in sys.argv[2:] or SIZES:
        sections[name] = "\n".join(measure(build, name))
        print(sections[name], flush=True)
    page.write_text("\n".join(HEADER) + "\n" + "\n".join(sections[name] for name in SIZES if name in sections))


main()
