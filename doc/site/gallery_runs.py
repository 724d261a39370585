"""How sphinx-gallery finds the pictures of the examples, which run in build/site/gallery and write them there."""

import shutil

from conf import ROOT
from sphinx_gallery.scrapers import figure_rst

shown = set()


def find_new_pictures(block, block_vars, gallery_conf):
    """Show the pictures that a block of an example has written."""
    written = set((ROOT / "build/site/gallery").glob("**/*.png")) - shown
    shown.update(written)
    written = sorted(written, key=lambda path: path.stat().st_mtime_ns)
    names = [name for _, name in zip(written, block_vars["image_path_iterator"])]
    for path, name in zip(written, names):
        shutil.copy(path, name)
    # One by one: sphinx-gallery would make small ones side by side.
    return "\n".join(
        figure_rst([name], gallery_conf["src_dir"], path.stem.replace("-", " ").replace("_", " "))
        for path, name in zip(written, names)
    )
