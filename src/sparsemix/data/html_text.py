"""The text of an HTML page; quotations keep their mark."""

import re
from html.parser import HTMLParser

SILENT = {"script", "style", "head", "title", "template", "noscript"}
BLOCKS = {
    "p",
    "div",
    "br",
    "li",
    "ul",
    "ol",
    "tr",
    "table",
    "blockquote",
    "hr",
    "pre",
    *(f"h{n}" for n in range(1, 7)),
}


def text_of_html(page: str) -> str:
    r"""Return the text of a page, a line for each block; lines of a block quotation begin with ``>``.

    Examples
    --------
    >>> text_of_html("<p>So <b>we</b> do.<blockquote>Shall we?</blockquote><script>x()</script>")
    'So we do.\n> Shall we?'
    """
    reader = _Reader()
    try:
        reader.feed(page)
        reader.close()
    except (AssertionError, ValueError):  # what the standard library makes of broken declarations
        return re.sub(r"<[^<>]*>", " ", page)
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[tuple[bool, list[str]]] = [(False, [])]
        self._n_quotes = 0
        self._silent: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in SILENT and self._silent is None:
            self._silent = tag
        self._n_quotes += tag == "blockquote"
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._silent or (self._silent in ("head", "title") and tag in ("head", "html")):
            self._silent = None
        if tag == "blockquote":
            self._n_quotes = max(self._n_quotes - 1, 0)
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._silent is None:
            self._lines[-1][1].append(data)

    def text(self) -> str:
        """The lines that say something."""
        lines = ((is_quoted, " ".join("".join(parts).split())) for is_quoted, parts in self._lines)
        return "\n".join(f"> {line}" if is_quoted else line for is_quoted, line in lines if line)

    def _break(self, tag: str) -> None:
        if tag == "body":  # a head that nobody has closed
            self._silent = None
        if tag in BLOCKS:
            self._lines.append((self._n_quotes > 0, []))
