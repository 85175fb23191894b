# Written by `make pages`: where each public name is defined.

from rankstone.boards.board_result import Board as Board
from rankstone.boards.leaderboards import board as board
from rankstone.boards.battle_results import PairedBoard as PairedBoard
from rankstone.boards.battle_results import paired_board as paired_board

__all__ = [
    "Board",
    "PairedBoard",
    "board",
    "paired_board",
]
