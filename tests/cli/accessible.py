# SPDX-License-Identifier: Apache-2.0
"""accessible.py: a page under axe-core: nothing serious in light or dark, nor on the narrowest phone, where nothing may stick
out. Whatever the Tab key reaches has a name that a screen reader can tell; axe-core takes a label around two things for
the name of both, and the browser does not."""
import os

import browser

AXE = os.environ.get("FAB_AXE", "")  # axe.min.js, which `./dev test` fetches with npm
TEXTS = ("generic", "pre", "table", "article", "main")
CHECK = """
  const done = arguments[0];
  for (const one of document.querySelectorAll("details")) one.open = true;
  axe.run(document, { preload: false, resultTypes: ["violations"] }).then((found) => done(found.violations.map((one) =>
    [one.impact, one.id, one.help, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));
"""


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

    def check(self, test, address, views=((1280, "dark"), (320, "light"))):
        for width, scheme in views:
            self.browser.resize(width, 900)
            self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            self.browser.open(address)
            self.browser.cdp("Runtime.evaluate", expression=self.axe)  # the page's own policy lets no script in
            found = self.browser.command("POST", "/execute/async", {"script": CHECK, "args": []})
            test.assertEqual([one for one in found if one[0] in ("serious", "critical")], [], (width, scheme))
            test.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        test.assertEqual(self.nameless(), [])
        complaints = [message for level, message in self.browser.console() if level in ("SEVERE", "WARNING")]
        test.assertEqual(complaints, [])
