"""Reports: charts and HTML pages of results, which open offline.

Knows results; nothing below knows this room, and nothing here scores.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "html_page": ("require",),
    "report_content": ("report",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
