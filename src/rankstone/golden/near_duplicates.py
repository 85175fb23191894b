"""Texts that say nearly the same: pairs whose sets of short pieces overlap (Broder 1997).

Two sets of pieces whose Jaccard index is t or more share one of their rarest pieces, so only pairs with such a
piece in common are compared (prefix filter: Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
The result is exact.
"""

from __future__ import annotations

from typing import Final

import polars as pl

#: letters of a piece
_LETTERS: Final = 5
#: pieces shared by more texts than this are in nearly all of them, and tell nothing
_COMMON: Final = 5_000
#: tolerance for rounding errors at a limit
_ROUNDING: Final = 1e-9
#: pairs that are compared at a time
_PAIRS: Final = 500_000
#: the Jaccard index from which on two texts are nearly the same
NEAR: Final = 0.8


def normalised(texts: pl.Series) -> pl.Series:
    """Return texts in small letters, with single blanks and without punctuation.

    >>> normalised(pl.Series(["How do I  reset?", "how do i reset"])).to_list()
    ['how do i reset', 'how do i reset']
    """
    plain = texts.str.normalize("NFKC").str.to_lowercase()
    words = plain.str.replace_all(r"[^\p{L}\p{N}]+", " ")
    return words.str.strip_chars()


def near_duplicates(texts: pl.Series, least: float = NEAR) -> pl.DataFrame:
    """Return pairs of texts whose pieces of five letters overlap.

    Parameters
    ----------
    texts
        The texts; those without a letter are like no other.
    least
        The Jaccard index from which on a pair is returned, above 0 and up to 1.

    Returns
    -------
    polars.DataFrame
        ``first`` and ``second``, the places of both texts, the smaller first; ``similarity``.

    Examples
    --------
    >>> texts = pl.Series(["reset my password", "Reset my password?", "refund policy"])
    >>> near_duplicates(texts).rows()
    [(0, 1, 1.0)]
    """
    pieces = _pieces(texts)
    sizes = pieces.group_by("text").agg(size=pl.len())
    pieces = pieces.join(sizes, on="text")

    # the rarest pieces of each text, as many as one of which two similar texts must share
    size = pl.col("size")
    rarest_first = pieces.sort("text", "times", "piece")
    place = pl.int_range(1, pl.len() + 1).over("text")
    is_prefix = place <= size - (size * least).ceil() + 1
    prefix = rarest_first.with_columns(place=place).filter(is_prefix)
    keys = prefix.filter(pl.col("times") <= _COMMON)

    # behind the shared piece there must be enough that both can share
    size_second = pl.col("size_second")
    rest = size - pl.col("place")
    rest_second = size_second - pl.col("place_second")
    at_most = 1 + pl.min_horizontal(rest, rest_second)
    total = size + size_second
    needed = least / (1 + least) * total
    pairs = (
        keys.lazy()
        .join(keys.lazy(), on="piece", suffix="_second")
        .filter(pl.col("text") < pl.col("text_second"), at_most >= needed - _ROUNDING)
        .select(first="text", second="text_second")
        .unique()
        .collect()
    )

    columns = pieces.select("text", "piece")
    similar = [
        _similar(part, columns, sizes, least) for part in pairs.iter_slices(_PAIRS)
    ]
    schema = {"first": pl.UInt32, "second": pl.UInt32, "similarity": pl.Float64}
    return pl.concat([pl.DataFrame(schema=schema), *similar]).sort("first", "second")


def _pieces(texts: pl.Series) -> pl.DataFrame:
    """Return the different pieces of each text, and how many texts have each."""
    blank = pl.lit(" ")
    padded = blank + pl.col("letters") + blank
    letters = normalised(texts).to_frame("letters").with_row_index("text")
    letters = letters.filter(pl.col("letters") != "")
    letters = letters.with_columns(letters=padded)

    length = pl.col("letters").str.len_chars().cast(pl.Int64)
    count = pl.max_horizontal(length - _LETTERS + 1, 1)
    starts = pl.int_ranges(0, count)
    pieces = letters.with_columns(start=starts).explode("start")
    piece = pl.col("letters").str.slice(pl.col("start"), _LETTERS).hash()
    pieces = pieces.select("text", piece=piece).unique()
    return pieces.with_columns(times=pl.len().over("piece"))


def _similar(
    pairs: pl.DataFrame, pieces: pl.DataFrame, sizes: pl.DataFrame, least: float
) -> pl.DataFrame:
    """Return the pairs whose sets of pieces overlap enough."""
    of_first = pairs.join(pieces, left_on="first", right_on="text")
    both = of_first.join(
        pieces, left_on=["second", "piece"], right_on=["text", "piece"], how="semi"
    )
    shared = both.group_by("first", "second").agg(shared=pl.len())
    shared = shared.join(sizes, left_on="first", right_on="text")
    shared = shared.join(sizes, left_on="second", right_on="text", suffix="_second")
    total = pl.col("size") + pl.col("size_second")
    union = total - pl.col("shared")
    similarity = pl.col("shared") / union
    scored = shared.select("first", "second", similarity=similarity)
    return scored.filter(pl.col("similarity") >= least)
