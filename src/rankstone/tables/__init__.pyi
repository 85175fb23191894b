# Written by `make pages`: where each public name is defined.

from rankstone.tables.results import ROWS as ROWS
from rankstone.tables.sheet import Kind as Kind
from rankstone.tables.sheet import Part as Part
from rankstone.tables.sheet import Sheet as Sheet
from rankstone.tables.sheet import Table as Table
from rankstone.tables.sheet import cell as cell
from rankstone.tables.sheet import number as number

__all__ = [
    "Kind",
    "Part",
    "ROWS",
    "Sheet",
    "Table",
    "cell",
    "number",
]
