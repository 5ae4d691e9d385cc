"""What a message says itself, apart from quotations, signatures and footers."""

import re

QUOTED = re.compile(r"\s*\w{0,4}>")
ESCAPED = re.compile(r"(?<!>)>++(?=From )")
WROTE = re.compile(
    r"@|\b(?:wrote|writes|said|says|schrieb|schreibt|écrit|escribió|scrisse|ha scritto|schreef|skrev|napisał|пишет)\b",
    re.IGNORECASE,
)
DATED = re.compile(r"\s*(?:On|Am|Le|Il|El|Op|Em|Den|Dnia|W dniu|\d{1,4}\W)\b", re.IGNORECASE)
FORWARD = re.compile(
    r"\s*-{2,}\s*(?:forwarded|original|weitergeleitete|ursprüngliche|message d'origine|mensaje original|messaggio)\b"
    r"|\s*begin forwarded message\s*:",
    re.IGNORECASE,
)
SENDER = re.compile(r"\W{0,2}(?:From|Von|De|Da|Van|Fra|Från)\W{0,2}:\W{0,2}\s")
FIELD = re.compile(r"\W{0,2}[^\W\d_][\w-]{0,14}\W{0,2}:\W{0,2}\s")
FOOTER = re.compile(r"\s*[_=*-]{20,}\s*$")
LIST = re.compile(r"mailing.?list|unsubscribe|lists?\.", re.IGNORECASE)
ARMOUR = re.compile(r"-----BEGIN PGP SIGNED MESSAGE-----|Hash: ")
DEVICE = re.compile(r"\s*(?:sent from my|gesendet von meinem|envoyé de mon|get outlook for) ", re.IGNORECASE)
LONGEST_SIGNATURE = 15  # lines after a dash that may be something else
ATTRIBUTION = 3  # lines that an attribution may take


def split_text(text: str) -> tuple[str, str]:
    r"""Return what a message says itself, and what it quotes; signatures and footers are in neither.

    Parameters
    ----------
    text : str
        Lines with ``>`` in front are quotations, as is all after the mark of a forwarded message.

    Returns
    -------
    own, quoted : str

    Examples
    --------
    >>> split_text("Yes.\n\nOn Monday Ann wrote:\n> Tea?\n-- \nBob")
    ('Yes.\n', '> Tea?')
    """
    lines = [ESCAPED.sub("", line) for line in text.replace("\xa0", " ").splitlines()]
    own: list[str] = []
    quoted: list[str] = []
    is_signed = False
    for at, line in enumerate(lines):
        if _opens_forward(lines, at):
            quoted += lines[at:]
            break
        if QUOTED.match(line):
            _drop_attribution(own)
            quoted.append(line)
        elif is_signed or _opens_signature(lines, at):
            is_signed = True
        elif not ARMOUR.match(line) and not DEVICE.match(line):
            own.append(line)
    return "\n".join(own), "\n".join(quoted)


def _opens_forward(lines: list[str], at: int) -> bool:
    """A mark, or the headers of another message as some programs put them above it."""
    if FORWARD.match(lines[at]):
        return True
    return (
        bool(SENDER.match(lines[at])) and sum(bool(FIELD.match(line)) for line in lines[at + 1 : at + 5]) > 1
    )


def _opens_signature(lines: list[str], at: int) -> bool:
    line = lines[at]
    if line == "-- " or line.startswith("-----BEGIN PGP SIGNATURE-----"):
        return True
    if line.rstrip() == "--":
        return len(lines) - at <= LONGEST_SIGNATURE
    return bool(FOOTER.match(line)) and any(LIST.search(each) for each in lines[at + 1 : at + 5])


def _drop_attribution(own: list[str]) -> None:
    """Take away what introduces a quotation: a line such as "On Monday Ann wrote:", and those where it began."""
    end = len(own)
    while end > max(len(own) - 2, 0) and not own[end - 1].strip():
        end -= 1
    if not end or not own[end - 1].rstrip().endswith(":"):
        return
    taken = _lines_of_attribution(own[:end])
    if WROTE.search(" ".join(own[end - taken : end])):
        del own[end - taken :]


def _lines_of_attribution(lines: list[str]) -> int:
    for n in range(1, min(ATTRIBUTION, len(lines)) + 1):
        if not lines[-n].strip():
            break
        if DATED.match(lines[-n]):
            return n
    return 1
