# SPDX-License-Identifier: Apache-2.0
"""prose.py - the texts for people in YAML files of scenarios, of the catalogue and of `fabricast help`."""
import re

# `summary`, `note` and `..._note`, also behind an anchor; a reference to an anchor was read where the anchor stands. `text` and
# `shows` of the help.
_KEY = re.compile(r"^( *(?:- )?)(?:\S.*[{,] *)?(summary|note|text|shows|\w+_note): +(?:&[\w-]+ +)?(?!\*)(.*)$")


def _literal(lines, number):
    """(line, text) of the paragraphs of a block whose lines stay; indented lines are commands and rows."""
    margin = len(lines[number]) - len(lines[number].lstrip())
    start, paragraph = number, []
    for at in range(number, len(lines) + 1):
        line = lines[at] if at < len(lines) else ""
        if line.strip() and len(line) - len(line.lstrip()) == margin:
            start = start if paragraph else at
            paragraph.append(line.strip())
            continue
        if paragraph:
            yield start, " ".join(paragraph)
        paragraph = []
        if line.strip() and len(line) - len(line.lstrip()) < margin:
            return


def values(text):
    """(line, key, text) of the summaries, notes and texts, in one line each."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _KEY.match(line)
        if not match:
            continue
        if match.group(3).strip() == "|":
            for at, said in _literal(lines, number + 1):
                yield at + 1, match.group(2), said
            continue
        indent, value = len(match.group(1)), [match.group(3)]
        for more in lines[number + 1:]:
            if not more.strip() or len(more) - len(more.lstrip()) <= indent:
                break
            value.append(more.strip())
        is_block = re.fullmatch(r"[>|]-?", value[0].strip())
        said = " ".join(value[1:] if is_block else value).strip()
        if said.startswith('"'):
            said = re.match(r'"((?:\\.|[^"\\])*)"', said).group(1)
        elif "{" in line[:match.start(3)] or said.endswith("}"):  # in a mapping that stands in one line or ends here
            said = re.split(r"[,}]", said)[0]
        yield number + 1, match.group(2), said.strip()
