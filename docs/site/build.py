#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build.py PROGRAM OUT: the pages of docs/ as a site in OUT/html, which needs no server and no network.

1. Every page is copied. Below its title stands for whom it is: the second cell of its row in the README.md of its
   folder, else the folder's sentence "These pages are for ...".
2. Pages of reference are written from what PROGRAM prints: its commands, the keys of scenarios, models, the catalogue.
3. Sphinx builds them; a warning is an error. Then every link and anchor is followed, and every page must be at most
   two clicks from the first.
"""
import collections
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import plots  # noqa: E402
import search  # noqa: E402
DOCS = os.path.dirname(HERE)
ROOT = os.path.dirname(DOCS)
FOLDERS = ("tutorials", "how-to", "reference", "explanation", "models", "decisions")
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
ROW = re.compile(r"^\| *\[[^]]*\]\(([\w.-]+\.md)\)[^|]*\| *([^|]*?) *\|", re.M)
CODE = re.compile(r"^```.*?^```", re.M | re.S)
COLUMN_PX, PHONE_PX = 736, 358  # of the text
LEAST_PX = 11  # of letters in pictures
SPAN = re.compile(r'<span class="pre">(.*?)</span>')
IDLE_SCRIPTS = ("jquery", "underscore", "_sphinx_javascript_frameworks_compat", "doctools", "sphinx_highlight", "documentation_options")
MOTION = re.compile(r"^<!-- motion: ([\w-]+) -->$", re.M)
# A command of a console block with the lines that go on after a backslash, in the theme's HTML.
COMMAND = re.compile(r'(<span class="gp">\$ </span>[^\n]*(?:(?:\\|\\</span>)\n[^\n]*)*)')
HYPHENS = re.compile(r"(?<= )([^\s<>]*-[^\s<>]*)(?=[ <\n]|$)")  # a word that a browser would break
LONGEST_WORD = 36  # letters of a word that is kept whole on a phone
BLOCK = re.compile(r"(<pre[^>]*>)(.*?)(</pre>)", re.S)
PHONE_COLUMNS, COLUMNS, MOST_COLUMNS = 42, 100, 118  # of a line of code on a phone, in the column of a page, in letters of 11 px
MANY = 9  # columns of a table that is set in smaller letters


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def lighter(page):
    """A page without what it does not need: scripts that nobody calls, classes without a rule, paragraphs in cells, stripes of
    rows."""
    page = re.sub(r'\s*<script [^>]*src="[^"]*/(?:' + "|".join(IDLE_SCRIPTS) + r')\.js[^"]*"></script>', "", page)
    page = page.replace('class="reference internal"', 'class="reference"')
    page = re.sub(r"<(t[dh])([^>]*)><p>((?:(?!</?p>).)*)</p></\1>", r"<\1\2>\3</\1>", page, flags=re.S)
    page = re.sub(r'<(t[dh]) class="(?:head )?text-right">', r'<\1 class="r">', page)
    page = re.sub(r'<code class="docutils literal notranslate">(.*?)</code>',
                  lambda match: '<code class="literal">' + SPAN.sub(r"\1", match[1]) + "</code>", page)
    page = re.sub(r'<span class="std std-(?:doc|ref)">((?:(?!</?span).)*)</span>', r"\1", page)
    return re.sub(r'<tr class="row-(?:odd|even)">', "<tr>", page)


def command(match):
    """A command that may be broken into lines, but not within an option or a short name."""
    words = match[1].replace('<span class="w"> </span>', " ")
    words = HYPHENS.sub(lambda word: f'<span class="word">{word[1]}</span>' if len(word[1]) <= LONGEST_WORD else word[0], words)
    return f'<span class="command">{words}</span>'


def hang(text):
    """Where a line goes on that is too long for the page: below its last words, or a little to the right of its beginning; None: it
    is a row of figures, which is not broken."""
    cells = [cell for cell in re.finditer(r"\S+(?: \S+)*", text)]
    if not cells:
        return None
    first, last = cells[0].start(), cells[-1]
    has_words = last[0].count(" ") >= 2
    if len(cells) > 3 and not (has_words and last.start() <= COLUMNS // 2) and max(cell[0].count(" ") for cell in cells) < MANY:
        return None
    return last.start() if len(cells) > 1 and has_words and last.start() <= COLUMNS // 2 else first + 2


def broken(match):
    """A block whose long lines go on below themselves where the page has no room for them. Where rows of figures are a little too
    wide, its letters are a little smaller."""
    lines, widest = match[2].split("\n"), 0
    for i, line in enumerate(lines):
        text = html.unescape(re.sub(r"<[^>]*>", "", line))
        if line.startswith('<span class="gp">#'):  # Pygments takes it for the prompt of root
            line = lines[i] = f'<span class="go">{html.escape(text, quote=False)}</span>'
        is_output = line.startswith('<span class="go">')
        if len(text) <= (PHONE_COLUMNS if is_output else COLUMNS) or 'class="command"' in line or "\t" in text:
            continue
        at = hang(text)
        if at is not None and line.count("<span") == line.count("</span>"):
            lines[i] = f'<span class="long" style="--at:{at}ch">{line}</span>'
        else:
            widest = max(widest, len(text))
    begin = match[1]
    if COLUMNS < widest <= MOST_COLUMNS:
        begin = begin.replace(">", f' class="dense" style="--columns:{widest}">')
    return begin + "\n".join(lines) + match[3]


def with_breaks(match):
    """A cell whose long words may be broken behind a slash."""
    return re.sub(r"[^\s<>]{30,}(?![^<]*>)", lambda word: word[0].replace("/", "/<wbr>"), match[0])


def crowded(match):
    """A table with so many columns that its letters are smaller."""
    return match[0].replace('class="docutils', 'class="many docutils') if match[0].count("<th") >= MANY else match[0]


def readable(page, where):
    """Pictures whose texts would become too small to read, in the column or on a phone, keep their size and scroll."""
    def scrolls(match):
        picture = read(os.path.normpath(os.path.join(where, urllib.parse.unquote(match[2]))))
        width = re.search(r'<svg [^>]*?width="(\d+)"', picture)
        sizes = [float(size) for size in re.findall(r'font-size(?:="|: ?)([\d.]+)', picture)]
        if width is None or int(width[1]) <= COLUMN_PX and min(sizes, default=99) * min(1, PHONE_PX / int(width[1])) >= LEAST_PX:
            return match[0]
        return f'<p class="wide" tabindex="0" role="region" aria-label="Picture">{match[1]}'

    return re.sub(r'<p>(<img [^>]*?src="([^":]+\.svg)")', scrolls, page)


class Site:
    def __init__(self, program, out):
        self.program, self.source, self.html = program, os.path.join(out, "source"), os.path.join(out, "html")
        self.problems = []

    # ---- the pages ----

    def target(self, page, link):
        """Where a link of docs/PAGE leads on the site; what is no page becomes a file to load."""
        path = os.path.normpath(os.path.join(DOCS, os.path.dirname(page), link))
        if os.path.isdir(path) and os.path.exists(os.path.join(path, "README.md")):
            path = os.path.join(path, "README.md")
        if path == os.path.join(ROOT, "CONTRIBUTING.md"):
            inside = "contributing.md"
        elif path == os.path.join(ROOT, "README.md"):
            inside = "index.md"
        elif path.startswith(DOCS + os.sep) and not os.path.isdir(path):
            inside = re.sub(r"(^|/)README\.md$", r"\1index.md", os.path.relpath(path, DOCS))
            if not inside.endswith(".md"):
                self.copy(path, inside)
        elif os.path.isfile(path):
            inside = "files/" + os.path.relpath(path, ROOT)
            if inside.endswith(".md"):
                inside += ".txt"
            self.copy(path, inside)
        else:
            return None
        return os.path.relpath(inside, os.path.dirname(page) or ".")

    def copy(self, path, inside):
        os.makedirs(os.path.dirname(os.path.join(self.source, inside)), exist_ok=True)
        shutil.copyfile(path, os.path.join(self.source, inside))

    def mended(self, page, text):
        def link(match):
            begin, path, anchor, end = match.groups()
            if "://" in path or path.startswith("mailto:"):
                return match.group()
            found = self.target(page, path)
            if found is None:  # a folder of the repository
                return begin + "https://" + end if not os.path.isdir(
                    os.path.join(DOCS, os.path.dirname(page), path)) else "]" + "\0"
            return begin + found + (anchor or "") + end

        parts, at = [], 0
        for block in CODE.finditer(text):
            parts += [LINK.sub(link, text[at:block.start()]), block.group()]
            at = block.end()
        text = "".join(parts) + LINK.sub(link, text[at:])
        text = re.sub(r"\[([^]\n]*)\]\0", r"\1", text)
        return re.sub(r"^```sh$", "```console", text, flags=re.M)  # commands and what they print

    def plotted(self, page, text):
        """What a page of the site has and one of a forge cannot: plots that lead to tables, and collectives that move."""
        if page == "reference/validation.md":
            tables = json.loads(self.printed("validate", "--format", "json"))["tables"]
            text, known = plots.collectives_page(text, tables)
            self.stage("reference/measured-tables.md", known, "researchers who check a source")
        elif page == "reference/validation-training.md":
            text = plots.steps_page(text)
        found = MOTION.search(text)
        text = MOTION.sub(r'<div class="motion" data-motion="\1"></div>', text)
        static = "../" * page.count("/") + "_static"
        return text + f'\n<script defer src="{static}/motion.js"></script>\n' if found else text

    def stage(self, page, text, audience):
        title, _, rest = text.partition("\n")
        if not title.startswith("# "):
            self.problems.append(f"docs/{page}: its first line is no title")
        if not audience:
            self.problems.append(f"docs/{page}: for whom is it? A row in the README.md of its folder says so")
        name = re.sub(r"(^|/)README\.md$", r"\1index.md", page)
        head = f'{title}\n\n<p class="for-whom">For {audience}.</p>\n'
        write(os.path.join(self.source, name), head + self.mended(page, self.plotted(page, rest)))

    def tree(self, name, caption, entries):
        with open(os.path.join(self.source, name), "a", encoding="utf-8") as file:
            file.write(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n")

    def stage_folder(self, folder):
        front = read(os.path.join(DOCS, folder, "README.md"))
        rows = dict(ROW.findall(front))
        match = re.search(r"These pages are for ([^.]*)\.", " ".join(front.split()))
        common = match.group(1) if match else None
        pages = [page for page in rows if os.path.exists(os.path.join(DOCS, folder, page))]
        pages += sorted(page for page in os.listdir(os.path.join(DOCS, folder))
                        if page.endswith(".md") and page != "README.md" and page not in rows)
        self.stage(f"{folder}/README.md", front, common)
        for page in pages:
            audience = rows.get(page) if folder not in ("models", "decisions") else None
            self.stage(f"{folder}/{page}", read(os.path.join(DOCS, folder, page)), audience or common)
        return [page[:-3] for page in pages]

    # ---- pages that the program writes ----

    def printed(self, *args):
        return subprocess.run([self.program, *args], capture_output=True, text=True, check=True,
                              env={**os.environ, "FABRICAST_COLUMNS": "100", "NO_COLOR": "1"}).stdout

    def written(self, name, title, intro, parts):
        text = f'# {title}\n\n<p class="for-whom">For everyone who looks something up.</p>\n\n{intro}\n'
        for head, body in parts:
            text += f"\n## {head}\n\n```text\n{body.rstrip()}\n```\n"
        write(os.path.join(self.source, "reference", name + ".md"), text)
        return name

    def stage_printed(self):
        listed = re.findall(r"^ {2}([a-z0-9]+) {2,}\S", self.printed("--help"), re.M)
        commands = [name for name in listed if name not in ("help", "version")]
        names = [self.written("commands", "Commands", "What `fabricast COMMAND --help` prints.",
                              [(name, self.printed(name, "--help")) for name in commands])]
        sections = re.findall(r"^(\w+) {2,}", self.printed("describe"), re.M)
        catalogue, models = [], []
        for section in sections:
            if section in ("glossary", "queries", "verdicts"):
                continue
            text = self.printed("describe", section)
            if section == "scenario":
                names.append(self.written("keys", "Keys of a scenario", "What `fabricast describe scenario` prints.",
                                          [("Keys", text)]))
            elif section in ("fabric", "route", "fidelity", "congestion", "algorithm", "collectives", "compute",
                             "shape", "job"):
                members = self.printed("describe", section, "--names").split()
                models.append((section, "\n\n".join(self.printed("describe", section, member).rstrip()
                                                    for member in members)))
            else:
                catalogue.append((section, text))
        names.append(self.written("parameters", "Parameters of models",
                                  "What `fabricast describe SECTION NAME` prints of every model.", models))
        names.append(self.written("catalogue", "Catalogue",
                                  "What `fabricast describe SECTION` prints of links, machines and models.", catalogue))
        return names

    # ---- the whole ----

    def stage_all(self):
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.rmtree(self.html, ignore_errors=True)
        shutil.copytree(os.path.join(HERE, "static"), os.path.join(self.source, "_static"))
        shutil.copyfile(os.path.join(HERE, "conf.py"), os.path.join(self.source, "conf.py"))
        pages = {folder: self.stage_folder(folder) for folder in FOLDERS}
        pages["reference"] += ["measured-tables", *self.stage_printed()]
        self.stage("README.md", read(os.path.join(DOCS, "README.md")), "everyone who asks what a network does to training")
        loose = sorted(page for page in os.listdir(DOCS) if page.endswith(".md") and page != "README.md")
        for page in loose:
            self.stage(page, read(os.path.join(DOCS, page)), "contributors")
        contributing = read(os.path.join(ROOT, "CONTRIBUTING.md")).replace("](docs/", "](")
        self.stage("contributing.md", contributing, "contributors")
        for folder in FOLDERS:
            self.tree(f"{folder}/index.md", folder, pages[folder])
        self.tree("index.md", "Learn", ["tutorials/index"])
        self.tree("index.md", "Do", ["how-to/index"])
        self.tree("index.md", "Look up", ["reference/index", "models/index"])
        self.tree("index.md", "Understand", ["explanation/index"])
        self.tree("index.md", "Contribute", ["contributing", *(page[:-3] for page in loose), "decisions/index"])

    def build(self):
        done = subprocess.run([sphinx_python(), "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", self.source,
                               self.html], capture_output=True, text=True, check=False)
        self.problems += [line.replace(self.source + os.sep, "") for line in done.stderr.splitlines() if line.strip()]
        if done.returncode != 0 and not self.problems:
            self.problems.append(f"sphinx ended with {done.returncode}")

    def stand_alone(self):
        """furo of Debian takes a style sheet from the web server's root, and a module that a file cannot import."""
        static = os.path.join(self.html, "_static")
        sheet = os.path.join(static, "styles", "furo.css")
        for path in re.findall(r"@import url\(/(javascript/[^)]*)\)", read(sheet)):
            shutil.copyfile(os.path.join("/usr/share", path), os.path.join(static, "styles", os.path.basename(path)))
            write(sheet, read(sheet).replace("/" + path, os.path.basename(path)))
        script = os.path.join(static, "scripts", "furo.js")
        match = re.match(r'import \w+ from "\./([\w.-]+)";\n', read(script)) if os.path.exists(script) else None
        if match:
            spy = read(os.path.join(static, "scripts", match.group(1)))  # it forgets pages without a second heading
            spy = spy.replace("isAtBottom() && isInView(item.content", "item && isAtBottom() && isInView(item.content")
            write(script, spy + read(script)[match.end():])
        self.darken(sheet)
        if re.search(r"url\(/", read(sheet)):
            self.problems.append("furo.css asks for a file of a web server")

    def prune(self):
        """Rules of style sheets that no page needs: colours of words that none has, and parts of other extensions."""
        pages = [os.path.join(where, name) for where, _, names in os.walk(self.html) for name in names if name.endswith(".html")]
        used = {name for page in pages for name in re.findall(r'<span class="(\w{1,3})">', read(page))}
        sheet = os.path.join(self.html, "_static", "pygments.css")
        lines = [line for line in read(sheet).split("\n")
                 if (found := re.match(r".*\.highlight \.(\w{1,3}) \{", line)) is None or found[1] in used]
        write(sheet, "\n".join(lines))
        for name in ("furo.css", "normalize.css"):
            sheet = os.path.join(self.html, "_static", "styles", name)
            if os.path.exists(sheet):
                write(sheet, re.sub(r"\n\s+", "\n", re.sub(r"/\*.*?\*/", "", read(sheet), flags=re.S)))
        for page in pages:
            write(page, re.sub(r'\s*<link [^>]*furo-extensions\.css[^>]*/?>', "", read(page)))

    def darken(self, sheet):
        """furo of Debian has lost the rules for a system that is dark: those of a page that was made dark serve them."""
        text = read(sheet)
        begin = text.find("@media not print {")
        if "prefers-color-scheme" not in text and begin >= 0:
            dark = text[begin:text.index("\n\n", begin)].replace('[data-theme="dark"]', '[data-theme="auto"]')
            write(sheet, text + dark.replace("not print", "screen and (prefers-color-scheme: dark)") + "\n")
        elif begin < 0:
            self.problems.append("furo.css has no dark colours")

    def sourced(self, name, page):
        """The page with a line that says which file of the repository it is, for those who would mend it."""
        path = "docs/" + name.replace("index.html", "README.md").replace(".html", ".md")
        path = "CONTRIBUTING.md" if name == "contributing.html" else path
        if not os.path.exists(os.path.join(ROOT, path)):
            return page
        up = "../" * name.count("/")
        line = f'<p class="source">This page is <code class="literal">{path}</code> of the repository. ' \
               f'<a href="{up}contributing.html">Mend it</a>.</p>'
        return page.replace("</article>", line + "\n</article>", 1)

    def open_to_all(self):
        """What screen readers and keyboards miss in the theme's pages: levels of headings, boxes that scroll, and a way past
        the list of pages."""
        for where, _, names in os.walk(self.html):
            for name in names:
                page = read(os.path.join(where, name)) if name.endswith(".html") else ""
                if '<article role="main">' in page:  # and no page of its own, such as the slides
                    page = page.replace('role="heading">', 'role="heading" aria-level="2">')
                    page = page.replace("<body>", '<body>\n<a class="skip" href="#the-page">Skip to the page</a>', 1)
                    page = page.replace('<article role="main">', '<article role="main" id="the-page" tabindex="-1">', 1)
                    page = readable(lighter(self.sourced(os.path.relpath(os.path.join(where, name), self.html), page)), where)
                    page = BLOCK.sub(broken, COMMAND.sub(command, page))
                    page = re.sub(r'<table class="docutils.*?</tr>', crowded, page, flags=re.S)
                    page = re.sub(r"<td[^>]*>.*?</td>", with_breaks, page, flags=re.S)
                    page = page.replace("<pre", '<pre tabindex="0"')
                    page = page.replace('<th class="head"><p></p></th>', "<td></td>")  # the corner of a table
                    page = page.replace('<label class="overlay', '<label aria-hidden="true" class="overlay')
                    page = re.sub('<table class="((?:many )?docutils)', r'<table tabindex="0" class="\1', page)
                    page = page.replace('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Pages">')
                    page = page.replace('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer')
                    write(os.path.join(where, name), page)

    def check(self):
        """Every link and anchor leads somewhere; no page is more than two clicks away; nothing comes from a network."""
        pages = {os.path.relpath(os.path.join(where, name), self.html): Page(os.path.join(where, name))
                 for where, _, names in os.walk(self.html) for name in names
                 if name.endswith(".html") and "_static" not in where}
        edges = collections.defaultdict(set)
        for name, page in pages.items():
            self.problems += [f"{name}: loads {url}" for url in page.loads if re.match(r"(https?:)?//", url)]
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc or parts.path.startswith("_sources"):
                    continue
                to = name
                if parts.path:
                    to = os.path.normpath(os.path.join(os.path.dirname(name), urllib.parse.unquote(parts.path)))
                if not os.path.exists(os.path.join(self.html, to)):
                    self.problems.append(f"{name}: {link} leads nowhere")
                elif to in pages:
                    edges[name].add(to)
                    if parts.fragment and urllib.parse.unquote(parts.fragment) not in pages[to].ids:
                        self.problems.append(f"{name}: {link} leads to no heading")
        near = {"index.html"}
        for _ in range(2):
            near |= {to for name in near for to in edges[name]}
        self.problems += [f"{name}: more than two clicks from the first page" for name in sorted(set(pages) - near)
                          if name not in ("genindex.html", "search.html")]
        return len(pages)


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = {"", "top"}, set(), set()
        self.feed(read(path))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.add(values["href"])
        if tag in ("script", "img", "link") and values.get("rel") not in ("index", "search", "next", "prev"):
            self.loads.add(values.get("src") or values.get("href") or "")


def sphinx_python():
    """The Python that has Sphinx: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import sphinx, myst_parser, furo"], capture_output=True,
                          check=False).returncode == 0:
            return python
    sys.exit("Sphinx, MyST and furo are not installed (Debian: python3-sphinx python3-myst-parser furo)")


def main():
    site = Site(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    site.stage_all()
    site.build()
    site.stand_alone()
    site.open_to_all()
    site.prune()
    search.give(site.html, site.problems)
    count = site.check()
    if site.problems:
        sys.exit("\n".join(site.problems))
    print(f"{os.path.join(site.html, 'index.html')}: {count} pages")


if __name__ == "__main__":
    main()
