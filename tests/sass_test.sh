#!/bin/sh
# scripts/check_sass without CUDA's tools: what it reads in a listing of cuobjdump, and that each limit finds its loss.
command -v python3 >/dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=scripts exec python3 - <<'PYTHON'
import importlib.machinery
import importlib.util

import sass

loader = importlib.machinery.SourceFileLoader("check_sass", "scripts/check_sass")
check_sass = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_sass", loader))
loader.exec_module(check_sass)

USAGE = "Resource usage:\n Function tile:\n  REG:{registers} STACK:1536 SHARED:0 LOCAL:0 CONSTANT[0]:560\n"


def listing(fma=64, loads=4, others=4, spills=0, copies="LDGSTS.E.BYPASS.128", divisions=0):
    """A kernel with a loop of these around its accumulation, inside of an outer loop that is longer."""
    outside = ["S2R R0, SR_TID.X"] + ["MUFU.RCP R5, R5"] * divisions
    outer = [f"{copies} [R4], desc[UR4][R2.64]"] + ["STL.128 [R1], R8"] * 90
    inner = (["LDS.128 R4, [R2]"] * loads + ["@P0 FFMA R9, R4, R5, R9"] * fma + ["LDL R7, [R1]"] * spills +
             ["IADD3 R2, R2, 0x10, RZ"] * (others - 1))
    first = len(outside) + len(outer)
    code = outside + outer + inner + [f"@P1 BRA 0x{16 * first:x}", f"@!P2 BRA 0x{16 * len(outside):x}", "EXIT"]
    code += [f"BRA 0x{16 * len(code) + 16:x}"]
    return "\tcode for sm_90\n\t\tFunction : tile\n" + "".join(
        f"        /*{16 * i:04x}*/    {text} ;   /* 0x000fe20000000800 */\n      /* 0x000fe40000000f00 */\n"
        for i, text in enumerate(code))


def findings(kind="contraction_8x8", registers=128, pattern="til*", **code):
    kernels = sass.parse(listing(**code), USAGE.format(registers=registers))
    figures = [sass.Figures(kernel) for kernel in kernels.values()]
    return check_sass.check(figures, [(pattern, kind)], check_sass.KINDS)


figures = sass.Figures(sass.parse(listing(divisions=2), USAGE.format(registers=96))["tile"])
assert (figures.loop, figures.fma, figures.slots, figures.spills) == (72, 64, 16, 0), vars(figures)
assert (figures.registers, figures.local, figures.wide_copies, figures.divisions) == (96, 1536, 1, 2), vars(figures)
assert figures.ceiling() == 64 / 72

# Kernels of tensor cores: what stands between the barrier and the last product.
def products(rest, spills=0):
    code = (["LDGSTS.E.BYPASS.128 [R4], desc[UR4][R2.64]", "BAR.SYNC.DEFER_BLOCKING 0x0"] + ["FFMA R9, R4, R5, R9"] * rest +
            ["LDL R7, [R1]"] * spills + ["HMMA.1688.F32.TF32 R4, R8, R2, R4"] * 32 + ["FFMA R9, R4, R5, R9"] * 99)
    text = "\t\tFunction : tile\n" + "".join(f"        /*{16 * i:04x}*/    {line} ;\n" for i, line in enumerate(code))
    figures = sass.Figures(sass.parse(text, USAGE.format(registers=128))["tile"])
    return figures, check_sass.check([figures], [("tile", "tf32_8x8")], check_sass.KINDS)


figures, lost = products(96)
assert (figures.loop, figures.mma, lost) == (128, 32, []), (vars(figures), lost)
assert products(168)[1] == ["tile (tf32_8x8): 16.0% of the hottest loop are HMMA, wanted 19%"], products(168)
assert products(96, 1)[1] == ["tile (tf32_8x8): 1 accesses to local memory in the hottest loop"], products(96, 1)

figures.name, figures.mma, figures.loop, figures.share = "tile", 16, 71, 16 / 71  # in bf16
assert check_sass.findings_of(figures, "bf16_8x8", check_sass.KINDS["bf16_8x8"]) == []
figures.share, figures.registers, figures.spills = 16 / 84, 129, 1
assert len(check_sass.findings_of(figures, "bf16_8x8", check_sass.KINDS["bf16_8x8"])) == 3
assert findings() == []
assert sass.reads_one_bank(" R9, R3.reuse, R5, R9") and not sass.reads_one_bank(" R9, R4, R5, R9")
assert not sass.reads_one_bank(" R9, R3, 2, R9")
figures.mma, figures.one_bank, figures.fma = 0, 20, 64
lost = check_sass.findings_of(figures, "window_8x8", check_sass.KINDS["window_8x8"])
assert any("20 of 64 FFMA in the hottest loop read three registers of one bank, at most 10%" in text for text in lost), lost
LOST = (({"others": 12}, "80.0% of the hottest loop are FFMA, wanted 85%"),
        ({"loads": 5}, "20 slots of loads from shared memory for 64 FFMA leave less than 100% of the peak"),
        ({"registers": 129}, "129 registers, at most 128"),
        ({"spills": 1}, "1 accesses to local memory in the hottest loop"),
        ({"copies": "LDGSTS.E"}, "no asynchronous copies of 16 bytes"),
        ({"kind": "elementwise", "divisions": 1}, "1 I2F and MUFU (divisions), at most 0"))
for change, text in LOST:
    kind = change.get("kind", "contraction_8x8")
    assert findings(**change) == [f"tile ({kind}): {text}"], (change, findings(**change))
FORM = "tile_0123456789abcdef"
form = sass.parse(listing(others=12).replace("tile", FORM), USAGE.format(registers=128).replace("tile", FORM))
form = [sass.Figures(kernel) for kernel in form.values()]
assert check_sass.check_forms(form, [("tile", "contraction_8x8")], check_sass.KINDS) == [
    f"{FORM} (contraction_8x8): 80.0% of the hottest loop are FFMA, wanted 85%"]
assert check_sass.check_forms(form, [], check_sass.KINDS) == [f"{FORM}: the kernel tile has no limits"]
assert findings(pattern="other_*") == ["there is no kernel other_*"]
assert all(kind in check_sass.KINDS for _, kind in check_sass.KERNELS)
PYTHON
