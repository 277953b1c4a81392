// The page around the program: loads it, hands it keys, pointers, files and links, and keeps its settings.
"use strict";

const canvas = document.getElementById("canvas");
const typing = document.getElementById("typing");
const front = document.getElementById("front");
const most_file_bytes = 100e6;  // what fits into the memory of a page with room for its arrays
const kept_folder = "/home/web_user/.config/palimpsest";
const link_names = ["lesson", "step", "text", "capture", "level", "workspace", "theme"];
const kept_files = ["settings.json", "places.json", "last_place.json"];

// A frame of another site may have no storage: then nothing is kept.
function storage_of(name) {
  try { return window[name]; } catch (problem) { return null; }
}
const kept = storage_of("localStorage");
const kept_for_visit = storage_of("sessionStorage");

function say(words, share) {
  document.getElementById("words").textContent = words;
  if (share !== undefined) document.getElementById("progress").value = share;
}

function fail(reason) {
  front.style.display = "";
  document.getElementById("progress").style.display = "none";
  const words = document.getElementById("words");
  words.className = "reason";
  words.textContent = reason;
}

// Threads need an isolated page: by the server's headers, else by a service worker that adds them, after one reload.
// Where neither can be, the program computes between frames.
async function isolate() {
  try {
    if (self.crossOriginIsolated || !navigator.serviceWorker || !kept_for_visit || kept_for_visit.isolating) return;
    kept_for_visit.isolating = "tried";
    await navigator.serviceWorker.register("isolation.js");
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller)
      await new Promise((done) => {
        navigator.serviceWorker.addEventListener("controllerchange", done, { once: true });
        setTimeout(done, 2000);
      });
    location.reload();
    await new Promise(() => {});
  } catch (problem) {
    console.info("Palimpsest computes with one thread here: " + problem);
  }
}

// WebAssembly with SIMD: a function that makes a vector.
const simd = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253,
  15, 253, 98, 11]);

function why_not() {
  if (typeof WebAssembly !== "object") return "This browser has no WebAssembly, in which Palimpsest computes.";
  if (!WebAssembly.validate(simd)) return "This browser's WebAssembly has no SIMD, which Palimpsest computes with. A newer one has.";
  if (!document.createElement("canvas").getContext("webgl2"))
    return "This browser gives no WebGL 2, with which Palimpsest draws. It may be switched off in its settings, or the graphics driver is too old.";
  return "";
}

// What the link says, as names and values by turns: ?lesson=7, ?text=..., and after # the place.
function link_words() {
  const words = [];
  const query = new URLSearchParams(location.search);
  const place = location.hash.slice(1);
  if (place.startsWith("lesson=")) {
    for (const [name, value] of new URLSearchParams(place)) words.push(name, value);
  } else if (place) {
    words.push("state", place);
  } else {
    for (const [name, value] of query) {
      if (link_names.includes(name)) words.push(name, value);
    }
  }
  if (query.get("embed") === "1") words.push("embed", "1");
  const is_first = !kept?.getItem("palimpsest/settings.json");
  if (is_first && !words.includes("theme") && matchMedia("(prefers-color-scheme: light)").matches) words.push("light", "1");
  return words;
}

function bytes_in_words(bytes) { return (bytes / 1e6).toFixed(1) + " MB"; }

// Gives a program's string to `call`.
function with_string(text, call) {
  const memory = Module.stringToNewUTF8(text);
  try { return call(memory); } finally { Module._free(memory); }
}

const page = globalThis.page = {
  running: false,
  frames: 0,
  fail,

  // Fetches a file that the first picture needs.
  async bring(path) {
    let is_here = true;
    try {
      const bytes = await fetched(path, (count) => say(`Loading ${path} … ${bytes_in_words(count)}`));
      Module.FS.writeFile("/" + path, new Uint8Array(bytes));
    } catch (problem) {
      is_here = false;  // the program says so
    }
    Module._page_brought(is_here);
  },

  begin() {
    page.running = true;
    page.resize();
    front.style.display = "none";
    typing.focus({ preventScroll: true });
    page.wake();
  },

  // The parts of the last frame: [path, left, top, right, bottom, words] each.
  parts() { return JSON.parse(Module.UTF8ToString(Module._page_parts())); },

  // Frames are drawn as long as one is wanted; then the page only looks now and then whether one is.
  frame() {
    page.awake = false;
    const goes_on = Module._page_frame();
    if (Module.threads === 0) page.work();
    if (goes_on) {
      page.frames += 1;
      return page.wake();
    }
    if (page.frames === page.settled) return;
    page.settled = page.frames;
    page.keep();
    document.getElementById("picture").textContent = Module.UTF8ToString(Module._page_words());
  },
  wake() {
    if (page.awake || !page.running) return;
    page.awake = true;
    requestAnimationFrame(page.frame);
  },

  // Without threads, answers are computed here: whole where the browser cannot suspend a computation, else a few
  // hundredths of a second at a time.
  async work() {
    if (page.working) return;
    page.working = true;
    const began = performance.now();
    try {
      while (await page.compute()) {
        if (performance.now() - began > most_at_once) break;
      }
    } catch (problem) {
      fail(String(problem));
    }
    page.working = false;
    page.wake();
  },

  resize() {
    const ratio = window.devicePixelRatio || 1;
    Module._page_resize(Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio), ratio);
    page.wake();
  },

  copy(text) {
    navigator.clipboard?.writeText(text).catch(() => {});
  },

  // Where text is typed, for the input method; a phone shows its keyboard.
  takeText(takes, x, y) {
    typing.style.left = Math.max(x, 0) + "px";
    typing.style.top = Math.max(y, 0) + "px";
    if (page.touched) takes ? typing.focus({ preventScroll: true }) : typing.blur();
  },

  link_of(words) {
    const link = new URL(location.href);
    for (const name of link_names) link.searchParams.delete(name);
    link.hash = words;
    return link.href;
  },
  setLink(words) {
    clearTimeout(page.linking);
    page.linking = setTimeout(() => {
      if (words.length > most_link_letters) return;
      history.replaceState(null, "", page.link_of(words));
    }, 300);
  },
  copyLink(words) {
    if (words.length > most_link_letters)
      return page.say("This place is too long for a link; save it as a file.");
    page.copy(page.link_of(words));
  },
  say(words) { with_string(words, (text) => Module._page_say(text)); page.wake(); },

  pick() { document.getElementById("picker").click(); },
  async take(files) {
    const paths = [];
    for (const file of files) {
      if (file.size > most_file_bytes) {
        page.say(`${file.name} has ${bytes_in_words(file.size)}; a page takes files up to ${bytes_in_words(most_file_bytes)}`);
        continue;
      }
      const path = "/opened/" + file.name;
      try {
        Module.FS.writeFile(path, new Uint8Array(await file.arrayBuffer()));
        paths.push(path);
      } catch (problem) {
        page.say(`${file.name} cannot be read: ${problem.message ?? "it is no file, or there is no memory for it"}`);
      }
    }
    for (const path of paths) with_string(path, (text) => Module._page_dropped(text));
    page.wake();
  },
  download(path) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([Module.FS.readFile(path)]));
    link.download = path.split("/").pop();
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    Module.FS.unlink(path);
  },

  // Settings, pinned places and the last place live in the browser's storage between visits.
  recall() {
    Module.FS.mkdirTree(kept_folder);
    for (const folder of ["/opened", "/saved"]) Module.FS.mkdirTree(folder);
    Module.FS.writeFile("/proc/cpuinfo", "model name\t: WebAssembly in this browser\n");  // what reports of Measure say
    for (const name of kept_files) {
      const text = kept?.getItem("palimpsest/" + name);
      if (text) Module.FS.writeFile(`${kept_folder}/${name}`, text);
    }
  },
  keep() {
    for (const name of kept_files) {
      try {
        const text = Module.FS.readFile(`${kept_folder}/${name}`, { encoding: "utf8" });
        if (page.kept?.[name] === text) continue;
        kept?.setItem("palimpsest/" + name, text);
        page.kept = { ...page.kept, [name]: text };
      } catch (problem) {
        continue;  // not written yet, or no room in the storage
      }
    }
  },
};
const most_link_letters = 30000;
const most_at_once = 20;  // milliseconds of computation between two frames

function listen() {
  const modifiers = (event) => Module._page_modifiers(event.ctrlKey, event.shiftKey, event.altKey, event.metaKey);
  const place = (event) => Module._page_pointer(event.clientX, event.clientY, event.pointerType === "touch");

  // One finger presses and drags; where it holds nothing it scrolls, as two do. Two that part or close turn the wheel
  // with Ctrl, as a touch pad's do.
  const fingers = new Map();
  let scrolls = false;
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  canvas.addEventListener("pointerdown", (event) => {
    page.touched = event.pointerType === "touch";
    canvas.setPointerCapture(event.pointerId);
    modifiers(event);
    if (!page.touched) typing.focus({ preventScroll: true });
    if (page.touched) fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size < 2) {
      scrolls = false;
      place(event);
      Module._page_button([0, 2, 1][event.button] ?? event.button, true);
    } else {
      Module._page_button(0, false);
      scrolls = true;
    }
    event.preventDefault();
    page.wake();
  });
  canvas.addEventListener("pointermove", (event) => {
    modifiers(event);
    const finger = fingers.get(event.pointerId);
    if (!finger) {
      place(event);
      return page.wake();
    }
    const [dx, dy] = [event.clientX - finger.x, event.clientY - finger.y];
    if (fingers.size === 2) {
      const before = spread();
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const change = spread() - before;
      if (Math.abs(change) > Math.hypot(dx, dy) / 2) {
        Module._page_modifiers(true, false, false, false);
        Module._page_wheel(0, change / 60);
      } else {
        Module._page_wheel(dx / 100, dy / 100);
      }
      return page.wake();
    }
    if (!scrolls && !Module._page_holds() && Math.hypot(dx, dy) > 8) scrolls = true;
    if (scrolls) {
      Module._page_wheel(dx / 100, dy / 100);
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    } else {
      place(event);
    }
    page.wake();
  });
  const lift = (event) => {
    if (fingers.delete(event.pointerId) && fingers.size > 0) return;
    if (!scrolls || event.pointerType !== "touch") place(event);
    Module._page_button([0, 2, 1][event.button] ?? 0, false);
    if (event.pointerType === "touch") setTimeout(() => { Module._page_pointer_gone(); page.wake(); }, 60);
    page.wake();
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") Module._page_pointer_gone();
    page.wake();
  });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    const notch = event.deltaMode === 0 ? 100 : 3;
    modifiers(event);
    Module._page_wheel(-event.deltaX / notch, -event.deltaY / notch);
    event.preventDefault();
    page.wake();
  }, { passive: false });

  // The browser keeps its own keys, and those that cut, copy and paste, as it says only then what is pasted.
  const left_to_browser = (event) => {
    const control = event.ctrlKey || event.metaKey;
    if (["F5", "F11", "F12"].includes(event.key)) return true;
    return control && (["c", "x", "v", "l", "r", "t", "n", "w"].includes(event.key.toLowerCase()) || (event.shiftKey && event.key === "I"));
  };
  const key = (event, down) => {
    if (event.isComposing) return;
    modifiers(event);
    const pastes = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v";
    if (!(pastes && down)) {
      with_string(event.key, (written) => with_string(event.code, (code) => Module._page_key(written, code, down)));
    }
    const writes = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!left_to_browser(event) && !writes) event.preventDefault();
    page.wake();
  };
  addEventListener("keydown", (event) => key(event, true));
  addEventListener("keyup", (event) => key(event, false));
  const typed = () => {
    if (typing.value) with_string(typing.value, (text) => Module._page_text(text));
    typing.value = "";
    page.wake();
  };
  typing.addEventListener("input", (event) => { if (!event.isComposing) typed(); });
  typing.addEventListener("compositionend", typed);
  addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    with_string(text, (memory) => Module._page_clipboard(memory));
    with_string("v", (written) => with_string("KeyV", (code) => {
      Module._page_key(written, code, true);
      Module._page_key(written, code, false);
    }));
    event.preventDefault();
    page.wake();
  });
  addEventListener("focus", () => { Module._page_focus(true); page.wake(); });
  addEventListener("blur", () => { Module._page_modifiers(false, false, false, false); Module._page_focus(false); page.wake(); });

  new ResizeObserver(page.resize).observe(canvas);
  addEventListener("resize", page.resize);
  addEventListener("hashchange", () => {
    const words = link_words();
    const at = words.indexOf("state");
    if (at < 0) return location.reload();
    with_string(words[at + 1], (text) => Module._page_go(text));
    page.wake();
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    page.take(event.dataTransfer.files);
  });
  document.getElementById("picker").addEventListener("change", (event) => {
    page.take(event.target.files);
    event.target.value = "";
  });
  const leave = () => {
    if (page.running) Module._page_keep();
    page.keep();
  };
  addEventListener("pagehide", leave);
  addEventListener("visibilitychange", leave);  // on phones the last that a page hears
  canvas.addEventListener("webglcontextlost", () => {
    page.running = false;
    fail("The browser took the graphics away. Reload the page: it comes back to this place.");
  });
  setInterval(page.wake, 100);  // what other threads have found
}

// The bytes of a file of the site; tells how many are there.
async function fetched(name, tell) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} could not be fetched: ${answer.status} ${answer.statusText}`);
  const reader = answer.body.getReader();
  const parts = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    bytes += value.length;
    tell(bytes);
  }
  return new Blob(parts).arrayBuffer();
}

async function start() {
  await isolate();
  const reason = why_not();
  if (reason) return fail(reason);
  // Without isolation the memory that threads share still exists, but not by its name, and no thread gets it.
  if (typeof SharedArrayBuffer === "undefined")
    globalThis.SharedArrayBuffer = new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }).buffer.constructor;
  let of_program = 0;
  let of_files = 0;
  const tell = () => say(`Loading … ${bytes_in_words(of_program + of_files)}`, (of_program + of_files) / site_bytes);
  const suspends = !self.crossOriginIsolated && "Suspending" in WebAssembly;
  globalThis.Module = {
    canvas,
    arguments: link_words(),
    threads: self.crossOriginIsolated ? 2 * Math.min(Math.max(navigator.hardwareConcurrency || 2, 2), 6) : 0,
    preRun: [() => page.recall()],
    instantiateWasm(imports, success) {
      fetched("palimpsest.wasm", (bytes) => { of_program = bytes; tell(); })
        .then((bytes) => {
          if (suspends) imports.env.suspend_page = new WebAssembly.Suspending(() => new Promise((done) => setTimeout(done)));
          return WebAssembly.instantiate(bytes, imports);
        })
        .then(({ instance, module }) => {
          const { page_work } = instance.exports;
          page.compute = suspends ? WebAssembly.promising(page_work) : page_work;
          success(instance, module);
        })
        .catch((problem) => fail(String(problem.message ?? problem)));
      return {};
    },
    setStatus(words) {
      const numbers = words.match(/\((\d+)\/(\d+)\)/);
      if (numbers) of_files = Number(numbers[1]);
      tell();
    },
    onRuntimeInitialized: listen,
    onAbort: (words) => fail(`The program stopped: ${words}. Reload the page: it comes back to this place.`),
    print: console.log,
    printErr: console.warn,
  };
  const script = document.createElement("script");
  script.src = "palimpsest.js";
  script.onerror = () => fail("palimpsest.js could not be fetched.");
  document.body.append(script);
}

const site_bytes = 12e6;  // about, for the bar
start();
