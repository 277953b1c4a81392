"""A headless Chromium with a page in it, by its driver's protocol (W3C WebDriver, and Chromium's own below it)."""

import base64
import json
import pathlib
import resource
import subprocess
import time
import urllib.error
import urllib.request


class Browser:
    """Opens `url` in a window of `width` by `height` pixels of the page, `ratio` pixels of the screen each."""

    def __init__(self, width=1280, height=800, ratio=1, touch=False):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if "successfully on port" in line:
                self.address = f"http://127.0.0.1:{line.split('on port')[1].strip().rstrip('.')}"
                break
        flags = ["--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                 "--ignore-gpu-blocklist", "--hide-scrollbars", "--disable-dev-shm-usage"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": flags, "binary": "/usr/bin/chromium"},
                  "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = ""
        self.session = "/session/" + self.ask("/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.ratio = ratio
        self.ask("/timeouts", {"script": 600000})
        self.resize(width, height)
        if touch:
            self.chromium("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("", method="DELETE")
        finally:
            self.driver.terminate()

    def ask(self, path, body=None, method="POST"):
        request = urllib.request.Request(self.address + self.session + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=900) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as problem:
            raise RuntimeError(json.load(problem)["value"]["message"]) from None

    def chromium(self, command, **parameters):
        return self.ask("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height):
        self.chromium("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=self.ratio,
                      mobile=False)

    def go(self, url):
        self.ask("/url", {"url": url})

    def js(self, script, *arguments):
        """The value of a script's `return`, or of the promise that it returns."""
        return self.ask("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=60):
        """Waits until `script` returns something true, and returns it."""
        end = time.time() + seconds
        while time.time() < end:
            value = self.js(script)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {script}\n{self.console()}")

    def console(self):
        return "\n".join(entry["message"] for entry in self.ask("/se/log", {"type": "browser"}))

    def memory(self):
        """Of the process that shows the page: its resident bytes, and how many parts its memory is made of."""
        parents, largest = {}, (0, 0)
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                pass  # it has ended
        for number in parents:
            above = number
            while above in parents and above != self.driver.pid:
                above = parents[above]
            process = pathlib.Path(f"/proc/{number}")
            if above == self.driver.pid and b"--type=renderer" in (process / "cmdline").read_bytes():
                pages = int((process / "statm").read_text().split()[1])
                largest = max(largest, (pages * resource.getpagesize(), len((process / "maps").read_text().split("\n"))))
        return largest

    def picture(self, file=None):
        """A screenshot as PNG bytes."""
        png = base64.b64decode(self.chromium("Page.captureScreenshot", format="png")["data"])
        if file:
            with open(file, "wb") as out:
                out.write(png)
        return png

    def mouse(self, kind, x, y, button="none", **more):
        buttons = {"left": 1, "right": 2}.get(button, 0)
        self.chromium("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button,
                      buttons=buttons if kind != "mouseReleased" else 0,
                      clickCount=0 if kind == "mouseMoved" else 1, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left")
        self.mouse("mouseReleased", x, y, "left")

    def drag(self, x0, y0, x1, y1, steps=8):
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, "left")
        for step in range(1, steps + 1):
            self.mouse("mouseMoved", x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps, "left")
            time.sleep(0.03)
        self.mouse("mouseReleased", x1, y1, "left")

    def touch(self, kind, *points):
        self.chromium("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def key(self, key, code=None, text=None, control=False, shift=False, alt=False):
        modifiers = alt * 1 + control * 2 + shift * 8
        code = code or ("Key" + key.upper() if len(key) == 1 and key.isalpha() else key)
        numbers = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
                   "Tab": 9, "Home": 36, "End": 35, "Backspace": 8, "Space": 32}
        number = numbers.get(code, ord(key[0].upper()))
        shared = dict(key=key, code=code, modifiers=modifiers, windowsVirtualKeyCode=number)
        if text:
            shared["text"] = text
        self.chromium("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **shared)
        shared.pop("text", None)
        self.chromium("Input.dispatchKeyEvent", type="keyUp", **shared)

    def type(self, text):
        for letter in text:
            self.key(letter, code="Space" if letter == " " else None, text=letter)
