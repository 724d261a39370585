"""Check that the files to which the pages of a built site link exist, and the anchors in other pages: check_links.py FOLDER."""

import functools
import pathlib
import re
import sys
import urllib.parse

folder = pathlib.Path(sys.argv[1])


@functools.cache
def anchors(page):
    return set(re.findall(r'\b(?:id|name)="([^"]+)"', page.read_text()))


number, missing = 0, set()
for page in folder.rglob("*.html"):
    for link, anchor in re.findall(r'\b(?:href|src)="([^"#?]*)(?:\?[^"#]*)?(?:#([^"]*))?"', page.read_text()):
        if not re.match(r"[a-z]+:|//", link):
            number += 1
            target = (page.parent / urllib.parse.unquote(link)).resolve()
            has_anchors = anchor and link.endswith(".html") and target.is_file()
            if not target.exists() or (has_anchors and urllib.parse.unquote(anchor) not in anchors(target)):
                missing.add(f"{page.relative_to(folder)}: {link}{anchor and '#' + anchor}")
if missing:
    sys.exit("\n".join(["These links lead nowhere:", *sorted(missing)]))
print(f"{number} local links lead to files and anchors")
