# SPDX-License-Identifier: Apache-2.0
"""search.py: the search of the site, in parts that a page on a disk loads as scripts when they are asked for.

A section of a page is what is found. Words are in one file for each two first letters, texts in files of some kilobytes, so that a
search loads a word's file and the texts of what it shows. static/search.js reads both.
"""
import collections
import html
import json
import os
import re
import textwrap

HEADING = re.compile(r'<section id="([^"]+)">\s*(?:<span id="[^"]*"></span>)*\s*<h([1-3])[^>]*>(.*?)</h\2>', re.S)
WORD = re.compile(r"[a-z0-9_]+")
MOST_TEXT = 4000  # letters of what is found: a longer section is several
CHUNK = 5000      # letters of a file of texts
TITLE, HEAD = 12, 6
COMMON = frozenset("""a about after all also an and any are as at be because been both but by can do does each for from get has have how i if in
into is it its many me more most much my no not of on one only or other so some such than that the their them then there
these they this those to two was we what when where which while who why will with you your""".split())


def plain(markup):
    text = re.sub(r'<a class="headerlink".*?</a>|<svg.*?</svg>|</?(?:a|code|em|span|strong)\b[^>]*>', "", markup, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def sections(page):
    """(anchor, heading, text) of each part of a page between two headings; the first is the page's own."""
    begin, end = page.find('<article role="main"'), page.find("</article>")
    if not 0 <= begin < end:
        return []
    body = page[begin:end]
    heads = list(HEADING.finditer(body))
    return [(head[1] if i > 0 else "", plain(head[3]), plain(body[head.end():heads[i + 1].start() if i + 1 < len(heads) else len(body)]))
            for i, head in enumerate(heads)]


def weight(n):
    """Of a word that stands n times in a text."""
    return min(4, n.bit_length())


def beginning(word):
    return word[:2]


class Index:
    def __init__(self):
        self.pages, self.units = [], []       # name and title; of each section its page
        self.chunks, self.firsts = [[]], [0]  # anchor, heading and text of some sections; the first section of each chunk
        self.words = collections.defaultdict(lambda: collections.defaultdict(list))  # by beginning and word: [unit, weight, ...]

    def add_page(self, name, page):
        parts = sections(page)
        if not parts:
            return
        self.pages.append([name, parts[0][1]])
        for anchor, heading, text in parts:
            for piece in textwrap.wrap(text, MOST_TEXT, break_long_words=False, break_on_hyphens=False) or [""]:
                self.add_unit(anchor, heading if anchor else "", piece, parts[0][1])

    def add_unit(self, anchor, heading, text, title):
        unit = len(self.units)
        if self.chunks[-1] and sum(len(one[2]) for one in self.chunks[-1]) + len(text) > CHUNK:
            self.chunks.append([])
            self.firsts.append(unit)
        self.chunks[-1].append([anchor, heading, text])
        self.units.append(len(self.pages) - 1)
        weights = collections.Counter({word: weight(n) for word, n in collections.Counter(WORD.findall(text.lower())).items()})
        head = WORD.findall(heading.lower())
        weights.update(dict.fromkeys(head, HEAD + HEAD // max(1, len(head))))  # a heading of one word is about that word
        if not anchor:
            weights.update(dict.fromkeys(WORD.findall(title.lower()), TITLE))
        for word, much in weights.items():
            if word not in COMMON and not re.fullmatch(r"\d{3,}|\d|[a-z]", word):
                self.words[beginning(word)][word] += [unit, much]

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)

        def put(name, call, data):
            with open(os.path.join(folder, name + ".js"), "w", encoding="utf-8") as file:
                file.write(f"fabricastSearch.{call}({json.dumps(data, ensure_ascii=False, separators=(',', ':'))});\n")

        put("pages", "pages", {"pages": self.pages, "units": self.units, "firsts": self.firsts, "common": sorted(COMMON)})
        for first, words in self.words.items():
            put("words-" + first, "words", [first, {word: words[word] for word in sorted(words)}])
        for i, texts in enumerate(self.chunks):
            put(f"texts-{i}", "texts", [i, texts])


def give(site, problems):
    """Writes the search of the pages in a folder of HTML, in place of that of Sphinx, which loads all words of all pages."""
    index = Index()
    for where, _, names in sorted(os.walk(site)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(where, name), site)
            if name.endswith(".html") and not path.startswith("_static") and path not in ("search.html", "genindex.html"):
                with open(os.path.join(where, name), encoding="utf-8") as file:
                    index.add_page(path, file.read())
    index.write(os.path.join(site, "_static", "search"))
    path = os.path.join(site, "search.html")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    page, n = re.subn(r'\s*<script[^>]* src="(?:_static/)?(?:searchtools|searchindex|language_data)\.js[^"]*"[^>]*></script>', "", page)
    page, m = re.subn(r'(<script [^>]*src="_static/site\.js)', r'<script src="_static/search.js"></script>\1', page, count=1)
    if n < 3 or m != 1:
        problems.append("search.html has not the scripts of Sphinx that it had")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    for name in ("searchindex.js", "_static/searchtools.js", "_static/language_data.js"):
        if os.path.exists(os.path.join(site, name)):
            os.remove(os.path.join(site, name))
