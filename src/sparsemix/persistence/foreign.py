"""What a file that is no model file looks like, so that a message can say it."""

import codecs

from sparsemix.foundation.errors import shorten

BYTES_LOOKED_AT = 4096

_MAGIC = (
    (b"PAR1", "a Parquet table"),
    (b"ARROW1", "an Arrow table"),
    (b"\x1f\x8b", "a gzipped file"),
    (b"PK\x03\x04", "a zip archive such as .npz or .xlsx"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"%%MatrixMarket", "a matrix in Matrix Market format"),
    *((bytes([0x80, protocol]), "a Python pickle") for protocol in range(2, 6)),
)
_SEPARATORS = ",;\t"


def describe(content: bytes) -> str | None:
    r"""Return what a file looks like by its first bytes, or None if they tell nothing.

    Parameters
    ----------
    content : bytes
        The first `BYTES_LOOKED_AT` bytes, or all of a shorter file.

    Returns
    -------
    str or None

    Examples
    --------
    >>> describe(b"ad_id,keyword\n17,window cleaner\n")
    "a table as text that begins with 'ad_id,keyword'"
    >>> describe(b"PAR1...")
    'a Parquet table'
    """
    if content[:1] == b"\x80" and content[2:8] == bytes(6):  # the length of a damaged model file's header
        return None
    for magic, name in _MAGIC:
        if content.startswith(magic):
            return name
    text = _as_text(content)
    return None if text is None else _describe_text(text)


def _as_text(content: bytes) -> str | None:
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(content)  # a last letter may be cut
    except UnicodeDecodeError:
        return None
    is_text = all(letter.isprintable() or letter.isspace() for letter in text)
    return text if is_text and text.strip() else None


def _describe_text(text: str) -> str:
    text = text.strip()
    if text.startswith(("{", "[")):
        return "JSON text"
    if text.startswith("<") and "<html" in text.lower():
        return "a web page"
    line = text.splitlines()[0]
    kind = "a table as text" if any(separator in line for separator in _SEPARATORS) else "a text file"
    return f"{kind} that begins with {shorten(line, 40)}"
