"""The errors that the sources make: code, kind, text and help of each place, and docs/errors.md made of them."""

import collections
import dataclasses
import functools
import re

from project import files, lines

PAGE = "docs/errors.md"
AREAS = {1: "Tensors, labels, shapes, ops", 2: "Recording, gradients, plans, shards", 3: "Data", 4: "Jobs and options",
         5: "Files", 6: "Devices and workers", 7: "The command", 8: "Exchanges between devices",
         9: "Defects of retrace, and of kernels that somebody writes"}
VARIABLE = "…"
# What an error says whose text is put together elsewhere than where the error is made.
TEXTS = {
    158: f"transposed_conv2d: {VARIABLE}: x, weights and options do not fit together",
    160: "types or sizes of a and b do not fit",
    318: f"IDX file \"{VARIABLE}\" does not hold labels or images as they are expected",
    416: f"{VARIABLE} has a meaning only with {VARIABLE}",
    423: f"the {VARIABLE} set does not fit the network",
    458: f"an output of network.layers does not fit the data, or the layer that makes it",
    521: f"run folder \"{VARIABLE}\" cannot be made",
    630: "cuda: a call of the driver failed",
    701: f"{VARIABLE} has no flag, argument or command {VARIABLE}",
}

KIND = re.compile(r"ErrorKind::(\w+)\s*,\s*(?=\d{3}\b)")
NAMED = re.compile(r"(ErrorKind::\w+\s*,\s*)(k[A-Z]\w*)\b")
DEFINITION = re.compile(r"\b(\w+)\((?:[^()]*,\s*)?int code\b")
CONSTANT = re.compile(r"constexpr (?:const char\*|std::string_view) (?:const )?(k\w+)(?: = |\{)((?:\s*\"(?:[^\"\\]|\\.)*\")+)")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclasses.dataclass
class Site:
    """One place that makes an error. `text` and `help` are as the user reads them, with `…` for what varies."""
    name: str
    line: int
    code: int
    kind: str
    text: str
    help: str


def literal_end(text, at):
    quote = text[at]
    at += 1
    while text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1


def closing(text, at):
    """The index behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(text):
        if text[at] in "\"'":
            at = literal_end(text, at) - 1
        elif text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def split(text, separator):
    """The parts of an expression between separators that stand in no bracket and in no literal."""
    parts, start, at = [], 0, 0
    while at < len(text):
        if text[at] in "([{\"'":
            at = closing(text, at) if text[at] in "([{" else literal_end(text, at)
            continue
        if text[at] == separator:
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    return parts + [text[start:].strip()]


def said(expression, constants):
    """The text that an expression makes, `…` for what is no literal in it."""
    expression = expression.strip()
    if expression.startswith("std::move(") or expression.startswith("std::string("):
        expression = expression[expression.index("(") + 1:-1]
    if re.fullmatch(r"(\s*\"(?:[^\"\\]|\\.)*\")+", expression):
        text = "".join(STRING.findall(expression))
        return text.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")
    if expression in constants:
        return constants[expression]
    if expression.startswith("fmt::format("):
        form, *values = split(expression[len("fmt::format("):-1], ",")
        for value in values:
            value = said(value, constants) if "?" in value else VARIABLE
            form = re.sub(r"\{[^{}]*\}", lambda _: value if value.count(VARIABLE) == 0 else VARIABLE, form, count=1)
        return said(re.sub(r"\{[^{}]*\}", VARIABLE, form), constants).replace("{{", "{").replace("}}", "}")
    condition = split(expression, "?")
    if len(condition) == 2:
        either = [said(part.replace("\0", "::"), constants) for part in split(condition[1].replace("::", "\0"), ":")]
        either = [text for text in either if text not in ("", VARIABLE)]
        return "/".join(either) if either else VARIABLE
    pieces = split(expression, "+")
    return "".join(said(piece, constants) for piece in pieces) if len(pieces) > 1 else VARIABLE


def chain(text, at):
    """{method: argument} of the calls .method(argument) that follow."""
    found = {}
    while match := re.compile(r"\s*\.(where|got|expected|help)\(").match(text, at):
        end = closing(text, match.end() - 1)
        found[match[1]] = text[match.end():end - 1]
        at = end
    return found


def opening(text, at):
    """The index of the bracket around `at`."""
    depth = 0
    while depth >= 0:
        at -= 1
        depth += (text[at] in ")}") - (text[at] in "({")
    return at


def kinds_of_makers(text):
    """{function: kind} of the file's own functions that take a code."""
    kinds = {"op_error": "usage", "mistake": "usage", "add": "usage", "job_mistake": "usage"}
    for match in DEFINITION.finditer(text):
        if kind := re.search(r"ErrorKind::(\w+)", text[match.end():match.end() + 600]):
            kinds.setdefault(match[1], kind[1])
    kinds.pop("Error", None)
    return kinds


@functools.cache
def named_codes():
    """{constant: code} of all headers."""
    text = "\n".join("\n".join(lines(name)) for name in files(".h") if name.startswith("retrace/"))
    return dict(re.findall(r"\bconstexpr int (k\w+) = (\d{3});", text))


def sites_of(name):
    text = "\n".join(re.sub(r"^\s*//.*", "", line) for line in lines(name))
    text = NAMED.sub(lambda match: match[1] + named_codes().get(match[2], match[2]), text)
    constants = {match[1]: "".join(STRING.findall(match[2])) for match in CONSTANT.finditer(text)}
    makers = kinds_of_makers(text)
    call = re.compile(rf"\b({'|'.join(sorted(makers))})\((?=\s*(?:[\w.*]+\s*,\s*)?\d{{3}}\s*,)")
    found = [(opening(text, match.start()), match[1]) for match in KIND.finditer(text)]
    found += [(match.end() - 1, makers[match[1]]) for match in call.finditer(text)]
    for start, kind in sorted(found):
        end = closing(text, start)
        arguments = split(text[start + 1:end - 1], ",")
        kinds = [i for i, argument in enumerate(arguments) if argument.startswith("ErrorKind::")]
        at = kinds[0] + 1 if kinds else next(i for i, argument in enumerate(arguments) if re.fullmatch(r"\d{3}", argument))
        rest = arguments[at + 1:]
        maker = re.search(r"(\w+)$", text[:start])
        maker = maker[1] if maker else ""
        if maker in ("mistake", "add", "job_mistake"):
            rest = rest[1:]
        calls = chain(text, end)
        if maker == "op_error":
            calls.update(zip(("got", "expected", "help"), rest[1:]))
        elif text[start] == "{" and len(rest) > 1:
            calls["help"] = rest[1]
        help_text = said(calls.get("help", '""'), constants)
        if not help_text.strip(VARIABLE + " "):
            expected = said(calls.get("expected", '""'), constants)
            help_text = f"expected: {expected}" if expected.strip(VARIABLE + " ") else ""
        yield Site(name, text.count("\n", 0, start) + 1, int(arguments[at]), kind, said(rest[0], constants), help_text)


def all_sites():
    for name in files(".h", ".cpp"):
        if name.startswith("retrace/") and not name.endswith(("_test.cpp", "_case.h", "_cases.h")):
            yield from sites_of(name)


def exit_codes():
    """{kind: exit code}, from the enumeration."""
    text = "\n".join(lines("retrace/base/error.h"))
    return dict(re.findall(r"^  (\w+),\s*// (\d+):", text, re.M))


def once(texts):
    return list(dict.fromkeys(text for text in texts if text.strip(VARIABLE + " ")))


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def page():
    by_code = collections.defaultdict(list)
    for site in all_sites():
        by_code[site.code].append(site)
    exits = exit_codes()
    area = 0
    yield from ("# Errors", "", "Made from the sources by `scripts/errors --write`; `make check` refuses a stale page.", "",
                "An error is one of `retrace::Error` (`retrace/base/error.h`) and, in the command, this text on standard error:", "",
                "    error[RT0162]: linear: x has 784 features, weights expect 400",
                "      where:    train.cpp:41",
                "      got:      x f32[128,28,28,1] \"BSSC\", weights f32[10,400]",
                "      expected: features of x (all its axes but the first) = last axis of the weights",
                "      help:     give the weights the shape [10,784]", "",
                f"The kind decides the exit code of the command. {VARIABLE} stands for what varies: names, sizes, values. An op's",
                "error begins with its name. The last column is the help that the error gives, or else what it expects. Where one",
                "code has several texts, semicolons separate them.")
    for code in sorted(by_code):
        if code // 100 != area:
            area = code // 100
            yield from ("", f"## {AREAS[area]}", "", "| code | kind (exit code) | text | help |", "| --- | --- | --- | --- |")
        sites = by_code[code]
        kinds = ", ".join(f"{kind} ({exits[kind]})" for kind in once(site.kind for site in sites))
        texts = [TEXTS[code]] if code in TEXTS else once(site.text for site in sites) or [VARIABLE]
        helps = once(site.help for site in sites)
        yield f"| RT{code:04} | {kinds} | {cell('; '.join(texts))} | {cell('; '.join(helps))} |"
