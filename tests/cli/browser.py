# SPDX-License-Identifier: Apache-2.0
"""browser.py: a headless Chromium for the tests of pages, driven through chromedriver's HTTP protocol.

Browser () starts one with an empty profile, or raises Missing with a sentence where none works.
"""
import base64
import json
import os
import shutil
import tempfile
import urllib.error
import urllib.request

from support import child

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--disable-default-apps", "--hide-scrollbars", "--force-color-profile=srgb",
         "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]


class Missing(Exception):
    """No browser works here."""


class ScriptError(Exception):
    """What the browser said of a command."""


class Browser:
    def __init__(self, width=1280, height=900):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if not program or not driver:
            raise Missing("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
        self.directory = tempfile.mkdtemp(prefix="browser-")
        self.driver = child.Child([driver, "--port=0"], {"env": {**os.environ, "HOME": self.directory}})
        self.session = None
        try:
            self.port = self.driver.wait_for_text(r"started successfully on port (\d+)").group(1)
            options = {"binary": program,
                       "args": FLAGS + [f"--window-size={width},{height}", f"--user-data-dir={self.directory}/profile"]}
            capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "timeouts": {"script": 100000},
                            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = answer["sessionId"]
        except (OSError, ScriptError, AssertionError) as error:
            self.close()
            raise Missing(f"chromium does not start here: {str(error).splitlines()[0][:300]}") from error

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise ScriptError(f"{value['error']}: {value['message']}") from error

    def command(self, method, path, body=None):
        return self.ask(method, f"/session/{self.session}{path}", body)

    def open(self, path):
        """A file, or an address."""
        self.command("POST", "/url", {"url": path if "://" in path else "file://" + os.path.abspath(path)})

    def run(self, script, *args):
        return self.command("POST", "/execute/sync", {"script": script, "args": list(args)})

    def cdp(self, command, **parameters):
        return self.command("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def media(self, **features):
        """media (prefers_color_scheme="dark"); media () takes it back."""
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def console(self):
        """What was logged since the last call: [(level, message)]."""
        return [(entry["level"], entry["message"]) for entry in self.command("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that were asked for since the last call."""
        found = []
        for entry in self.command("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def screenshot(self, path, whole=True):
        if whole:
            image = self.cdp("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        else:
            image = self.command("GET", "/screenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("POST", "/print", {"background": True})))

    def close(self):
        if self.session:
            try:
                self.command("DELETE", "")
            except (OSError, ScriptError):
                pass
        self.driver.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
