"""Tables: the common interface of results, and one writer for each format.

Results provide tables, which are written as text for a terminal, Markdown, LaTeX, HTML or CSV.  Nothing is
computed here.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "results": ("ROWS",),
    "sheet": ("Kind", "Part", "Sheet", "Table", "cell", "number"),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
