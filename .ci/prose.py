# SPDX-License-Identifier: Apache-2.0
"""prose.py - the texts for people in YAML files of scenarios and of the catalogue."""
import re

# `summary`, `note` and `..._note`, also behind an anchor; a reference to an anchor was read where the anchor stands.
_KEY = re.compile(r"^( *(?:- )?)(?:\S.*[{,] *)?(summary|note|\w+_note): +(?:&[\w-]+ +)?(?!\*)(.*)$")


def values(text):
    """(line, key, text) of the summaries and notes, in one line each."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _KEY.match(line)
        if not match:
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
