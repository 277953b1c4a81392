"""Collects the files that a page needs: assets.py SOURCE FONTS FIRST SITE.

FIRST holds what travels with the program: fonts, shaders, lessons, races, and a stub of each capture and model, which has
its description alone. SITE holds those files whole: the page fetches them when they are asked for.
"""

import pathlib
import shutil
import sys
import zipfile

source, fonts, first, site = map(pathlib.Path, sys.argv[1:])


def copy(file, folder):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, folder / file.name)


for folder in (first, site):
    shutil.rmtree(folder, ignore_errors=True)
for font in ("latinmodern-math.otf", "latinmodern-math.clm1"):
    copy(fonts / "latex" / font, first / "fonts" / "latex")
for file in (source / "shaders").iterdir():
    copy(file, first / "shaders")
for file in sorted((source / "assets").rglob("*")):
    folder = file.parent.relative_to(source / "assets")
    if file.is_dir() or file.suffix in (".txt", ".md") and folder.name != "lessons":
        continue
    if file.suffix != ".npz":
        copy(file, first / folder)
        continue
    copy(file, site / folder)
    (first / folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(first / folder / file.name, "w") as stub:
        for name in whole.namelist():
            if not name.endswith(".npy"):
                stub.writestr(name, whole.read(name))
