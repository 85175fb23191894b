"""Boards: systems on many data sets, in pairs, and on slices of queries; ranks, and how sure they are."""

from rankstone import lazy_names

#: module → the public names it defines, imported at first use; the stub is generated from this table
PUBLIC = {
    "board_result": ("Board",),
    "leaderboards": ("board",),
    "battle_results": ("PairedBoard", "paired_board"),
    "slice_search": ("slices", "slices_of_log", "slices_of_scores"),
    "slices_result": ("SliceSettings", "Slices"),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
