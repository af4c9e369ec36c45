# SPDX-License-Identifier: Apache-2.0
"""How Sphinx builds the site; build.py stages the pages and calls it."""
import gc
import posixpath

# A build makes millions of objects and ends. Without looking for those in cycles it takes half the time, and 1.3 GB.
gc.disable()

project = "Fabricast"
html_title = "Fabricast"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"
html_copy_source = False
html_show_search_summary = False  # a page on a disk cannot fetch the others
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
pygments_style = "default"  # 4.5 : 1 or more on its ground, which friendly does not have
highlight_language = "none"
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]

# The entry of a page in the list of all pages that stands beside each of them, on the other pages of its folder and on
# its own.
ENTRY = '<li class="toctree-l2"><a class="reference internal" href="{}.html">'
OWN_ENTRY = '<li class="toctree-l2 current current-page"><a class="current reference internal" href="#">'
lists = {}  # by folder; no page of the folder is marked


def before_furo(_app, page, _template, context, _doctree):
    """Furo makes the list anew for every page, which took half of the time. Pages of a folder differ in their own entry
    alone, so furo gets nothing to do for all but the first."""
    made = lists.get(posixpath.dirname(page), "")
    entry = ENTRY.format(posixpath.basename(page))
    if entry in made:
        context["list_of_pages"] = made.replace(entry, OWN_ENTRY)
        context["toctree"] = lambda **_: ""


def after_furo(_app, page, _template, context, _doctree):
    if "list_of_pages" in context:
        context["furo_navigation_tree"] = context["list_of_pages"]
    elif OWN_ENTRY in context["furo_navigation_tree"]:  # not of a page that stands for its folder
        neutral = context["furo_navigation_tree"].replace(OWN_ENTRY, ENTRY.format(posixpath.basename(page)))
        lists[posixpath.dirname(page)] = neutral


def setup(app):
    app.connect("html-page-context", before_furo, priority=400)  # furo has the usual 500
    app.connect("html-page-context", after_furo, priority=600)
