"""Files with one basket a line: items between blanks (FIMI ``.dat``) or another delimiter, no header."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sparsemix.data.blocks import Block
from sparsemix.data.byte_stream import TextPiece, decode_lines, line_pieces
from sparsemix.data.pairs import split_text
from sparsemix.foundation.errors import DataError

ITEMS = "items"


class BasketReader:
    """Lines of items; the lines are the rows, numbered from 0. A blank line is a row without items.

    Parameters
    ----------
    files : tuple of Path
    description : str
    delimiter : str or None
        Between items; None = any run of blanks.
    allow_tabs : bool
        Whether a tab is just another blank; if not, it is an error, since it looks like a table.
    """

    def __init__(
        self, files: tuple[Path, ...], description: str, delimiter: str | None, allow_tabs: bool
    ) -> None:
        self._files = files
        self._delimiter = delimiter
        self._allow_tabs = allow_tabs
        self.description = description

    def column_names(self, wanted: Collection[str] = ()) -> list[str]:  # noqa: ARG002
        """Return the one column that there is."""
        return [ITEMS]

    def list_columns(self) -> set[str]:
        """Return the one column that there is."""
        return {ITEMS}

    def blocks(self, columns: dict[str, str]) -> Iterator[Block]:  # noqa: ARG002
        """Yield the lines in order."""
        for file in self._files:
            for piece in line_pieces(file):
                yield self._block(piece, file)

    def _block(self, piece: TextPiece, file: Path) -> Block:
        lines = decode_lines(piece, file)
        if not self._allow_tabs and b"\t" in piece.data:
            number = piece.first_line + next(i for i, line in enumerate(lines) if "\t" in line)
            raise DataError(
                f"{file}, line {number}: a line of items is separated by blanks, but this one has a tab. "
                f"For a table pass format='tsv' (with columns= if it has no header), else format='baskets'."
            )
        texts = pc.utf8_trim_whitespace(pa.array(lines, pa.large_string()))
        items = split_text(texts, self._delimiter)
        lists = pc.if_else(pc.equal(texts, ""), pa.scalar([], items.type), items)
        return Block(
            {"feature": lists}, len(lines), lambda record: f"{file}, line {piece.first_line + record}"
        )
