"""Words of a text, and the subject of a message without what programs put in front."""

import re
import unicodedata

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Each alternative begins where a word or a run without blanks does, and gives nothing back: linear in any text.
ADDRESS = re.compile(r"(?<!\w)\w++://\S+|www\.\S+|(?<!\S)\S[^\s@]*+@\S+")
PREFIX = re.compile(
    r"\s*(?:(?:re|fwd?|aw|wg|sv|vs|antw|tr|rv|rif|odp)(?:\[\d+\]|\^\d+)?\s*:|\[[^\[\]]{1,40}\])",
    re.IGNORECASE,
)
SHORTEST, LONGEST = 2, 30


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, without addresses, numbers and anything overlong.

    Examples
    --------
    >>> words_of("Don't write to ann@example.org, see https://example.org: 3 CAFÉS")
    ["don't", 'write', 'to', 'see', 'cafés']
    """
    plain = unicodedata.normalize("NFKC", ADDRESS.sub(" ", text)).lower().replace("’", "'")
    return [word for word in WORD.findall(plain) if SHORTEST <= len(word) <= LONGEST]


def bare_subject(subject: str) -> str:
    """Return a subject without signs of replies and lists.

    Examples
    --------
    >>> bare_subject("Re: [garden] AW: Re[2]: Tomatoes: when?")
    'Tomatoes: when?'
    """
    while found := PREFIX.match(subject):
        subject = subject[found.end() :]
    return subject.strip()
