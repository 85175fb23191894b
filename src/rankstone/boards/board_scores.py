"""Scores of systems on data sets, from whatever holds them: long and wide tables, several files, folders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, is_path, quoted, some
from rankstone.boards.result_folders import read_folder
from rankstone.comparison.named_measures import fact_of, requested_measures
from rankstone.comparison.score_sources import holes, name_texts, score_numbers
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    EmptyInput,
    InputError,
    MissingColumn,
    UsageError,
    printable,
)
from rankstone.io.advice import naming_need
from rankstone.io.attributes import open_table
from rankstone.io.columns import columns_in_source
from rankstone.io.csv_dialect import refuse_copies
from rankstone.io.file_formats import stem
from rankstone.io.sources import display_name
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from rankstone._basics import Columns, Floats, Ints


#: our column → names that others give it, the commonest first
_ALIASES: Final = {
    "system": ("run", "model", "model_name", "method", "item", "name"),
    "dataset": (
        "data_set",
        "task",
        "task_name",
        "collection",
        "corpus",
        "benchmark",
        "block",
    ),
    "value": ("score", "main_score", "result"),
    "measure": ("metric",),
    "query_id": ("qid", "query"),
    "seed": ("replicate", "repeat", "trial"),
    "weight": (),
    "cluster": (),
}
#: columns of numbers of wide tables that are places
_PLACES: Final = re.compile(
    r"(rank|place|position|index|no|nr|#|unnamed: ?\d+)?\.?", re.IGNORECASE
)
#: columns that are no data sets either: summaries, dates, and what models are made of
_NO_DATASET: Final = re.compile(
    r"rank \(.*\)|.*\b(mean|average|avg)\b.*|.*\bwin rate\b.*"
    r"|date|year|released?|release date|licen[sc]e|organi[sz]ation"
    r"|.*\bparam(eter)?s?\b.*|.*\bdimensions?\b.*|max tokens|memory usage.*",
    re.IGNORECASE,
)
_TEXTS: Final = ("system", "dataset", "query_id", "seed", "cluster", "measure")
_ORDER: Final = ("dataset", "query_id", "system", "seed")


class BoardScores(Record):
    """Scores of systems on data sets, under one measure.

    Attributes
    ----------
    measure
        Its name.
    direction
        ``higher`` or ``lower`` is better.
    systems, datasets
        Their names.
    values
        float64 ``[datasets, systems]``: the mean over queries and seeds; NaN where a score is missing.
    weights
        Data set → what it weighs, where that is given.
    queries
        Data set → scores per query, float64 ``[queries, systems]``, a column of NaN for a system without any;
        only if there are scores per query.
    ids
        Data set → the ids of these queries.
    clusters
        Data set → cluster of each query, int64 from 0; only where a table names them.
    seeds
        ``(system, data set)`` → the means of its replicates; only where there are several.
    sources
        Name of a table → its file.
    notes
        What was found about the tables.
    """

    measure: str
    direction: str
    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    values: Floats
    weights: Mapping[str, float]
    queries: Mapping[str, Floats]
    ids: Mapping[str, pl.Series]
    clusters: Mapping[str, Ints]
    seeds: Mapping[tuple[str, str], Floats]
    sources: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @cached_property
    def seed_variance(self) -> Floats:
        """The variance that seeds leave in each mean, float64 ``[datasets, systems]``; 0 without seeds."""
        variance = np.zeros(self.values.shape)
        for cell, means in self.seed_cells.items():
            variance[cell] = means.var(ddof=1) / len(means)
        return variance

    @cached_property
    def seed_cells(self) -> dict[tuple[int, int], Floats]:
        """The means of replicates by row and column of ``values``."""
        place, row = (
            {name: index for index, name in enumerate(names)}
            for names in (self.systems, self.datasets)
        )
        known = self.seeds.items()
        return {
            (row[d], place[s]): means
            for (s, d), means in known
            if s in place and d in row
        }

    def crossed(self) -> Floats | None:
        """Return the scores of the same queries on every data set, as shards of one collection have them.

        Returns
        -------
        NDArray
            float64 ``[systems, datasets, queries]``; ``None`` where queries differ, or there is one data set.
        """
        ids = [self.ids.get(name) for name in self.datasets]
        orders = [query_ids.arg_sort() for query_ids in ids if query_ids is not None]
        if len(orders) < max(len(ids), 2):
            return None
        first, *others = [
            query_ids.gather(order)
            for query_ids, order in zip(ids, orders, strict=True)
            if query_ids is not None
        ]
        if not all(first.equals(query_ids) for query_ids in others):
            return None
        pairs = zip(self.datasets, orders, strict=True)
        return np.stack(
            [self.queries[name][order.to_numpy()] for name, order in pairs]
        ).transpose(2, 0, 1)

    def of_systems(self, chosen: Sequence[int]) -> BoardScores:
        """Return the scores of some systems, on the data sets that any of them has."""
        kept = np.flatnonzero(~np.isnan(self.values[:, chosen]).all(axis=1))
        names = [self.datasets[row] for row in kept]
        return replace(
            self,
            systems=tuple(self.systems[column] for column in chosen),
            datasets=tuple(names),
            values=self.values[kept][:, list(chosen)],
            queries={
                name: table[:, chosen]
                for name, table in self.queries.items()
                if name in names
            },
        )


def read_board(
    source: object,
    measure: str | None = None,
    *,
    only: Mapping[str, str] | None = None,
    columns: Columns | None = None,
    format_in: str | None = None,
) -> BoardScores:
    """Read the scores of a board.

    Parameters
    ----------
    source
        A long table (``system``, ``dataset``, ``value``, and if known ``query_id``, ``seed``, ``weight``,
        ``cluster``), a wide one (a row for each system, a column for each data set), a folder of results of
        MTEB or BEIR, or ``{data set: table}`` and a list of such tables, each of one data set.
    measure
        Which measure, where a table holds several.
    only
        Column → the value of the rows to read: ``{"split": "test"}``.
    columns
        {their name: our name}.
    format_in
        Format of files; ``None`` decides by content and suffix.

    Raises
    ------
    MissingColumn, BadValue, DuplicateRows, EmptyInput
        Where the tables do not hold a board.
    """
    notes: dict[str, None] = {}
    tables = _parts_of(source)
    parts = [
        _read(name, table, measure, dict(only or {}), columns, format_in, notes)
        for name, table in tables
    ]
    names = [name for name in _ALIASES if any(name in part.columns for part in parts)]
    whole = pl.concat(parts, how="diagonal").select(names)
    where = ", ".join(_title(table) for _, table in tables)
    if len(parts) > 1:  # two tables may be about one data set
        _refuse_twice(whole, whole, where)
    whole, chosen = _of_measure(whole, measure)
    if not whole["value"].count():
        raise EmptyInput("there are no scores", where=where)
    # every sum runs in this order, so no bit depends on how rows are ordered
    whole = whole.sort([name for name in _ORDER if name in names])
    sources = {name or "scores": _title(table) for name, table in tables}
    return replace(_arranged(whole, chosen, tuple(notes), where), sources=sources)


def _parts_of(source: object) -> list[tuple[str | None, object]]:
    """Return tables, with the data sets that were given with them."""
    if isinstance(source, (list, tuple)) and all(is_path(path) for path in source):
        if len(source) > 1:
            return [(stem(path), path) for path in source]
        return [(None, source[0])]
    if (
        isinstance(source, Mapping)
        and source
        and not all(
            isinstance(value, (int, float, Mapping, list)) or value is None
            for value in source.values()
        )
    ):
        return [(str(name), table) for name, table in source.items()]
    return [(None, source)]


def _title(source: object) -> str:
    """Return the name of a table in messages."""
    if is_path(source):
        return display_name(source)
    return type(source).__name__


def _read(
    dataset: str | None,
    source: object,
    measure: str | None,
    only: Mapping[str, str],
    columns: Columns | None,
    format_in: str | None,
    notes: dict[str, None],
) -> pl.DataFrame:
    """Return a long table: system, dataset, value, and further columns that it has."""
    if is_path(source) and Path(source).is_dir():
        name = display_name(source)
        frame = read_folder(source, measure).lazy()
    else:
        name, frame, read_as = open_table(source, "system", columns, format_in)
        notes |= dict.fromkeys(f"{name} read as: {note}" for note in read_as)
    with reading(name):
        for column, value in only.items():
            if column not in (known := frame.collect_schema().names()):
                raise MissingColumn.of(
                    f"there is no column {printable(column)}", column, known, name
                )
            frame = frame.filter(pl.col(column).cast(pl.String) == value)
        present = frame.collect_schema().names()
        if measure in present:  # a column for each measure
            frame = frame.drop("value", strict=False).rename({str(measure): "value"})
            present = frame.collect_schema().names()
        table = frame.rename(by_aliases(present, _ALIASES)).collect()
    if not table.height:
        raise EmptyInput(
            "no rows are left" if only else "the table is empty", where=name
        )
    wide = not {"value", "dataset"} & {*table.columns}
    refuse_copies(
        table.columns,
        name,
        ", ".join(table.columns),
        lambda heading: wide or heading in _ALIASES,
    )
    if dataset is not None and "dataset" not in table.columns:
        table = table.with_columns(dataset=pl.lit(dataset))
    if wide:
        table = _unfolded(table, name, notes)
    if lacking := [
        required
        for required in ("system", "dataset", "value")
        if required not in table.columns
    ]:
        raise MissingColumn(
            f"there is no column {' and no column '.join(lacking)}",
            where=name,
            given=columns_in_source(present, columns),
            expected="system, dataset, value; or a row for each system and a column for each data set",
            fix=naming_need(lacking, columns),
        )
    texts = [
        name_texts(table[column], name) for column in _TEXTS if column in table.columns
    ]
    numbers = [_scores(table["value"], name, notes)]
    if "weight" in table.columns:
        numbers.append(score_numbers(table["weight"], name))
    long = pl.DataFrame([*texts, *numbers])
    _refuse_twice(long, table, name, at_shell=getattr(columns, "at_shell", False))
    return long


def _scores(column: pl.Series, where: str, notes: dict[str, None]) -> pl.Series:
    """Return scores; a dash and the like mean that there is none, which is noted."""
    if column.dtype == pl.String:
        hole = holes(column)
        if hole.any():
            texts = column.filter(hole).str.strip_chars().unique().sort()
            written = ", ".join(repr(printable(text)) for text in texts)
            count = counted(int(hole.sum()), "cell")
            notes[f"{where}: {count} without a score, written {written}"] = None
            column = column.set(hole, None)
    return score_numbers(column, where)


def by_aliases(
    present: Sequence[str], aliases: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return {their name: our name} of the columns that others call otherwise, in whatever case.

    >>> by_aliases(["Model", "score"], {"system": ("model",), "value": ("score",), "seed": ()})
    {'Model': 'system', 'score': 'value'}
    """
    folded = {name.lower(): name for name in reversed(present)}
    renamed: dict[str, str] = {}
    for ours, others in aliases.items():
        theirs = next(
            (folded[alias] for alias in (ours, *others) if alias in folded), None
        )
        if theirs is not None:
            renamed.setdefault(theirs, ours)
    return renamed


def _is_place(column: pl.Series) -> bool:
    """Return True for whole numbers under the name of a place; an index may also name systems."""
    if not _PLACES.fullmatch(column.name):
        return False
    return not column.cast(pl.String).cast(pl.Int64, strict=False).has_nulls()


def _unfolded(table: pl.DataFrame, where: str, notes: dict[str, None]) -> pl.DataFrame:
    """Return a row for each system and data set of a wide table."""
    others = [
        name
        for name in table.columns
        if _NO_DATASET.fullmatch(name) or _is_place(table[name])
    ]
    usable = [name for name in table.columns if name not in others]
    key = "system" if "system" in table.columns else (usable or table.columns)[0]
    numeric = table[key].cast(pl.String).cast(pl.Float64, strict=False)
    if not numeric.null_count() and (numeric != numeric.round()).any():
        raise BadValue(
            f"the first column, {printable(key)}, holds numbers and no names of systems",
            where=where,
            expected="a row for each system and a column for each data set",
            fix="for systems in columns and a row for each query: rankstone compare --scores FILE "
            "(in Python rankstone.compare_scores(table))",
        )
    notes |= dict.fromkeys(
        f"{where}: the column {printable(name) or 'without a name'} is left out: no data set"
        for name in others
        if name != key
    )
    datasets = [name for name in usable if name != key]
    numbers = [_scores(table[name], where, notes) for name in datasets]
    if not numbers:
        raise MissingColumn(
            "there is no column of scores",
            where=where,
            given=f"columns {', '.join(map(printable, table.columns))}",
            expected="system, dataset, value; or a row for each system and a column for each data set",
        )
    wide = pl.DataFrame([table[key].alias("system"), *numbers])
    return wide.unpivot(index="system", variable_name="dataset")


def _refuse_twice(
    long: pl.DataFrame, table: pl.DataFrame, where: str, *, at_shell: bool = False
) -> None:
    """Refuse two scores of a system on a data set, and say which columns tell them apart."""
    key = [name for name in long.columns if name not in ("value", "weight", "cluster")]
    if not (twice := long.select(key).is_duplicated()).any():
        return
    first = long.filter(twice).row(0, named=True)
    same = long.select(
        pl.all_horizontal(pl.col(name).eq_missing(first[name]) for name in key)
    ).to_series()
    rows = table.filter(same)
    apart = [
        name
        for name in rows.columns
        if name not in _ALIASES and rows[name].n_unique() > 1
    ]
    what = ", ".join(
        f"{name} {printable(first[name], 40)}"
        for name in key
        if first[name] is not None
    )
    values = ", ".join(map(str, long.filter(same)["value"].head(3)))
    fix = "remove all but one row"
    if apart:
        values += f"; they differ in {some(apart, 12)}"
    for name in apart:
        value = rows[name][0]
        left = long.filter(table[name] == value).select(key)
        if left.height > 1 and left.is_unique().all():
            pair = f"{name}={value}" if at_shell else repr({name: str(value)})
            option = f"--only {quoted(pair)}" if at_shell else f"only={pair}"
            fix = f"read rows of one {printable(name)}: {printable(option)}"
            break
    raise DuplicateRows(
        f"{what} has {counted(rows.height, 'score')}",
        where=where,
        given=values,
        expected="one score for each; replicates have a column seed",
        fix=fix,
    )


def _of_measure(whole: pl.DataFrame, measure: str | None) -> tuple[pl.DataFrame, str]:
    """Return the rows of a measure and its name; the only one if none is named."""
    if "measure" not in whole.columns:
        return whole, measure or "score"
    known = (
        whole["measure"]
        .drop_nulls()
        .cast(pl.String)
        .unique(maintain_order=True)
        .to_list()
    )
    if measure is None and len(known) > 1:
        raise UsageError(
            "the table holds several measures",
            given=", ".join(map(printable, known[:12])),
            fix=f"measure={known[0]!r}",
        )
    (chosen,) = requested_measures(measure or known[0], known)[:1]
    return whole.filter(pl.col("measure") == chosen).drop("measure"), chosen


def _arranged(
    whole: pl.DataFrame, measure: str, notes: tuple[str, ...], where: str
) -> BoardScores:
    """Return scores as arrays."""
    systems, datasets = (
        tuple(whole[name].unique().sort()) for name in ("system", "dataset")
    )
    place = {name: index for index, name in enumerate(systems)}
    details: dict[str, Any] = {
        name: {}
        for name in ("queries", "ids", "clusters", "weights", "seeds", "sources")
    }
    values = np.full((len(datasets), len(systems)), np.nan)
    by_dataset = whole.partition_by("dataset", as_dict=True, maintain_order=True)
    for row, (name, part) in enumerate(
        (str(key[0]), part) for key, part in by_dataset.items()
    ):
        if "weight" in part.columns and part["weight"].drop_nulls().len():
            details["weights"][name] = _one_weight(part, name, where)
        if "seed" in part.columns:
            details["seeds"] |= _seeds(part, name)
        if "query_id" not in part.columns or part["query_id"].null_count():
            means = part.group_by("system", maintain_order=True).agg(
                pl.col("value").mean()
            )
            columns = [place[system] for system in means["system"]]
            values[row, columns] = means["value"].fill_null(np.nan).to_numpy()
            continue
        table = part.pivot(
            "system",
            index="query_id",
            values="value",
            aggregate_function="mean",
            maintain_order=True,
        )
        scores = np.full((table.height, len(systems)), np.nan)
        for system in table.columns[1:]:
            scores[:, place[system]] = table[system].fill_null(np.nan).to_numpy()
        _refuse_lost_queries(scores, systems, table["query_id"], name, where)
        details["queries"][name], details["ids"][name] = scores, table["query_id"]
        values[row] = scores.mean(axis=0)
        if "cluster" in part.columns:
            of_query = part.group_by("query_id", maintain_order=True).agg(
                pl.col("cluster").first()
            )
            details["clusters"][name] = (
                of_query["cluster"].rank("dense").to_numpy().astype(np.int64) - 1
            )
    known = fact_of(measure, "direction", "higher")
    read = BoardScores(
        measure, str(known), systems, datasets, values, notes=notes, **details
    )
    has = ~np.isnan(values)
    any_score = zip(
        (*systems, *datasets), (*has.any(axis=0), *has.any(axis=1)), strict=True
    )
    left_out = [printable(name) for name, scored in any_score if not scored]
    if not left_out:
        return read
    return replace(
        read.of_systems(np.flatnonzero(has.any(axis=0)).tolist()),
        notes=(*notes, f"left out, without any score: {some(left_out)}"),
    )


def _one_weight(part: pl.DataFrame, dataset: str, where: str) -> float:
    weights = part["weight"].drop_nulls().unique()
    if len(weights) > 1 or not weights[0] > 0:
        raise InputError(
            f"the data set {printable(dataset)} needs one weight above 0",
            where=where,
            given=", ".join(f"{weight:g}" for weight in weights.head(3)),
        )
    return float(weights[0])


def _seeds(part: pl.DataFrame, dataset: str) -> dict[tuple[str, str], Floats]:
    """Return the mean of each replicate, for systems that have several on a data set."""
    means = part.group_by("system", "seed", maintain_order=True).agg(
        pl.col("value").mean()
    )
    groups = means.group_by("system", maintain_order=True).agg("value")
    return {
        (system, dataset): np.array(values, np.float64)
        for system, values in groups.iter_rows()
        if len(values) > 1 and None not in values
    }


def _refuse_lost_queries(
    scores: Floats, systems: Sequence[str], ids: pl.Series, dataset: str, where: str
) -> None:
    """Refuse systems that lack some queries of a data set: their means would be over other queries."""
    lost = np.isnan(scores)
    for column in np.flatnonzero(lost.any(axis=0) & ~lost.all(axis=0)).tolist():
        first = ids[int(lost[:, column].argmax())]
        count = counted(int(lost[:, column].sum()), "query", "queries")
        raise InputError(
            f"{printable(systems[column])} has no score for {count} of {printable(dataset)}",
            where=where,
            given=f"such as {printable(first)}",
            fix="score queries without results as 0: rankstone eval --missing zero "
            "(in Python rankstone.evaluate(…, missing='zero'))",
        )
