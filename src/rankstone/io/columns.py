"""The columns every table has, whatever its author called them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rankstone.errors import MissingColumn, UsageError, nearest, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CANONICAL",
    "Renames",
    "by_alias",
    "hidden",
    "is_text",
    "lacking",
    "parse_columns",
    "renames",
    "require",
]

CANONICAL: Final = ("query_id", "doc_id", "relevance", "score", "rank")
#: columns that some measures want beside them, and that a table may call otherwise
FURTHER: Final = (
    "subtopic", "subgroup", "propensity", "weight", "session", "position", "user_id", "time", "segment",
    "clicked",
    "impression_id", "reward", "examination", "prediction", "variant", "draw",
    "target_propensity", "target_position", "target_prediction",
)  # fmt: skip
#: what logs call a column → what it is called here
_ALIASES: Final = {"click": "clicked"}
_TEXTS: Final = ("query_id", "doc_id", "subtopic", "subgroup", "run")

#: names that people use; only for suggestions, a table is never renamed on a guess
_SYNONYMS: Final = {
    "query_id": ("qid", "q_id", "query", "query-id", "queryid", "topic", "user", "user_id", "uid"),
    "doc_id": (
        "docid", "docno", "doc", "document_id", "corpus-id", "pid", "passage_id", "item", "item_id", "iid",
    ),
    "relevance": ("rel", "label", "grade", "rating", "relevance_label", "qrel", "target", "click"),
    "score": ("sim", "prediction", "pred", "similarity", "_score", "scores"),
    "rank": ("position", "pos", "rank_position"),
    "subtopic": ("subtopic_id", "intent", "aspect", "nugget", "iteration", "group", "judgment_group"),
    "subgroup": ("judgment_subgroup", "sub_group", "jsg"),
    "propensity": ("p", "prop", "propensity_score", "pscore"),
    "weight": ("w", "frequency", "count"),
    "session": ("session_id", "sid"),
    "position": ("place", "turn", "rank", "pos", "slot"),
    "clicked": ("click", "clicks", "is_click", "is_clicked", "satisfaction", "label"),
    "reward": ("click", "clicked", "satisfaction", "satisfied", "conversion"),
    "impression_id": ("impression", "serp_id", "request_id", "search_id", "page_id"),
    "variant": ("arm", "bucket", "treatment", "experiment_group", "group"),
    "user_id": ("user", "uid", "userid", "visitor_id", "customer_id", "account_id", "member_id", "id"),
    "time": (
        "timestamp", "ts", "event_time", "event_timestamp", "datetime", "date", "day", "created_at",
        "occurred_at", "registered_at", "signup_time", "signup_date",
    ),
}  # fmt: skip


def is_text(name: str) -> bool:
    """Say whether a column holds names; every other column holds numbers."""
    return name in _TEXTS


class Renames(dict[str, str]):
    """{their name: our name}, and which of their names some table had.

    Attributes
    ----------
    present
        All column names that were met.
    """

    present: set[str]

    def __init__(self, names: Mapping[str, str], present: set[str] | None = None) -> None:
        super().__init__(names)
        self.present = set() if present is None else present

    def require_present(self) -> None:
        """Refuse a name that none of the tables read so far has: it would be passed over in silence."""
        for theirs in self:
            if theirs not in self.present:
                raise self._absent(theirs)

    def _absent(self, theirs: str) -> UsageError:
        named = ", ".join(printable(name, 40) for name in sorted(self.present)[:12])
        close = nearest(theirs, self.present - {self[theirs]}, n=1)
        meant = f"did you mean {printable(close[0])}={self[theirs]}?" if close else None
        return UsageError(
            f"no table has a column {printable(theirs)}",
            given=f"--columns {printable(theirs)}={self[theirs]}",
            expected=f"names of columns there are: {named}" if named else None,
            fix=meant if named else "TREC text has no column names: leave it out",
        )


def parse_columns(text: str) -> Renames:
    """Read ``"user_id=query_id,item_id=doc_id"`` as {theirs: ours}.

    >>> parse_columns("user_id=query_id, rating=relevance")
    {'user_id': 'query_id', 'rating': 'relevance'}
    """
    mapping: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        theirs, equals, ours = (part.strip() for part in entry.partition("="))
        if not equals or not theirs or ours not in (*CANONICAL, *FURTHER, *_ALIASES):
            close = nearest(ours, (*CANONICAL, *FURTHER), n=1)
            raise UsageError(
                f"columns: {printable(entry)!r} cannot be read",
                expected=f"their_name=our_name; ours are {', '.join((*CANONICAL, *FURTHER))}",
                fix=f"did you mean {printable(theirs)}={close[0]}?" if close else None,
            )
        if _ALIASES.get(mapping.setdefault(theirs, ours), mapping[theirs]) != _ALIASES.get(ours, ours):
            raise UsageError(
                f"columns: {printable(theirs)} has two names",
                given=f"{printable(theirs)}={mapping[theirs]} and {printable(theirs)}={ours}",
                expected="one name for each column",
                fix=f"leave out one of them, such as {printable(theirs)}={mapping[theirs]}",
            )
    return Renames(mapping)


def renames(present: Iterable[str], columns: Mapping[str, str], source: str) -> dict[str, str]:
    """Return which of the columns present are to be renamed to what."""
    names = list(present)
    if not isinstance(columns, Mapping):
        raise UsageError(
            f"columns is a {type(columns).__name__}", expected="{their name: our name}", where=source
        )
    if isinstance(columns, Renames):
        columns.present.update(names)
    chosen = {theirs: _ALIASES.get(ours, ours) for theirs, ours in columns.items() if theirs in names}
    if "label" in chosen and chosen["label"] in names:  # two names for one thing: ours wins
        del chosen["label"]
    clash = [ours for ours in chosen.values() if list(chosen.values()).count(ours) > 1]
    if clash:
        raise UsageError(f"two columns are both to be {clash[0]}", where=source)
    return chosen


def by_alias(present: Iterable[str], chosen: Mapping[str, str], wanted: Iterable[str]) -> dict[str, str]:
    """Return the columns that are wanted and stand there by another name of theirs, which nobody renamed."""
    names = set(present)
    known = {chosen.get(name, name) for name in names}
    return {
        alias: ours
        for alias, ours in _ALIASES.items()
        if ours in wanted and ours not in known and alias in names and alias not in chosen
    }


def hidden(present: Iterable[str], chosen: Mapping[str, str]) -> list[str]:
    """Return the columns that renaming puts others in the place of."""
    return [name for name in present if name in chosen.values() and name not in chosen]


def require(known: Iterable[str], needed: Iterable[str], source: str, present: Iterable[str]) -> None:
    """Refuse a table that lacks a column, with a suggestion how to name those ``present``."""
    missing = [column for column in needed if column not in known]
    if not missing:
        return
    names = list(present)
    guesses = {column: _guess(column, names) for column in missing}
    suggestion = ",".join(f"{theirs or 'THEIRS'}={ours}" for ours, theirs in guesses.items())
    fix = f"name them: --columns {suggestion} (in Python columns={{…}})"
    if guesses.get("score", "") is None:  # an order will do
        known_order = "order=rank" if "rank" in known or "rank" in names else "order=input"
        fix = f"say what gives the order of lists: {known_order}; or " + fix
    shown = ", ".join(printable(name, 40) for name in names[:12]) or "none"
    raise MissingColumn(
        f"there is no column {' and no column '.join(missing)}",
        where=source,
        given=f"columns {shown}{' …' if len(names) > 12 else ''}",  # noqa: PLR2004 - what fits a line
        expected=", ".join(needed),
        fix=_divided(names) or fix,
    )


def lacking(column: str, part: str, present: Iterable[str]) -> MissingColumn:
    """Return the error for a part of a table without a column that other parts have."""
    shown = ", ".join(printable(name, 40) for name in present) or "none"
    return MissingColumn(
        f"there is no column {column}, which other parts have", where=part, given=f"columns {shown}"
    )


def _divided(names: list[str]) -> str | None:
    """Say what to do about a header that was taken for one column."""
    if len(names) == 1 and "\t" in names[0]:
        return "the columns are divided by tabs: add --format-in tsv"
    if len(names) == 1 and (found := {";", "|"} & set(names[0])):
        return f"the columns are divided by {found.pop()!r}: write the file with commas"
    return None


def _guess(column: str, names: list[str]) -> str | None:
    folded = {name.lower(): name for name in names}
    for synonym in _SYNONYMS.get(column, ()):
        if synonym in folded:
            return folded[synonym]
    strangers = [name for name in names if name not in (*CANONICAL, *FURTHER)]
    close = nearest(column, strangers, n=1)
    return close[0] if close else None
