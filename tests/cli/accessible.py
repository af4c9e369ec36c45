# SPDX-License-Identifier: Apache-2.0
"""accessible.py: a page under axe-core: nothing serious in light or dark, nor on the narrowest phone, where nothing may stick
out. Whatever the Tab key reaches has a name that a screen reader can tell; axe-core takes a label around two things for
the name of both, and the browser does not."""
import os

import browser

AXE = os.environ.get("FAB_AXE", "")  # axe.min.js, which `./dev test` fetches with npm
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
