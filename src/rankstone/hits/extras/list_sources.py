"""Which source each document of a list is from: its site, author, brand or file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np

from rankstone.errors import BadValue
from rankstone.hits.extras.list_costs import ListCosts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import Locate
    from rankstone.hits.batches import Piece
    from rankstone.hits.extras.extra import Request

#: what the number of a source is called in a run
NUMBER: Final = "number of {}"


class ListSources(ListCosts):
    """Reads the sources of the documents of lists, as numbers: equal ones are of one source."""

    side_input = "document_sources:DocumentSources"

    @classmethod
    def of(cls, request: Request) -> Iterable[Self]:
        """Return the columns whose sources measures count."""
        columns = [m.column for m in request.measures if cls in m.requires]
        names = (NUMBER.format(column) for column in columns)
        return (cls(tuple(dict.fromkeys(names))),)

    def check(self, piece: Piece, locate: Locate) -> None:
        """Refuse documents without a source."""
        for name, numbers in self.costs(piece).items():
            unknown = np.isnan(numbers)
            if unknown.any():
                row = int(unknown.argmax())
                column = name.removeprefix(NUMBER.format(""))
                raise BadValue(
                    f"the document has no {column}",
                    where=locate(piece.row(row)),
                    expected=f"a {column} of each retrieved document in the table of documents",
                    fix="write it there, or leave the row out",
                )
