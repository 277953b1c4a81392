"""Tests the page in a headless Chromium: page_test.py SITE [PALIMPSEST] [--pictures FOLDER] [TEST ...].

SITE is what ./web.sh makes. PALIMPSEST is the program of this machine; without it pictures are not compared. Ends with
77, which CTest calls skipped, where there is no site, Chromium or its driver.
"""

import base64
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from browser import Browser

here = pathlib.Path(__file__).parent
words = [word for word in sys.argv[1:] if not word.startswith("--")]
site = pathlib.Path(words[0]) if words else None
program = words[1] if len(words) > 1 and os.access(words[1], os.X_OK) else None
chosen = words[1 + (program is not None):]
tests = {}


def test(function):
    tests[function.__name__] = function
    return function


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([sys.executable, here.parents[1] / "app/web/serve.py", site, "0", *options],
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.kill()


def opened(browser, url):
    """Waits for the first picture, and until nothing moves."""
    browser.go(url)
    settle(browser)


def wait_for_frames(browser):
    """Until what was done is seen: it comes with a frame."""
    browser.js("return new Promise((done) => { let left = 4; const next = () => left-- ? requestAnimationFrame(next) "
               ": done(); next(); })")


def settle(browser):
    wait_for_frames(browser)
    browser.wait("return globalThis.page?.running || document.getElementById('words').className === 'reason'")
    reason = browser.js("return document.getElementById('words').className === 'reason' && "
                        "document.getElementById('words').textContent")
    assert not reason, reason
    browser.wait("return page.settled === page.frames && page.frames > 0 && !page.working")


def parts(browser):
    return {part[0]: part for part in browser.js("return page.parts()")}


def text_of(browser):
    return browser.js("return document.getElementById('picture').textContent")


def middle(browser, path):
    """Where the part called `path` is, in pixels of the page."""
    all_parts = parts(browser)
    assert path in all_parts, f"{path} is not among\n" + "\n".join(all_parts)
    _, left, top, right, bottom, _ = all_parts[path]
    return (left + right) / 2 / browser.ratio, (top + bottom) / 2 / browser.ratio


def press(browser, path):
    browser.click(*middle(browser, path))
    time.sleep(0.1)
    settle(browser)


# How many pixels differ by more than 8 of 255 in a channel, and how many there are.
difference = """
const [a, b] = await Promise.all([...arguments].map(async (png) => {
  const picture = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d").drawImage(picture, 0, 0);
  return { width: picture.width, data: canvas.getContext("2d").getImageData(0, 0, picture.width, picture.height).data };
}));
if (a.width !== b.width || a.data.length !== b.data.length) return [a.data.length, a.data.length / 4];
let count = 0;
for (let i = 0; i < a.data.length; i += 4)
  if (Math.max(...[0, 1, 2].map((c) => Math.abs(a.data[i + c] - b.data[i + c]))) > 8) ++count;
return [count, a.data.length / 4];
"""


def place(browser):
    """What the link of the page says after #."""
    time.sleep(0.5)  # it follows a little later
    return browser.js("return location.hash.slice(1)")


def screenshot_differs(browser, options):
    """The share of pixels that differ from those of `palimpsest render` with these options."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "desktop.png"
        size = browser.js("return [canvas.width, canvas.height]")
        subprocess.run([program, "render", *options, "--size", f"{size[0]}x{size[1]}", "--output", file], check=True)
        browser.mouse("mouseMoved", 1, 1)
        settle(browser)
        pngs = [base64.b64encode(png).decode() for png in (browser.picture(), file.read_bytes())]
        differing, all_pixels = browser.js(difference, *pngs)
        return differing / all_pixels


@test
def draws_what_the_desktop_draws(browser, url):
    """The engine is the same; exp() and the order of sums are not, so last digits differ, and letters at their edges."""
    if not program:
        return print("  no program to compare with")
    for workspace in ("step", "learn", "attend", "compare"):
        for level in ("story", "work"):
            opened(browser, f"{url}?workspace={workspace}&level={level}&capture=capture:gated_deltanet_overwrite_l1")
            share = screenshot_differs(browser, ["--state", place(browser)])
            print(f"  {workspace}, {level}: {100 * share:.2f} % of the pixels differ by more than 8 of 255")
            assert share < 0.02, f"{workspace}, {level}: {100 * share:.2f} %"


@test
def keys_and_clicks(browser, url):
    opened(browser, url)
    before = text_of(browser)
    browser.key("ArrowRight", shift=True)
    settle(browser)
    assert text_of(browser) != before
    browser.key("ArrowLeft", shift=True)
    time.sleep(0.3)
    settle(browser)
    assert text_of(browser).split("\n")[:6] == before.split("\n")[:6]
    press(browser, "step/text/next")
    assert "token 44 of 94" in text_of(browser)
    press(browser, "Learn")
    assert "learn/headline" in parts(browser)
    browser.key("1", code="Digit1", alt=True)
    settle(browser)
    assert "step/story" in parts(browser)
    browser.key("p", control=True)
    settle(browser)
    browser.type("every")
    settle(browser)
    assert "every" in text_of(browser), text_of(browser)
    browser.key("Escape")


@test
def writes_a_rule(browser, url):
    opened(browser, f"{url}?workspace=write&level=work")
    for path in ("write/rule/text", "write/found/facts", "write/answers", "Step"):
        assert path in parts(browser), f"{path} is not among\n" + "\n".join(parts(browser))
    if program:
        share = screenshot_differs(browser, ["--state", place(browser)])
        assert share < 0.02, f"{100 * share:.2f} %"
    browser.click(*middle(browser, "write/rule/text"))
    browser.key("Home", control=True)
    browser.type("S")  # the first line begins with inputs
    browser.wait("return page.parts().some((part) => part[0] === 'write/rule/flaw')")
    browser.key("Delete", control=False)
    browser.key("z", control=True)
    browser.key("z", control=True)
    browser.wait("return !page.parts().some((part) => part[0] === 'write/rule/flaw')")
    press(browser, "Step")
    assert "Write" not in parts(browser), "it is in the bar while it is open"


@test
def drags(browser, url):
    opened(browser, f"{url}?level=work")
    x, y = middle(browser, "step/floor/write")
    before = place(browser)
    browser.drag(x - 200, y, x + 100, y)
    settle(browser)
    assert place(browser) != before


@test
def resizes(browser, url):
    opened(browser, url)
    for width, height in ((900, 700), (390, 844), (1280, 800)):
        browser.resize(width, height)
        time.sleep(0.3)
        settle(browser)
        assert browser.js("return [canvas.width, canvas.height]") == [width, height]
        for name, left, top, right, bottom, _ in browser.js("return page.parts()"):
            if name.endswith("/headline"):
                assert 0 <= left < right <= width, (name, left, right, width)


drop = """
const files = new DataTransfer();
files.items.add(new File([%s], arguments[0]));
dispatchEvent(new DragEvent("drop", { dataTransfer: files, cancelable: true }));
"""


@test
def takes_dropped_files(browser, url):
    opened(browser, url)
    browser.js(drop % "'q,k\\n1,nonsense\\n'", "bad.csv")
    browser.wait("return document.getElementById('picture').textContent.includes('bad.csv')")
    assert "step/story/headline" in parts(browser), "what was open is lost"
    browser.js("return (async () => { const bytes = await (await fetch('assets/captures/kda_recall_l1.npz')).arrayBuffer();"
               + drop % "bytes" + "})()", "mine.npz")
    browser.wait("return page.parts().some((part) => part[0] === 'step/story/about' && part[5].includes('KDA'))")


@test
def refuses_what_is_too_large(browser, url):
    opened(browser, url)
    browser.js(drop % "new Uint8Array(101e6)", "large.npz")
    browser.wait("return document.getElementById('picture').textContent.includes('large.npz has 101.0 MB')")


@test
def links_lead_back(browser, url):
    opened(browser, url)
    press(browser, "step/text/next")
    press(browser, "step/text/next")
    press(browser, "Attend")
    words = place(browser)
    before = text_of(browser)
    browser.go("about:blank")
    opened(browser, f"{url}#{words}")
    assert text_of(browser).split("\n")[1:] == before.split("\n")[1:]
    browser.go("about:blank")
    opened(browser, f"{url}#nonsense")
    assert "cannot be opened" in text_of(browser), text_of(browser)


@test
def a_lesson_from_start_to_end(browser, url):
    opened(browser, f"{url}?lesson=7")
    assert place(browser).startswith("lesson=07-"), place(browser)
    for _ in range(60):
        browser.key("a", text="a")
        browser.key("Enter")
        settle(browser)
        if not place(browser).startswith("lesson="):
            return
    raise AssertionError("the lesson does not end")


# The red of a picture's first pixel.
corner = """
const one = await createImageBitmap(await (await fetch("data:image/png;base64," + arguments[0])).blob());
const paper = new OffscreenCanvas(1, 1).getContext("2d");
paper.drawImage(one, 0, 0);
return paper.getImageData(0, 0, 1, 1).data[0];
"""


@test
def comes_back_after_a_reload(browser, url):
    """To the place that was left, at its level, and in the theme that the browser wished at the first visit."""
    browser.chromium("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    opened(browser, url)
    press(browser, "level/work")
    press(browser, "Learn")
    browser.chromium("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    for link in (url, f"{url}?lesson=7", url):
        browser.go("about:blank")
        opened(browser, link)
        kept = browser.js("return JSON.parse(localStorage.getItem('palimpsest/settings.json'))")
        assert (kept["theme"], kept["level"]) == ("light", "work"), kept
        assert browser.js(corner, base64.b64encode(browser.picture()).decode()) > 200, "it is dark"
    names = parts(browser)
    assert any(name.startswith("learn/") for name in names) and "Ctrl P" in names, list(names)[:40]


@test
def has_no_top_bar_in_a_frame(browser, url):
    opened(browser, f"{url}?embed=1&lesson=8")
    assert "Step" not in parts(browser)


@test
def needs_no_storage(browser, url):
    """As in a frame of another site, where a browser refuses it; and with a link that is cut off."""
    browser.chromium("Page.addScriptToEvaluateOnNewDocument", source=
                     "for (const name of ['localStorage', 'sessionStorage'])"
                     "  Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } });")
    opened(browser, f"{url}?embed=1#%")
    assert "cannot be opened" in text_of(browser) and "step/story/headline" in parts(browser)
    browser.js(drop % "", "empty.npz")
    browser.wait("return document.getElementById('picture').textContent.includes('empty.npz')")


@test
def takes_fingers(browser, url):
    opened(browser, url)
    before = text_of(browser)
    x, y = middle(browser, "step/text/next")
    browser.touch("touchStart", (x, y))
    time.sleep(0.1)
    browser.touch("touchEnd")
    time.sleep(0.2)
    settle(browser)
    assert text_of(browser) != before
    browser.touch("touchStart", (300, 300), (400, 300))
    for step in range(5):
        browser.touch("touchMove", (300 - 10 * step, 300), (400 + 10 * step, 300))
    browser.touch("touchEnd")
    settle(browser)


@test
def adds_the_headers_itself(_, url):
    with Server("--without-headers") as bare, Browser() as browser:
        opened(browser, bare)
        assert browser.js("return crossOriginIsolated && Module.threads > 0")


@test
def goes_on_with_one_thread(_, url):
    with Server("--without-headers") as bare, Browser() as browser:
        browser.chromium("Page.addScriptToEvaluateOnNewDocument", source=
                         "Object.defineProperty(navigator, 'serviceWorker', { value: undefined });"
                         "globalThis.frozen = [];"
                         "new PerformanceObserver((list) => list.getEntries().forEach((task) => frozen.push(task.duration)))"
                         ".observe({ type: 'longtask' });")
        opened(browser, bare)
        assert browser.js("return Module.threads") == 0

        def tell_longest(what):
            print(f"  longest tasks of the page, {what}, in ms:", sorted(map(round, browser.js("return frozen")))[-5:])
            browser.js("frozen.length = 0")

        browser.js("frozen.length = 0")
        for name in ("Learn", "Attend", "Compare", "Verify", "Step"):
            press(browser, name)
        press(browser, "level/work")
        tell_longest("in five workspaces")
        opened(browser, f"{bare}?workspace=write&level=work")
        browser.js("frozen.length = 0")
        browser.click(*middle(browser, "write/rule/text"))
        browser.key("End", control=True)
        browser.type(" ")
        settle(browser)
        tell_longest("while a rule is written")


any_part = """
const parts = page.parts().filter(([, left, , right]) => left < right);
const [, left, top, right, bottom] = parts[Math.floor(arguments[0] * parts.length)] ?? [];
return parts.length && [(left + right) / 2, (top + bottom) / 2];
"""


@test
def a_monkey_leaves_memory_alone(browser, url):
    """Random presses and keys; PALIMPSEST_MONKEY is how many minutes."""
    opened(browser, url)
    minutes = float(os.environ.get("PALIMPSEST_MONKEY", "0.2"))
    end = time.time() + 60 * minutes
    random, acts, levels = __import__("random").Random(51), 0, []
    keys = ["ArrowLeft", "ArrowRight", "Escape", "Enter", "Tab", "Home", "End"] + list("1234567890qwertasdfgzxcvbnm")
    while time.time() < end:
        # Chosen in the page, as the driver holds in the page's memory what a script returns.
        place = random.random() < 0.6 and browser.js(any_part, random.random())
        if place:
            browser.click(min(max(place[0], 1), 1279), min(max(place[1], 1), 799))
        else:
            key = random.choice(keys)
            browser.key(key, text=key if len(key) == 1 else None, shift=random.random() < 0.2)
        wait_for_frames(browser)  # else what was pressed waits in a line that grows
        acts += 1
        if acts % 200 == 0:
            resident, maps = browser.memory()
            used, memory = browser.js("return [Module._page_bytes(), Module.HEAP8.length]")
            levels.append((used / 1e6, memory / 1e6, resident / 1e6, maps))
            print("  {} acts: the program holds {:.0f} of {:.0f} MB; {:.0f} MB resident in {} maps".format(acts, *levels[-1]),
                  flush=True)
    assert browser.js("return page.running"), browser.js("return document.getElementById('words').textContent")
    third = len(levels) // 3
    if third >= 3:  # it may come and go, not grow: the browser frees what scripts leave when it likes
        for early, late in zip(zip(*levels[third:2 * third]), zip(*levels[2 * third:])):
            assert max(late) <= 1.1 * max(early), levels


def main():
    if not site or not (site / "palimpsest.wasm").exists():
        print("skipped: there is no site; ./web.sh makes it")
        return 77
    if not (shutil.which("chromedriver") and pathlib.Path("/usr/bin/chromium").exists()):
        print("skipped: Debian's chromium and chromium-driver are not installed")
        return 77
    failed = []
    with Server() as url:
        for name, function in tests.items():
            if chosen and name not in chosen:
                continue
            print(name, flush=True)
            try:
                with Browser(touch=name == "takes_fingers") as browser:
                    function(browser, url)
            except (AssertionError, RuntimeError) as problem:
                print(f"  FAILED, line {problem.__traceback__.tb_next.tb_lineno}: {problem}"[:3000], flush=True)
                failed.append(name)
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


sys.exit(main())
