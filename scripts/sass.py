"""The machine code of CUDA kernels (SASS, as cuobjdump prints it): loops, what stands in them, registers."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ("nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm")
TOOLS = ROOT / "build/cuda-tools"
ARCHITECTURE = "sm_90"
FUNCTION = re.compile(r"^\s*Function : (\S+)")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*);")
USAGE = re.compile(r"^ Function (\S+):\s*\n\s*(REG:.*)$", re.M)
# Slots of the pipe from shared memory to registers that a warp's load takes: 128 bytes each.
LOAD_SLOTS = {"LDS.128": 4, "LDS.64": 2, "LDS": 1}


def find_tool(name):
    """The tool of the CUDA toolkit or of Python's packages of that name; None where it is not."""
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    for found in (shutil.which(name), shutil.which(name, path=toolkit + "/bin")):
        if found:
            return found
    folders = [pathlib.Path(folder) for folder in sys.path if folder]
    folders += TOOLS.glob("lib/python3*/site-packages")
    for folder in folders:
        for found in sorted(folder.glob(f"nvidia/*/bin/{name}")):
            return str(found)
    return None


def install_tools():
    """Installs the tools into build/cuda-tools; returns what went wrong, if anything did."""
    for command in ([sys.executable, "-m", "venv", str(TOOLS)],
                    [str(TOOLS / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", *PACKAGES]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return (done.stderr or done.stdout).strip().split("\n")[-1]
    return ""


class Kernel:
    """One kernel: `code` is a list of (address, opcode, operands)."""

    def __init__(self, name):
        self.name, self.code, self.registers, self.local = name, [], 0, 0

    def count(self, *opcodes, code=None):
        return sum(opcode.split(".")[0] in opcodes for _, opcode, _ in (self.code if code is None else code))

    def loops(self):
        """The code of each innermost loop: from the target of a backward branch to the branch."""
        spans = []
        for address, opcode, operands in self.code:
            target = re.search(r"0x([0-9a-f]+)\s*$", operands.strip())
            if opcode.split(".")[0] == "BRA" and target and int(target[1], 16) < address:
                spans.append((int(target[1], 16), address))
        inner = [s for s in spans if not any(t != s and s[0] <= t[0] and t[1] <= s[1] for t in spans)]
        return [[i for i in self.code if begin <= i[0] <= end] for begin, end in inner]

    def hottest_loop(self):
        """The innermost loop with the most FFMA (of all instructions, where there is none); empty without loops."""
        return max(self.loops(), key=lambda code: (self.count("FFMA", code=code), len(code)), default=[])


    def products(self):
        """The code of a kernel of tensor cores that makes a stage of products: from the last barrier or branch before the
        first HMMA to the last HMMA; empty where there is none."""
        places = [i for i, (_, opcode, _) in enumerate(self.code) if opcode.startswith("HMMA")]
        if not places:
            return []
        begin = next((i + 1 for i in range(places[0], -1, -1) if self.code[i][1].split(".")[0] in ("BAR", "BRA")), 0)
        return self.code[begin:places[-1] + 1]


def reads_one_bank(operands):
    """Whether a multiply-add reads three registers, all of them odd or all even: of one bank, which gives two at a time."""
    sources = re.findall(r"\bR(\d+)", operands)[1:]
    return len(sources) == 3 and len({int(register) % 2 for register in sources}) == 1


class Figures:
    """What limits speak of, of one kernel."""

    def __init__(self, kernel):
        products = kernel.products()
        loop = products or kernel.hottest_loop()
        self.name, self.registers, self.local = kernel.name, kernel.registers, kernel.local
        self.loop = len(loop)
        self.fma = kernel.count("FFMA", code=loop)
        self.mma = kernel.count("HMMA", code=loop)
        self.share = (self.mma or self.fma) / max(len(loop), 1)
        self.slots = sum(LOAD_SLOTS["LDS.128" if ".128" in opcode else "LDS.64" if ".64" in opcode else "LDS"]
                         for _, opcode, _ in loop if opcode.split(".")[0] == "LDS")
        self.one_bank = sum(opcode.split(".")[0] == "FFMA" and reads_one_bank(operands) for _, opcode, operands in loop)
        self.spills = kernel.count("LDL", "STL", code=loop)
        self.wide_copies = sum(opcode.startswith("LDGSTS") and ".128" in opcode for _, opcode, _ in kernel.code)
        self.divisions = kernel.count("I2F", "MUFU")

    def ceiling(self):
        """The share of the peak of FFMA that shared memory and issue slots leave in the hottest loop."""
        return min(self.share, self.fma / (4 * self.slots) if self.slots else 1.0)


def parse(listing, usage=""):
    """The kernels of the text of cuobjdump -sass, with what -res-usage says of them."""
    kernels = {}
    kernel = None
    for line in listing.split("\n"):
        function, instruction = FUNCTION.match(line), INSTRUCTION.match(line)
        if function:
            kernel = kernels.setdefault(function[1], Kernel(function[1]))
        elif instruction and kernel:
            kernel.code.append((int(instruction[1], 16), instruction[2], instruction[3]))
    for name, numbers in USAGE.findall(usage):
        if name in kernels:
            values = dict(re.findall(r"(\w+):(\d+)", numbers))
            kernels[name].registers, kernels[name].local = int(values["REG"]), int(values["STACK"])
    return kernels


def disassemble(cuobjdump, image):
    """The kernels of a fat binary, by name."""
    def run(flag):
        path = os.path.dirname(cuobjdump) + os.pathsep + os.environ.get("PATH", "")
        return subprocess.run([cuobjdump, "-arch", ARCHITECTURE, flag, str(image)], check=True, capture_output=True,
                              text=True, env={**os.environ, "PATH": path}).stdout
    return parse(run("-sass"), run("-res-usage"))
