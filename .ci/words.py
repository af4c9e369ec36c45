#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""words.py: calls that C keeps for compatibility, printing and exits outside cli, mutable state at file scope, products
that sim names, technologies that are compared by name; in tests, pipes that nobody reads; in any file, notes to
oneself."""
import re

from csource import code, files, read, report, without_comments

# pattern, rooms where it may stand, what to do instead
WORDS = [
    (r"\b_?exit \(|\bquick_exit \(", ("cli/", "tests/"), "only cli ends the program; return a GError"),
    (r"\bstderr\b|\bg_printerr\b|\bperror\b", ("cli/", "tests/", "examples/"), "only cli speaks to a person; return a GError"),
    (r"\bstdout\b|\b(?:v?printf|puts|putchar|g_print) \(",
     ("cli/", "tests/", "examples/", "sim/base/output.c"),  # a trace is streamed to the file that `-` names
     "only cli prints; return the text"),
    (r"\bg_file_set_contents \(", ("tests/", "cli/results/cmd_bundle.c"),  # bytes, in a directory of its own
     "write by FabOutput (sim/base/output.h), which replaces no database"),
    (r"\b(?:g_error|g_critical|g_warning|g_message|abort|atexit|signal|sigaction) \(",
     ("cli/", "tests/", "sim/config/schema.c", "sim/config/yaml_doc.c"),  # a wrong table, no memory
     "return a GError; a run that breaks an invariant calls fab_engine_fail"),
    (r"\b(?:g_getenv|g_setenv|getenv|setenv|setlocale) \(",
     ("cli/", "tests/", "validate/measure/cuda/symbols.c", "validate/measure/nccl/nccl.c"),  # as CUDA and NCCL do
     "only cli reads the environment of the program; hand it down"),
    (r"\b(?:s?rand|s?random|[dejlmn]rand48|g_random_\w+) \(|\bg_rand_new \(", (), "it has no seed of ours"),
    (r"\bg_rand_\w+ \(", ("tests/",), "randomness comes from FabRng"),
    (r"\bato(?:i|l|ll|f) \(", (), "use g_ascii_string_to_signed or fab_units_parse_*"),
    (r"\bstr(?:cpy|cat) \(|\bv?sprintf \(|\bgets \(", (), "use g_strdup_printf, g_strlcpy or GString"),
    (r"\bgoto\b", (), "use g_autoptr and return"),
    (r"\b_Thread_local\b|\b__thread\b", (), "hang the state off a context pointer"),
]

# What a file says to its reader is a source, or a reason from which a number is inferred. Across line ends too.
GAP = r"(?:\s|[#*|/])+"
NOTES = [(re.compile(words.replace(" ", GAP)), instead) for words, instead in (
    (r"\bfrom memory\b(?! to\b)", "name the source, or say 'inferred' and from what"),
    (r"\bnot looked up\b", "name the source, or say 'inferred' and from what"),
    (r"\brepositor(?:y|ies) unknown\b|\bunknown repositor(?:y|ies)\b", "name the repository, or say 'unattributed'"),
    (r"\bstore ids?\b", "readers have no such store"),
    (r"\b(?:TODO|FIXME|XXX)\b|\?\?\?", "do it, or open an issue"),
    (r"\bsee chat\b|\bnote to self\b|\bnot sure (?:if|whether|that|about)\b", "say what is known"),
)]
OTHERS_TEXT = ("LICENSE", "tests/fixtures/", "tests/fuzz/", ".ci/words.py")
BINARY = (".png", ".jpg", ".gz", ".zst", ".bin", ".enc", ".pdf", ".db")

# What sim may not name: makers, their products, protocols and libraries. What such a thing does is a property in the
# catalogue or a row of models.
PRODUCTS = set("""
    nvidia nvlink nvswitch nccl rccl nvls dgx hgx volta ampere hopper blackwell rubin grace h100 h200 a100 b200 gb200
    amd epyc mi250x mi300x xgmi rocm intel xeon qpi upi power9 mellanox connectx sharp pxn c2c infiniband roce efa srd
    slingshot rosetta trainium neuronlink gaudi cuda
    """.split())

# What sim says all the same, and why: parts of its code and strings.
SAID = {
    "nccl-tests": "sizes and rates are counted as nccl-tests does, which is the field's convention",
    'collectives, "nccl"': "the library that a scenario has when it names none",
    '"pxn"': "a key of scenarios: the field's word for going by another GPU's NIC",
    "cluster.pxn": "the same key, which `relays` of a technology is for",
    '"sharp"': "a key of links and a change that a person asks for: the field's word for networks that reduce",
    "FAB_CHANGE_SHARP": "that change",
    '"nvls"': "a change that a person asks for by this word, and the library's key",
    "FAB_CHANGE_NVLS": "that change",
}

# Readers of other programs' texts know what those call things.
READERS = ("formats/", "validate/measure/", "tests/")

COMPARISON = r'\b(?:strcmp|g_strcmp0|g_str_equal|g_str_has_prefix|g_str_has_suffix|g_ascii_strcasecmp) \([^;{}]*?"(%s)"'


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def without_preprocessor(text):
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M)


def top_level(text):
    """(position, statement) of what stands outside all braces; the insides of braces are left out."""
    depth, start, statement = 0, None, []
    for position, char in enumerate(text):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0 and ")" in "".join(statement) and "=" not in statement:
                start, statement = None, []  # the end of a function
        elif depth == 0 and char == ";":
            yield start, "".join(statement).strip()
            start, statement = None, []
        elif depth == 0:
            if start is None and not char.isspace():
                start = position
            if start is not None:
                statement.append(char)


def is_mutable_variable(statement):
    head = re.split(r"=", statement, maxsplit=1)[0].strip()
    head = re.sub(r"\[[^]]*\]", "", head)
    words = [word for word in re.findall(r"\w+", head) if word != "__extension__"]
    if len(words) < 2 or words[0] in ("typedef", "extern", "_Static_assert"):
        return False
    if words[0] in ("struct", "union", "enum") and len(words) == 2:  # a tag without a variable
        return False
    if "(" in head:  # a function, a macro, or a pointer to a function
        return bool(re.search(r"\(\*\s*\w", head)) and "=" in statement
    last = head.rsplit("*", 1)[-1] if "*" in head else head
    return not re.search(r"\bconst\b", last)


def products(path, unused):
    """(line, word) of products that the file names in its code and strings; what it may say leaves `unused`."""
    for number, line in enumerate(without_comments(path).split("\n"), 1):
        for said in SAID:
            if said in line:
                unused.discard(said)
                line = line.replace(said, "")
        words = {word.lower() for word in re.findall(r"[A-Za-z0-9]+", line.replace("_", " "))}
        yield from ((number, word) for word in sorted(words & PRODUCTS))


def technologies():
    listed = re.findall(r'^  - name: "?(.*?)"?$', read("models/catalog/technologies.yaml"), re.M)
    return "|".join(re.escape(name) for name in listed)


compared = re.compile(COMPARISON % technologies())
problems = []
unused = set(SAID)
for path in files("*.c", "*.h"):
    text = code(path)
    for pattern, rooms, instead in WORDS:
        if not path.startswith(rooms):
            problems += [f"{path}:{line_of(text, m.start())}: {m.group(0).strip(' (')}: {instead}"
                         for m in re.finditer(pattern, text)]
    if not path.startswith(READERS):
        spoken = without_comments(path)
        problems += [f"{path}:{line_of(spoken, m.start(1))}: {m.group(1)}: ask a property of the technology"
                     for m in compared.finditer(spoken)]
    if path.startswith("sim/"):
        problems += [f"{path}:{number}: {word}: sim names no product; make it a property in models/catalog"
                     for number, word in products(path, unused)]
    if path.startswith("tests/"):
        continue
    plain = without_preprocessor(text)
    problems += [f"{path}:{line_of(plain, start)}: mutable at file scope: {statement.split('=')[0].strip()}"
                 for start, statement in top_level(plain) if start is not None and is_mutable_variable(statement)]
    problems += [f"{path}:{line_of(plain, m.start())}: mutable static in a function: hang it off a context pointer"
                 for m in re.finditer(r"^[ \t]+static (?!const\b|inline\b|_Noreturn\b)[^;]*", plain, re.M)]
problems += [f".ci/words.py: sim does not say {said} any more" for said in sorted(unused)]
for path in files("*.py"):
    text = read(path)
    problems += [f"{path}:{line_of(text, m.start())}: a pipe that fills up stops the program: use tests/support/child.py"
                 for m in re.finditer(r"Popen\((?:[^()]|\([^()]*\))*PIPE", text)]
for path in files():
    if path.endswith(BINARY) or (path.startswith(OTHERS_TEXT) and not path.endswith("README.md")):
        continue
    text = read(path)
    problems += [f"{path}:{line_of(text, m.start())}: {' '.join(m.group(0).split())}: {instead}"
                 for pattern, instead in NOTES for m in pattern.finditer(text)]
report(problems)
