"""Reports: charts and HTML pages of results, which open offline.

It imports results; no room below imports it, and nothing here computes scores.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {"html_page": ("require",), "report_content": ("report",)}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
