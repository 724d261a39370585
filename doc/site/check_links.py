"""Check that the files to which the pages of a built site link exist: check_links.py FOLDER."""

import pathlib
import re
import sys
import urllib.parse

folder = pathlib.Path(sys.argv[1])
number, missing = 0, set()
for page in folder.rglob("*.html"):
    for link in re.findall(r'\b(?:href|src)="([^"#?]+)', page.read_text()):
        if not re.match(r"[a-z]+:|//", link):
            number += 1
            if not (page.parent / urllib.parse.unquote(link)).exists():
                missing.add(f"{page.relative_to(folder)}: {link}")
if missing:
    sys.exit("\n".join(["These links lead nowhere:", *sorted(missing)]))
print(f"{number} local links lead to files")
