"""Headers and texts of a message, decoded whatever they claim to be."""

import re
from base64 import b64decode
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import parseaddr

from sparsemix.data.html_text import text_of_html

QUOTE = "> "


def parse(content: bytes) -> "Message[str, str]":
    """Parse a message; one whose parts are nested too deep keeps its headers alone."""
    try:
        return message_from_bytes(content)
    except RecursionError:
        return BytesHeaderParser().parsebytes(content)


def header(message: "Message[str, str]", name: str) -> str:
    r"""Return the first header of a name on one line, decoded; empty if there is none.

    Examples
    --------
    >>> header(parse(b"Subject: =?utf-8?q?gr=C3=BCn?=\n  at noon\n\n"), "subject")
    'grün at noon'
    """
    return _decode_words(_raw_header(message, name))


def author_of(message: "Message[str, str]") -> str:
    r"""Return the name of the author, or else the address, or else whatever stands there.

    Examples
    --------
    >>> author_of(parse(b"From: =?utf-8?q?M=C3=BCller=2C?= Jo <jo@example.org>\n\n"))
    'Müller, Jo'
    """
    raw = _raw_header(message, "from")
    try:
        name, address = parseaddr(raw)
    except RecursionError:  # comments nested too deep
        name = address = ""
    return _decode_words(name) or _decode_words(address) or _decode_words(raw)


def text_of(message: "Message[str, str]") -> str:
    """Return what people read of a message; HTML becomes text, and attached messages stand as quotations.

    Attachments are left out, and of alternatives all but the first that says something.
    """
    try:
        return _text(message)
    except RecursionError:
        return ""


def decode(content: bytes, charset: str | None) -> str:
    """Decode bytes as they claim to be, or else as UTF-8, or else as Windows text.

    Examples
    --------
    >>> decode("café".encode("latin-1"), "utf-8"), decode("café".encode(), "no such thing")
    ('café', 'café')
    """
    for name in (charset, "utf-8"):
        if name and name not in _NO_CHARSETS:
            try:
                text = content.decode(name)
                text.encode("utf-8")  # halves of letters, as UTF-7 may have them, are none
            except (LookupError, ValueError):
                continue
            return text
    return content.decode("cp1252", "replace")


# Encodings of Python that no mail is in, some of them slow on long texts.
_NO_CHARSETS = {
    "punycode",
    "idna",
    "unicode_escape",
    "unicode-escape",
    "raw_unicode_escape",
    "raw-unicode-escape",
}
_NO_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")


def _raw_header(message: "Message[str, str]", name: str) -> str:
    """A letter for each byte, as the decoder of the standard library takes and returns what is not encoded."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name), "")
    return " ".join(str(raw).encode("utf-8", "surrogateescape").decode("latin-1").split())


def _decode_words(raw: str) -> str:
    try:
        parts = decode_header(raw)
    except (MessageError, ValueError):  # broken base64
        parts = [(raw, None)]
    texts = (
        decode(part.encode("latin-1") if isinstance(part, str) else part, charset) for part, charset in parts
    )
    return " ".join("".join(texts).split())


def _text(part: "Message[str, str]") -> str:
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" and kind != "message/rfc822":
        return ""
    if kind == "message/rfc822":
        return "".join(f"{QUOTE}{line}\n" for line in "\n".join(_inside(part)).splitlines())
    if part.is_multipart():
        texts = _inside(part)
        if kind == "multipart/alternative":
            return next((text for text in texts if text.strip()), "")
        return "\n".join(texts)
    if kind not in ("text/plain", "text/html"):
        return ""
    text = decode(_content(part), _charset(part))
    return text_of_html(text) if kind == "text/html" else text


def _inside(part: "Message[str, str]") -> Iterator[str]:
    payload = part.get_payload()
    return map(_text, payload if isinstance(payload, list) else [])


def _content(part: "Message[str, str]") -> bytes:
    if str(part.get("content-transfer-encoding", "")).strip().lower() == "base64":
        # What is cut off or dirty: the standard library would return it as it is.
        letters = _NO_BASE64.sub("", str(part.get_payload()))
        return b64decode(f"{letters[: len(letters) - (len(letters) % 4 == 1)]}===")
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _charset(part: "Message[str, str]") -> str | None:
    try:
        return part.get_content_charset()
    except (LookupError, ValueError):  # in the encoding of the parameter itself
        return None
