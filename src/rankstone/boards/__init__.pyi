# Written by `make pages`: where each public name is defined.

from rankstone.boards.board_result import Board as Board
from rankstone.boards.leaderboards import board as board
from rankstone.boards.battle_results import PairedBoard as PairedBoard
from rankstone.boards.battle_results import paired_board as paired_board
from rankstone.boards.slice_search import slices as slices
from rankstone.boards.slice_search import slices_of_log as slices_of_log
from rankstone.boards.slice_search import slices_of_scores as slices_of_scores
from rankstone.boards.slices_result import SliceSettings as SliceSettings
from rankstone.boards.slices_result import Slices as Slices

__all__ = [
    "Board",
    "PairedBoard",
    "SliceSettings",
    "Slices",
    "board",
    "paired_board",
    "slices",
    "slices_of_log",
    "slices_of_scores",
]
