"""Real texts as counts of words, with a class each."""

import csv
import gzip
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from harness.realdata import LABELLED, LabelledRows, folder

MIN_ROWS = 2


def counted_words(name: str, texts: Sequence[str], classes: Sequence[str]) -> LabelledRows:
    """Return texts x words of two letters or more that two texts have."""
    counts = [Counter(re.findall("[a-z]{2,}", text.lower())) for text in texts]
    frequency = Counter(word for own in counts for word in own)
    column = {w: j for j, w in enumerate(sorted(w for w, n in frequency.items() if n >= MIN_ROWS))}
    rows, columns, values = [], [], []
    for row, own in enumerate(counts):
        for word, count in own.items():
            if word in column:
                rows.append(row)
                columns.append(column[word])
                values.append(float(count))
    places = (np.array(rows, np.int32), np.array(columns, np.int32))
    matrix = csr_array((values, places), shape=(len(texts), len(column)))
    return LabelledRows(name, matrix, np.unique(np.asarray(classes), return_inverse=True)[1])


def _tab_separated(file: str) -> tuple[list[str], list[str]]:
    with gzip.open(folder() / "textgcn" / file, "rt", encoding="utf-8") as lines:
        records = [line.rstrip("\n").split("\t") for line in lines][1:]
    return [record[2] for record in records], [record[1] for record in records]


def r8() -> LabelledRows:
    """News stories of 8 very unequal classes."""
    return counted_words("R8", *_tab_separated("r8.tsv.gz"))


def webkb() -> LabelledRows:
    """University web pages, 4 classes."""
    return counted_words("WebKB", *_tab_separated("webkb.tsv.gz"))


def bbc_news() -> LabelledRows:
    """News articles, 5 categories."""
    with gzip.open(folder() / "bbc_news" / "bbc.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        records = list(csv.DictReader(lines))
    texts = [f"{record['title']} {record['text']}" for record in records]
    return counted_words("bbc_news", texts, [record["category"] for record in records])


def sms_spam() -> LabelledRows:
    """Text messages, ham and spam."""
    path = folder() / "sms_spam" / "SMSSpamCollection.tsv"
    with path.open(encoding="utf-8") as lines:
        records = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return counted_words("sms_spam", [record[1] for record in records], [record[0] for record in records])


TEXTS = {
    "R8": r8,
    "WebKB": webkb,
    "bbc_news": bbc_news,
    "sms_spam": sms_spam,
    "SearchSnippets": LABELLED["SearchSnippets"],
    "Biomedical": LABELLED["Biomedical"],
    "ng20": LABELLED["ng20"],
}
