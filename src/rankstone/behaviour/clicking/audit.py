"""What was found in a log of clicks, in numbers: nothing is left out or changed in silence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rankstone.behaviour.clicking.log import REASONS
from rankstone.words import InLines, counted, left_out, queries, read_as, where_read_as

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.behaviour.clicking.estimates import Weighing
    from rankstone.behaviour.clicking.position_based import Fit

__all__ = ["Audit", "FoundLists"]


@dataclass(frozen=True)
class FoundLists:
    """What was found in lists.

    Attributes
    ----------
    count
        How many there are.
    skipping, repeating
        How many skip a position, or have one twice.
    rows
        Impressions in these.
    policy
        Whether they were kept or left out.
    """

    count: int
    skipping: int
    repeating: int
    rows: int
    policy: str


@dataclass(frozen=True, repr=False)
class Audit(InLines):
    """What was found in a log.

    Attributes
    ----------
    source
        Where it came from.
    rows, impressions, clicks
        Rows read; those that count; those of them with a click.
    fractions
        Rows that say something and have a fraction of a click, those of lists left out among them.
    queries, pairs
        Queries and pairs with a grade.
    unclicked
        Queries none of whose documents was ever clicked.
    left_out
        {what is wrong: rows left out}.
    outside
        Rows before the start or after the end.
    lists
        What was found in lists; ``None`` where no session tells which rows were shown together.
    rare, rare_impressions
        Pairs that were shown less often than ``min_impressions``, and how often these were.
    unseen
        Pairs left out because nobody looks where they were shown.
    unlinked
        {position: impressions left out}, which nothing links with the first.
    weighing
        What weights did, of ``ips``.
    fit
        How the model was fitted, of ``pbm``.
    warnings
        What deserves a second look.
    read_as
        What was guessed of how its files are written.
    """

    source: str
    rows: int
    impressions: int
    clicks: int
    fractions: int
    queries: int
    pairs: int
    unclicked: int
    left_out: Mapping[str, int]
    outside: int
    lists: FoundLists | None = None
    rare: int = 0
    rare_impressions: int = 0
    unseen: int = 0
    unlinked: Mapping[int, int] = field(default_factory=dict)
    weighing: Weighing | None = None
    fit: Fit | None = None
    warnings: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        told = where_read_as(asdict(self))
        told["unlinked"] = {str(position): count for position, count in self.unlinked.items()}
        return told | {"warnings": list(self.warnings)}

    def lines(self) -> list[str]:
        """Return it as a sentence for each part."""
        seen, clicked = counted(self.impressions, "impression"), counted(self.clicks, "click")
        parts = [f"{counted(self.rows, 'row')}, {seen}, {clicked}"]
        if self.fractions:
            parts.append(f"{counted(self.fractions, 'click')} a fraction")
        wrong = {REASONS[name][0]: count for name, count in self.left_out.items()}
        parts += left_out(wrong | {"before the start or after the end": self.outside})
        parts += read_as(self.read_as)
        lines = [f"log  {' · '.join(parts)}", f"lists  {self._lists()}", f"judgments  {self._judgments()}"]
        if self.weighing is not None:
            lines.append(f"weights  {_weights(self.weighing, self.impressions, self.clicks)}")
        if self.fit is not None:
            lines.append(f"model  {_model(self.fit)}")
        return lines + [f"warning  {sentence}" for sentence in self.warnings]

    def _lists(self) -> str:
        if self.lists is None:
            return "not looked at: session and position tell which rows were shown together"
        parts = [counted(self.lists.count, "list")]
        what = "left out" if self.lists.policy == "drop" else "kept"
        if self.lists.skipping:
            parts.append(f"{self.lists.skipping:,} that skip a position")
        if self.lists.repeating:
            parts.append(f"{self.lists.repeating:,} that repeat a position")
        if self.lists.rows:
            parts.append(f"{counted(self.lists.rows, 'impression')} in these {what}")
        return " · ".join(parts)

    def _judgments(self) -> str:
        parts = [f"{counted(self.pairs, 'pair')} of {queries(self.queries)}"]
        if self.unclicked:
            parts.append(f"{queries(self.unclicked)} without a click")
        if self.rare:
            shown = counted(self.rare_impressions, "impression")
            parts.append(f"{counted(self.rare, 'pair')} shown too rarely left out ({shown})")
        if self.unseen:
            parts.append(f"{counted(self.unseen, 'pair')} left out, shown only where nobody looks")
        if self.unlinked:
            shown = counted(sum(self.unlinked.values()), "impression")
            parts.append(f"{counted(len(self.unlinked), 'position')} not linked left out ({shown})")
        return " · ".join(parts)


def _weights(weighing: Weighing, impressions: int, clicks: int) -> str:
    def effective(total: float, squares: float) -> float:
        return total**2 / squares if squares else 0.0

    of_all = effective(weighing.weights, weighing.squares)
    of_clicks = effective(weighing.click_weights, weighing.click_squares)
    shares = weighing.impressions / max(impressions, 1), weighing.clicks / max(clicks, 1)
    return (
        f"worth {of_all:,.1f} of {counted(impressions, 'impression')}, "
        f"{of_clicks:,.1f} of {counted(clicks, 'click')} · "
        f"clipped {shares[0]:.2%} of impressions, {shares[1]:.2%} of clicks"
    )


def _model(fit: Fit) -> str:
    ended = "converged" if fit.converged else "not converged"
    return (
        f"{ended} after {counted(fit.iterations, 'round')} (last change {fit.change:.1e}) · "
        f"log-likelihood {fit.log_likelihood:,.4f} · positions told apart by {counted(fit.pairs, 'pair')}, "
        f"{counted(fit.impressions, 'impression')} · {'sessions' if fit.clustered else 'rows'} independent"
    )
