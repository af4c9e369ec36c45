# SPDX-License-Identifier: Apache-2.0
"""How Sphinx builds the site; build.py stages the pages and calls it."""
import gc

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
