#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terms.py: in README.md and the tutorials a term of the field leads to the glossary where it is used first.

Headings, tables, code and links do not count as a use. --write makes the links."""
import re
import sys

from csource import read, report, ROOT

GLOSSARY = "docs/reference/glossary.md"
PAGES = ("README.md", "docs/tutorials/pytorch-to-fabric.md", "docs/tutorials/learn.md", "docs/tutorials/tour.md",
         "docs/tutorials/course.md", "docs/tutorials/solutions.md")
# Terms of the glossary, and the words that stand for them in a sentence. Everyday words (step, link, job) are left out.
TERMS = {
    "activation": ["activations"], "all-gather": ["all-gather"], "all-reduce": ["all-reduce"], "all-to-all": ["all-to-all"],
    "backward": ["backward pass"], "band": ["band"], "bisection": ["bisection"], "bubble": ["bubble"], "bucket": ["bucket", "buckets"],
    "Chakra": ["Chakra"], "chunk": ["chunks"], "collective": ["collective", "collectives"], "DDP": ["DDP"], "DP": ["data parallelism"],
    "ECMP": ["ECMP"], "EP": ["expert parallelism"], "Ethernet": ["Ethernet"], "exposed": ["exposed"], "fidelity": ["fidelity"],
    "FLOP": ["FLOPs"], "forward": ["forward pass"], "FSDP": ["FSDP"], "GOAL": ["GOAL"], "goodput": ["goodput"],
    "gradient": ["gradients", "gradient"], "InfiniBand": ["InfiniBand"], "kernel": ["kernels", "kernel"], "KV cache": ["KV cache"],
    "latency": ["latency"], "leaf and spine": ["leaf"], "MFU": ["MFU"], "micro-batch": ["micro-batches", "micro-batch"], "NCCL": ["NCCL"],
    "nccl-tests": ["nccl-tests"], "NIC": ["NIC", "NICs"], "node": ["node"], "NVLink": ["NVLink"], "NVSwitch": ["NVSwitch"],
    "optimizer state": ["optimizer state"], "overlapped": ["overlapped"], "oversubscription": ["oversubscription"],
    "parameter": ["parameters"], "PCIe": ["PCIe"], "perftest": ["perftest"], "power cap": ["power cap"], "PP": ["pipeline stages"],
    "rail": ["rails"], "rank": ["rank", "ranks"], "RDMA": ["RDMA"], "recomputation": ["recomputation"],
    "reduce-scatter": ["reduce-scatter"], "ring": ["ring"], "straggler": ["straggler", "stragglers"],
    "streaming multiprocessor": ["streaming multiprocessors"], "TP": ["tensor parallelism"], "transceiver": ["transceivers"],
    "tree": ["tree"], "ZeRO": ["ZeRO", "ZeRO-1", "ZeRO-3"],
}
NO_USE = re.compile(r"(?ms)^```.*?^```|^#.*?$|^\|.*?$|`[^`\n]*`|!?\[[^\]]*?\]\([^)]*?\)|<[^>\n]*>")


def anchor(term):
    return "#" + re.sub(r"[^\w\- ]", "", term.lower()).replace(" ", "-")


def uses(text, words):
    """Starts and ends of the words in sentences, with the asterisks around them."""
    taken = [match.span() for match in NO_USE.finditer(text)]
    for word in words:
        for match in re.finditer(rf"(?<![\w-])(?:\*\*)?{re.escape(word)}(?:\*\*)?(?![\w-])", text):
            if not any(match.start() < end and start < match.end() for start, end in taken):
                yield match.span()


def unlinked(text):
    """(start, end, term) of first uses that no link to a page precedes."""
    for term, words in TERMS.items():
        first = min(uses(text, words), default=None)
        if first is None:
            continue
        names = "|".join(re.escape(word) for word in words)
        links = re.finditer(rf"\[[^\]]*(?<![\w-])(?:{names})(?![\w-])[^\]]*\]\(|{re.escape(GLOSSARY.split('/')[-1] + anchor(term))}\)", text)
        if not any(link.start() < first[0] for link in links):
            yield (*first, term)


def main():
    known = set(re.findall(r"(?m)^### (.*)$", read(GLOSSARY)))
    problems = [f".ci/terms.py: the glossary has no {term}" for term in TERMS if term not in known]
    for page in PAGES:
        text = read(page)
        glossary = GLOSSARY if page == "README.md" else "../reference/glossary.md"
        for start, end, term in sorted(unlinked(text), reverse=True):
            if "--write" in sys.argv:
                text = f"{text[:start]}[{text[start:end]}]({glossary}{anchor(term)}){text[end:]}"
            else:
                problems.append(f"{page}:{text.count(chr(10), 0, start) + 1}: '{text[start:end]}' is used first without a link to "
                                f"{glossary}{anchor(term)}; python3 .ci/terms.py --write makes it")
        if "--write" in sys.argv:
            with open(f"{ROOT}/{page}", "w", encoding="utf-8") as file:
                file.write(text)
    report(problems)


main()
