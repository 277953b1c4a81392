#!/usr/bin/env python3
"""Prints how long each room took to compile in a build folder: seconds by the clock, summed over its objects.

    bench/compile_times.py [BUILD_FOLDER]

Ninja writes down when each step began and ended. Steps that ran beside each other each count in full, so that the
sum is about the time of one core.
"""

import collections
import pathlib
import re
import sys


def room_of(output: str) -> str:
    """The room that an object comes from; of what is not ours, the library; empty for other steps."""
    if not output.endswith((".o", ".gch")):
        return ""
    batch = re.search(r"/unity_(.+)[.]\d+_cxx[.]cxx[.]o$", output)
    if batch:
        return batch[1].replace(".", "/")
    found = re.fullmatch(r"(.+)/CMakeFiles/([^/]+)[.]dir/(.+)", output)
    if not found:
        return output
    above, target, source = found.groups()
    if target in ("imgui", "implot", "imgui_test_engine", "microtex"):
        return target
    folder = str(pathlib.PurePath(above, source).parent)
    return "precompiled headers" if output.endswith(".gch") else folder


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    latest = {}
    for line in (folder / ".ninja_log").read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, *_ = line.split("\t")
            latest[output] = (int(end) - int(begin)) / 1000
    seconds = collections.Counter()
    objects = collections.Counter()
    for output, taken in latest.items():
        if room := room_of(output):
            seconds[room] += taken
            objects[room] += 1
    print("compiled in seconds, by rooms:")
    for room, taken in seconds.most_common():
        print(f"{taken:8.1f}  {objects[room]:4}  {room}")
    print(f"{sum(seconds.values()):8.1f}  {sum(objects.values()):4}  together")


main()
