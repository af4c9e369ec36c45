#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py PROGRAM FOLDER: takes the pictures of README and site: the first screen of a report and of explore.

Writes report.png and explore.png. Needs Chromium and its driver; ends with 77 where they are missing.
"""
import base64
import os
import subprocess
import sys
import tempfile

import browser
from support import child

SOURCE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SCENARIOS = os.path.join(SOURCE, "scenarios")
WIDTH = 1080
# From the top of the page to the end of what is shown.
END = "return Math.ceil(document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY)"


def take(screen, address, last, path, script=None):
    screen.resize(WIDTH, 800)
    screen.media(prefers_color_scheme="light")
    screen.open(address)
    if script:
        screen.command("POST", "/execute/async", {"script": script, "args": []})
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": screen.run(END, last) + 16, "scale": 1}
    image = screen.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
    with open(path, "wb") as file:
        file.write(base64.b64decode(image))


# Turns the knob of GPUs and waits until the page says how sure the new setting is.
TURN = """
  const done = arguments[0], knob = document.getElementById("knob-gpus"), page = document.getElementById("explore");
  knob.value = String(Number(knob.value) + 1);
  knob.dispatchEvent(new Event("input"));
  const look = () => page.dataset.outlook ? done(null) : setTimeout(look, 50);
  setTimeout(look, 400);
"""


def main():
    program, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    try:
        screen = browser.Browser()
    except browser.Missing as missing:
        print(f"skipped: {missing}")
        return 77
    with screen, tempfile.TemporaryDirectory() as directory:
        for command in (["run", os.path.join(SCENARIOS, "ddp-2b-4nodes-200g.yaml")], ["report"]):
            subprocess.run([program, *command], cwd=directory, stdout=subprocess.DEVNULL, check=True)
        take(screen, os.path.join(directory, "report.html"), "#answer .tiles", os.path.join(folder, "report.png"))
        server = child.Child([program, "explore", os.path.join(SCENARIOS, "explore.yaml"), "--port", "0"], {})
        try:
            address = server.wait_for_text(r"http://\S+")[0]
            take(screen, address, "#answer .against", os.path.join(folder, "explore.png"), TURN)
        finally:
            server.stop()
    for name in ("report.png", "explore.png"):
        print(f"{os.path.join(sys.argv[2], name)}: {os.path.getsize(os.path.join(folder, name))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
