"""Settings of Sphinx: Markdown pages, docstrings, and a theme that loads nothing from elsewhere."""

import re

import windrow

project = "windrow"
author = "the windrow developers"
copyright = "the windrow developers"
version = release = windrow.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
nitpicky = False

# Markdown: headings have the anchors that GitHub gives them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]

# Docstrings: backticks are code, as in Markdown, and link where they name something public.
default_role = "py:obj"
add_module_names = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "windrow"
html_static_path = ["static"]
html_css_files = ["windrow.css"]
html_show_sourcelink = False
html_show_sphinx = False
smartquotes = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "native"

_NAMED = re.compile(r"(?<!`)`wr\.(?P<name>[\w.]+)`(?!`)")


def _link_names(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Let `wr.over` in a docstring lead to `windrow.over`."""
    for place, line in enumerate(lines):
        lines[place] = _NAMED.sub(r":py:obj:`wr.\g<name> <windrow.\g<name>>`", line)


def setup(app):  # type: ignore[no-untyped-def]
    """What Sphinx calls."""
    app.connect("autodoc-process-docstring", _link_names)
