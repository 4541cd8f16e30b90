"""Fill grids in which every unit holds each symbol once: sudoku and Latin squares, solved exactly."""

from collections.abc import Sequence

from assay.symbench.drawing import Draws

EMPTY = -1


class Grid:
    """The shape of a puzzle: which cells see each other.

    Parameters
    ----------
    units : sequence of sequences of int
        Cells (numbered from 0) that hold different symbols.
    symbols : int
        Number of symbols, 0 to symbols - 1.
    """

    def __init__(self, units: Sequence[Sequence[int]], symbols: int) -> None:
        cells = 1 + max(cell for unit in units for cell in unit)
        self.units = [list(unit) for unit in units]
        self.symbols = symbols
        self.units_of = [[unit for unit in self.units if cell in unit] for cell in range(cells)]
        self.peers = [
            sorted({other for unit in self.units_of[cell] for other in unit} - {cell}) for cell in range(cells)
        ]

    def candidates(self, values: Sequence[int], cell: int) -> list[int]:
        """Return the symbols that no peer holds, ascending."""
        taken = {values[peer] for peer in self.peers[cell]}
        return [symbol for symbol in range(self.symbols) if symbol not in taken]

    def solve(self, values: list[int], draws: Draws | None = None) -> bool:
        """Fill the empty cells in place; False leaves `values` as they were.

        The cell with the fewest candidates is filled first; its symbols are tried in order, or in random order.
        """
        best, options = EMPTY, list(range(self.symbols + 1))
        for cell, value in enumerate(values):
            if value == EMPTY:
                found = self.candidates(values, cell)
                if len(found) < len(options):
                    best, options = cell, found
                    if len(found) <= 1:
                        break
        if best == EMPTY:
            return True
        for symbol in options if draws is None else draws.shuffled(options):
            values[best] = symbol
            if self.solve(values, draws):
                return True
        values[best] = EMPTY
        return False

    def is_forced(self, values: list[int], cell: int) -> bool:
        """Say whether an empty cell has one symbol in all solutions; `values` must have a solution."""
        options = self.candidates(values, cell)
        if len(options) == 1 or self._has_one_place(values, cell, options):
            return True
        possible = 0
        for symbol in options:
            trial = list(values)
            trial[cell] = symbol
            possible += self.solve(trial)
            if possible > 1:
                return False
        return True

    def _has_one_place(self, values: Sequence[int], cell: int, options: Sequence[int]) -> bool:
        """Say whether a unit has this cell as the only place for one of the symbols."""
        for unit in self.units_of[cell]:
            elsewhere = {
                s for other in unit if other != cell and values[other] == EMPTY for s in self.candidates(values, other)
            }
            held = {values[other] for other in unit}
            if any(symbol not in elsewhere and symbol not in held for symbol in options):
                return True
        return False

    def dig(self, values: Sequence[int], order: Sequence[int], blanks: int) -> list[int]:
        """Empty up to `blanks` cells in the given order so that the solution stays the only one."""
        puzzle, emptied = list(values), 0
        for cell in order:
            if emptied == blanks:
                break
            kept, puzzle[cell] = puzzle[cell], EMPTY
            if self.is_forced(puzzle, cell):
                emptied += 1
            else:
                puzzle[cell] = kept
        return puzzle
