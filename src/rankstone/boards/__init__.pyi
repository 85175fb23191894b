# Written by `make pages`: where each public name is defined.

from rankstone.boards.board_result import Board as Board
from rankstone.boards.leaderboards import board as board

__all__ = [
    "Board",
    "board",
]
