# SPDX-License-Identifier: Apache-2.0
"""accessible.py: a page under axe-core: nothing serious in light or dark, nor on the narrowest phone, where nothing may stick
out. Whatever the Tab key reaches has a name that a screen reader can tell; axe-core takes a label around two things for
the name of both, and the browser does not."""
import html.parser
import json
import os
import re

import browser
from support import read

AXE = os.environ.get("FAB_AXE", "")  # axe.min.js, which `./dev test` fetches with npm
HEAVIEST_PAGE = 300_000  # bytes of a page with its style sheets and scripts, without pictures
LARGE_PAGE = 100_000  # bytes
TEXTS = ("generic", "pre", "table", "article", "main")
CHECK = """
  const [rules, done] = arguments;
  for (const one of document.querySelectorAll("details")) one.open = true;
  const options = { preload: false, resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) };
  axe.run(document, options).then((found) => done(found.violations.map((one) =>
    [one.impact, one.id, one.help, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));
"""
# What depends on the width and the colours; the other rules of axe-core find the same in every view of a page without scripts.
OF_VIEWS = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")


class Checker:
    """Raises browser.Missing where there is no axe-core or no Chromium."""

    def __init__(self):
        if not os.path.exists(AXE):
            raise browser.Missing(f"no axe-core at {AXE or '$FAB_AXE'}; `./dev test` fetches it with npm")
        with open(AXE, encoding="utf-8") as file:
            self.axe = file.read()
        self.browser = browser.Browser()
        self.close = self.browser.close

    def nameless(self):
        """Roles of what can have the focus and has no name. A block of text that scrolls tells its text."""
        nodes = self.browser.cdp("Accessibility.getFullAXTree")["nodes"]
        return [node["role"]["value"] for node in nodes if not node.get("ignored") and not node.get("name", {}).get("value")
                and any(one["name"] == "focusable" and one["value"]["value"] for one in node.get("properties", ()))
                and node["role"]["value"] not in TEXTS]

    def check(self, test, address, views=((1280, "dark"), (320, "light")), is_still=False):
        """A page that is still draws nothing by itself: it is opened once for all views."""
        for i, (width, scheme) in enumerate(views):
            self.browser.resize(width, 900)
            self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            if i == 0 or not is_still:
                self.browser.open(address)
                self.browser.cdp("Runtime.evaluate", expression=self.axe)  # the page's own policy lets no script in
            rules = OF_VIEWS if i > 0 and is_still else ()
            found = self.browser.command("POST", "/execute/async", {"script": CHECK, "args": [rules]})
            test.assertEqual([one for one in found if one[0] in ("serious", "critical")], [], (width, scheme))
            test.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        test.assertEqual(self.nameless(), [])
        complaints = [message for level, message in self.browser.console() if level in ("SEVERE", "WARNING")]
        test.assertEqual(complaints, [])


class Parts(html.parser.HTMLParser):
    """The kinds of parts that a page has: an element with its class and the element around it. Words of code are left out."""

    EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "wbr"}

    def __init__(self, text):
        super().__init__()
        self.kinds, self.open = set(), [""]
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name in (dict(attrs).get("class") or "").split() or [""]:
            if tag != "span" or len(name) > 3:
                self.kinds.add((self.open[-1], tag, name))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while tag in self.open and self.open.pop() != tag:
            pass


def pages_of(site):
    """The pages of the site, and others that lie there, such as the slides."""
    return sorted(os.path.relpath(os.path.join(where, name), site) for where, _, names in os.walk(site) for name in names
                  if name.endswith(".html") and "_static" not in where)


def few_of_each_kind(site, first):
    """Pages of the site that together have every kind of part that any page of common size has: `first`, and then always the
    page with most of what is left. A page with something new is among them from then on. axe-core takes a minute for the
    largest tables, which `./dev docs --check` looks at."""
    parts = {page: Parts(text).kinds for page in pages_of(site)
             if 'id="the-page"' in (text := read(site, page)) and len(text) < LARGE_PAGE}
    chosen, left = [], set().union(*parts.values())
    while left:
        chosen.append(max(parts, key=lambda page: len(parts[page] & left)) if chosen else first)
        left -= parts[chosen[-1]]
    return chosen


def weight(path):
    """Bytes of a page with its style sheets and scripts, without pictures and what they are drawn from."""
    text, where = read(path), os.path.dirname(path)
    asked = set(re.findall(r'<(?:script|link)[^>]*(?:src|href)="([^"?:]+\.(?:js|css))', text))
    drawn = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    text = re.sub(r'<figure class="plot">.*?</figure>', "", text, flags=re.S)
    size = len(text.encode()) + sum(os.path.getsize(os.path.join(where, each)) for each in asked)
    for run in json.loads(drawn[1]).get("runs", ()) if drawn else ():
        size -= sum(len(json.dumps(run[part], separators=(",", ":"))) for part in ("timeline", "links") if part in run)
    return size
