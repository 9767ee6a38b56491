"""How Sphinx builds the site; `make docs` runs it, without a network once its packages are installed.

Easy to get wrong: everything that a page loads must lie beside it. No theme option, extension or directive here may
name another host, and `docs/check.py` fails on any request that leaves the folder.
"""

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import cogmap

project = "cogmap"
author = "The cogmap developers"
copyright = "The cogmap developers, BSD-3-Clause"
version = release = cogmap.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",  # this and those below are in docs/_ext
    "llms",
    "mathml",
    "repository",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
smartquotes = False  # it makes a dash of the two that an option begins with

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameters have them
numpydoc_show_class_members = False  # the template of classes lists them

# MathML, which browsers draw themselves: the formulas are there without a script, without 24 MB of MathJax in every
# copy of the site, and in print. docutils, which Sphinx has anyway, makes it (docs/_ext/mathml.py).
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = "cogmap"
html_static_path = ["_static"]
html_css_files = ["cogmap.css"]
html_favicon = "_static/logo.svg"
html_copy_source = True
html_sourcelink_suffix = ""
html_show_search_summary = False  # it fetches pages, which a browser refuses to one that was opened as a file
html_theme_options = {
    "logo": {"text": "cogmap", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}

copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/learn", "../examples/how-to", "../examples/gallery"],
    "gallery_dirs": ["learn", "how-to", "gallery"],
    "filename_pattern": r"[\\/][a-z]",
    "copyfile_regex": r"index\.rst",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": None,
    "download_all_examples": True,
    "show_memory": False,
    "write_computation_times": False,  # a page that loads scripts from elsewhere
    "show_signature": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "default_thumb_file": str(Path(__file__).parent / "_static" / "logo.svg"),
}
# An example that warns shows a reader what they should not do.
warnings.filterwarnings("error", module="cogmap")
