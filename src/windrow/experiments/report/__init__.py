"""The report: a page of HTML for each paper, and one in front with all claims.

`names.py` gives contestants a label and a colour, `plots.py` draws, `pages.py` writes, and
`tables.py` has the claims as rows, for the pages, for programs and for the docs.
"""
