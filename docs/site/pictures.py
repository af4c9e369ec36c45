#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py PROGRAM: makes the pictures of docs/pictures anew, with Chromium (Debian: chromium, chromium-driver)."""
import base64
import os
import signal
import subprocess
import sys
import tempfile
import time

DOCS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(DOCS)
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import browser  # noqa: E402
import child  # noqa: E402

PICTURES = os.path.join(DOCS, "pictures")
ONE_PORT = ("--set", "cluster.nodes=4", "--set", "cluster.nics_per_node=1", "--set", "cluster.nic=roce-100")


def fabricast(program, *args):
    return subprocess.run([program, *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def report(program, window, scenario, settings, name, directory):
    database, page = os.path.join(directory, name + ".db"), os.path.join(directory, name + ".html")
    for each in settings:
        fabricast(program, "run", scenario, "--db", database, *each)
    fabricast(program, "report", "--db", database, "-o", page)
    window.open(page)
    window.screenshot(os.path.join(PICTURES, name + ".png"), whole=False)


def answer_and_timeline(program, window, scenario, settings, name, directory):
    """The sentence and the bar of the report, how sure it is, and the timeline; without what stands between."""
    database, page = os.path.join(directory, name + ".db"), os.path.join(directory, name + ".html")
    fabricast(program, "run", scenario, "--db", database, *settings)
    fabricast(program, "report", "--db", database, "-o", page)
    window.open(page)
    end = window.run("""for (const other of document.querySelectorAll("#links, #answer .tiles")) other.remove();
                        for (const row of document.querySelectorAll("#answer .verdict > div"))
                          if (!row.innerText.startsWith("How sure")) row.remove();
                        return document.querySelector("#timeline").getBoundingClientRect().bottom + scrollY""")
    clip = {"x": 0, "y": 0, "width": 1000, "height": end, "scale": 1}
    with open(os.path.join(PICTURES, name + ".png"), "wb") as file:
        file.write(base64.b64decode(window.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]))


def links(program, window, name, directory, n_nodes):
    """The machine of the report: what a node has, and how it is connected."""
    database, page = os.path.join(directory, name + ".db"), os.path.join(directory, name + ".html")
    fabricast(program, "run", "scenarios/hello.yaml", "--db", database, "--no-band", "--set", f"cluster.nodes={n_nodes}")
    fabricast(program, "report", "--db", database, "-o", page)
    window.open(page)
    box = window.run("""const box = document.querySelector("svg.links").getBoundingClientRect();
                        return {x: box.x + scrollX - 4, y: box.y + scrollY - 4, width: box.width + 8, height: box.height + 8,
                                scale: 1}""")
    with open(os.path.join(PICTURES, name + ".png"), "wb") as file:
        file.write(base64.b64decode(window.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=box)["data"]))


def explore(program, window):
    """The page after a knob moved: it says what changed."""
    served = child.Child([program, "explore", "scenarios/four-nodes.yaml", "--port", "0"], {"cwd": ROOT})
    try:
        window.open(served.wait_for_text(r"(http://\S+)").group(1))
        wait_for(window, "56.1")
        window.run("location.hash = 'rate=400'")
        wait_for(window, "24.3")
        wait_for(window, "The step is limited by")
        window.resize(1000, 900)  # knobs, and what they changed
        window.screenshot(os.path.join(PICTURES, "explore.png"), whole=False)
    finally:
        served.send_signal(signal.SIGINT)
        served.wait()


def wait_for(window, text):
    for _ in range(100):
        if text in window.run("return document.body.innerText"):
            return
        time.sleep(0.1)
    raise SystemExit(f"the page of explore does not say {text}")


def main():
    program = os.path.abspath(sys.argv[1])
    os.makedirs(PICTURES, exist_ok=True)
    with open(os.path.join(PICTURES, "four-nodes.svg"), "w", encoding="utf-8") as file:
        file.write(fabricast(program, "topo", "scenarios/hello.yaml", "--set", "cluster.nodes=4", "--only", "fabric",
                             "--format", "svg"))
    with tempfile.TemporaryDirectory() as directory, browser.Browser(1000, 760) as window:
        window.resize(1000, 900)  # as tall as the picture of explore, which stands beside that of the report
        report(program, window, "scenarios/four-nodes.yaml", [()], "report", directory)
        answer_and_timeline(program, window, "scenarios/hello.yaml", ONE_PORT, "tutorial", directory)
        explore(program, window)
        window.resize(860, 700)
        links(program, window, "one-node", directory, 1)
        links(program, window, "node-and-leaves", directory, 4)


if __name__ == "__main__":
    main()
