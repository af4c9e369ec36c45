# SPDX-License-Identifier: Apache-2.0
"""points.py - places of a C file where a plausible fault can be put, each as a change of its text.

Only bodies of functions are changed: lines between a `{` and a `}` at the beginning of a line, as the layout of this
project has them. Texts, comments, assertions and frees stay, since no test of behaviour can see a change of these,
and so does what UNSEEN, ORDER and HASH list.
"""
import re
from collections import namedtuple

Point = namedtuple("Point", "kind line start end text")  # text replaces content[start:end]; line counts from 1

RELATIONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
SIGNS = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
BLANKED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
ASSERTION = re.compile(r"\b(g_assert\w*|g_return\w*|g_warn\w*|G_STATIC_ASSERT|fab_throw\w*|g_set_error\w*)\b")
FREE = re.compile(r"\b(\w*_free\w*|g_clear_\w+|\w*_unref|\w*_clear|g_steal_\w+|va_end|va_start|va_copy)\b")
BODY = re.compile(r"^\{\n(.*?)^\}", re.S | re.M)
# What no test of behaviour can see: every negative length means the whole text; memory for one element more, a zero after
# the last element of an array, and elements that begin as zeros are not looked at; another hash finds the same.
UNSEEN = (re.compile(r"\b(?:g|sqlite3)_\w+ \([^;]*, -(1)[,)]"), re.compile(r"\bg_(?:new0?|malloc0?|alloca) \([^;]*\+ (1)\)"),
          re.compile(r"\bg_new0? \([^;,()]+, (1)\)"), re.compile(r"\bg_new0? \([^;/-]*\* (\d+)\b"),
          re.compile(r"\bg_array_(?:sized_)?new \((FALSE), "), re.compile(r"\bg_array_(?:sized_)?new \(\w+, (FALSE), "))
COMPARE = re.compile(r"^\w+ \((?:gconstpointer|const void \*) ?\w+, (?:gconstpointer|const void \*) ?\w+[^)]*\)\n\{\n(.*?)^\}", re.S | re.M)
ORDER = re.compile(r"(?:\? |: |\breturn )-?(1)\b")  # of two elements: every number of a sign means the same
HASH = re.compile(r"^\w*hash\w* \((?:G_GNUC_UNUSED )?gconstpointer \w+\)\n\{\n(.*?)^\}", re.S | re.M)


def blanked(content):
    """The content with spaces in place of comments, texts and lines of the preprocessor; every offset stays."""
    return BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), content)


def closing(code, start):
    """The offset of the parenthesis that closes the one at `start`."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return -1


def operators(code):
    for found in re.finditer(r"(?<= )(<=|>=|==|!=|<|>|&&|\|\||[-+*/]=|[-+*/%])(?= )", code):
        sign = found.group()
        for other in RELATIONS.get(sign, ()):
            yield "relation", found.start(), found.end(), other
        if sign in SIGNS:
            yield "arithmetic", found.start(), found.end(), SIGNS[sign]
        elif sign in ("&&", "||"):
            yield "logic", found.start(), found.end(), "||" if sign == "&&" else "&&"


def conditions(code, content):
    for found in re.finditer(r"\bif \(", code):
        end = closing(code, found.end() - 1)
        if end > 0:
            yield "condition", found.end(), end, f"!({content[found.end():end]})"


def constants(code):
    for found in re.finditer(r"(?<![\w.\]])(\d+)(?![\w.])", code):
        before = code[:found.start()].rstrip()
        if before.endswith("case") or re.search(r"\w\[$", before) and re.search(r"^ *(const )?\w+ \**\w+\[$", before.split("\n")[-1]):
            continue
        yield "constant", found.start(1), found.end(1), str(int(found.group()) + 1)
    for found in re.finditer(r"\b(TRUE|FALSE)\b", code):
        yield "constant", found.start(), found.end(), "FALSE" if found.group() == "TRUE" else "TRUE"


def statements(code):
    call = r"^(?: +)((?!(?:if|while|for|switch) )\w+ \([^;{}]*\));$"
    assignment = r"^(?: +)((?:\*?\(?[\w.>\-\[\]]+\)?) (?:[-+*/|&]|<<|>>)?= [^;{}]*|[\w.>\-\[\]]+(?:\+\+|--));$"
    for found in re.finditer(f"(?m:{call})|(?m:{assignment})", code):
        group = 1 if found.group(1) else 2
        if not FREE.search(found.group()):
            yield "statement", found.start(group), found.end(group), ""


def returns(code):
    for found in re.finditer(r"\breturn ([^;]+);", code):
        if found.group(1).strip() not in ("0", "NULL", "TRUE", "FALSE", "FABRICAST_OK"):
            yield "return", found.start(1), found.end(1), "0"


def points(content):
    """All places of a file, in the order of its text."""
    code = blanked(content)
    bodies = [found.span(1) for found in BODY.finditer(code)]
    unseen = {found.start(1) for pattern in UNSEEN for found in pattern.finditer(code)}
    unseen |= {order.start(1) for found in COMPARE.finditer(code) for order in ORDER.finditer(code, *found.span(1))}
    hashes = [found.span(1) for found in HASH.finditer(code)]
    found = []
    for kind, start, end, text in [*operators(code), *conditions(code, content), *constants(code), *statements(code), *returns(code)]:
        line_start, line_end = code.rfind("\n", 0, start) + 1, code.find("\n", end)
        if start in unseen or any(a <= start and end <= b for a, b in hashes):
            continue
        if any(a <= start and end <= b for a, b in bodies) and not ASSERTION.search(code[line_start:line_end]):
            found.append(Point(kind, code.count("\n", 0, start) + 1, start, end, text))
    return sorted(found, key=lambda point: (point.start, point.kind, point.text))


def changed(content, point):
    return content[:point.start] + point.text + content[point.end:]


def described(content, point):
    """The change in a few words: `a < b` becomes `a <= b`, as the lines of a table say it."""
    line_start = content.rfind("\n", 0, point.start) + 1
    line_end = content.find("\n", point.start)
    before = " ".join(content[line_start:line_end].split())
    old = " ".join(content[point.start:point.end].split())
    if point.kind == "statement":
        return f"`{before}` is dropped"
    if point.kind == "condition":
        return f"`{before}` is negated"
    return f"`{old}` is `{point.text}` in `{before}`"
