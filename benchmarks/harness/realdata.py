"""Real data sets, read from a folder outside the project: ``SPARSEMIX_DATA`` or ``../shared/data``."""

import csv
import gzip
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyarrow import parquet
from scipy.sparse import csr_array, load_npz

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows, binary or counts, with a gold label each."""

    name: str
    rows: csr_array
    labels: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of different gold labels."""
        return len(np.unique(self.labels))


@dataclass(frozen=True, eq=False)
class KeywordTable:
    """Binary ads x keywords with a name for each keyword."""

    name: str
    rows: csr_array
    names: np.ndarray


def folder() -> Path:
    """Return where the data sets lie.

    Raises
    ------
    FileNotFoundError
        If there is no such folder; the message says how to name one.
    """
    path = Path(os.environ.get("SPARSEMIX_DATA", PROJECT.parent / "shared" / "data"))
    if not path.is_dir():
        raise FileNotFoundError(f"no data sets at {path}: set SPARSEMIX_DATA to the folder that holds them")
    return path


def search_snippets() -> LabelledRows:
    """Web search snippets, 8 topics."""
    return _short_text("SearchSnippets")


def biomedical() -> LabelledRows:
    """Titles of medical papers, 20 topics."""
    return _short_text("Biomedical")


def news_titles() -> LabelledRows:
    """News titles (News-T), 152 stories, in the order of their lines."""
    lines = (folder() / "mstream" / "News-T.jsonl").read_text(encoding="utf-8").splitlines()
    stories = [json.loads(line) for line in lines]
    rows = binary_words(story["textCleaned"] for story in stories)
    return LabelledRows("News-T", rows, np.array([story["clusterNo"] for story in stories]))


def news_texts() -> LabelledRows:
    """The same stories with the beginning of their texts (TS), in another order."""
    stories = [json.loads(line) for line in gzipped("mstream", "TS.jsonl.gz").splitlines()]
    rows = binary_words(story["text"] for story in stories)
    return LabelledRows("TS", rows, np.array([story["cluster"] for story in stories]))


def questions() -> LabelledRows:
    """Questions to an assistant (clinc150), 150 intents; those without an intent are left out."""
    lines = gzipped("clinc150", "queries.jsonl.gz").splitlines()
    asked = [one for one in map(json.loads, lines) if one["intent"] != "oos"]
    labels = np.unique([one["intent"] for one in asked], return_inverse=True)[1]
    return LabelledRows("clinc150", binary_words(one["text"] for one in asked), labels)


def film_plots() -> LabelledRows:
    """Film plots x frequent words (IMDB); the label is the first of a film's genres."""
    words = parquet.ParquetDataset(folder() / "imdb_meka" / "words").read()
    genres = parquet.read_table(folder() / "imdb_meka" / "genres.parquet")
    plots, row_of = np.unique(words["plot"].to_numpy(), return_inverse=True)
    names, column_of = np.unique(words["word"].to_pylist(), return_inverse=True)
    rows = csr_array((np.ones(row_of.size), (row_of, column_of)), shape=(plots.size, names.size))
    named, first = np.unique(genres["plot"].to_numpy(), return_index=True)
    labels = np.unique(genres["genre"].to_pylist(), return_inverse=True)[1][first]
    has_genre = np.isin(plots, named)
    return LabelledRows("IMDB", csr_array(rows[has_genre]), labels[np.searchsorted(named, plots[has_genre])])


def newsgroups() -> LabelledRows:
    """Newsgroup messages x frequent words (ng20), the rows with exactly one of 20 groups."""
    lines = (
        gzip.decompress((folder() / "ng20_binary" / "ng20.svmlight.gz").read_bytes()).decode().splitlines()
    )
    kept, labels = [], []
    for line in lines:
        label, *cells = line.split()
        if ":" not in label and "," not in label:
            labels.append(int(label))
            kept.append([int(cell.split(":")[0]) - 1 for cell in cells])
    n_features = 1 + max(max(columns, default=0) for columns in kept)
    return LabelledRows("ng20", binary_rows(kept, n_features), np.array(labels))


def farm_ads_matrix() -> LabelledRows:
    """Ads of farm-animal topics x words of ad and landing page; the label is approval, not a topic."""
    rows = csr_array(load_npz(folder() / "farm_ads" / "X.npz"), dtype=np.float32)
    frequent = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]) >= 2)
    return LabelledRows("farm_ads", rows[:, frequent], np.load(folder() / "farm_ads" / "labels.npy"))


LABELLED = {
    "SearchSnippets": search_snippets,
    "Biomedical": biomedical,
    "ng20": newsgroups,
    "News-T": news_titles,
    "farm_ads": farm_ads_matrix,
}


TEXTS = ("R8", "WebKB", "ng20", "SearchSnippets", "Biomedical", "bbc_news", "sms_spam")


def counted_words(name: str) -> LabelledRows:
    """Return one of `TEXTS` as counts of words; ng20 is binary as it comes."""
    if name == "ng20":
        return newsgroups()
    texts, labels = zip(*_labelled_texts(name), strict=True)
    return LabelledRows(name, count_words(texts), np.unique(labels, return_inverse=True)[1])


def _labelled_texts(name: str) -> Iterable[tuple[str, str]]:
    if name in {"R8", "WebKB"}:
        lines = gzipped("textgcn", f"{name.lower()}.tsv.gz").splitlines()
        return [(text, label) for _, label, text in (line.split("\t") for line in lines[1:])]
    if name == "bbc_news":
        articles = csv.DictReader(io.StringIO(gzipped("bbc_news", "bbc.csv.gz"), newline=""))
        return [(f"{article['title']} {article['text']}", article["category"]) for article in articles]
    if name == "sms_spam":
        lines = (folder() / "sms_spam" / "SMSSpamCollection.tsv").read_text(encoding="utf-8").splitlines()
        return [(text, label) for label, text in (line.split("\t", 1) for line in lines[1:])]
    return zip(*_texts_and_labels(name), strict=True)


def gzipped(*parts: str) -> str:
    """Return the text of a compressed file in the folder."""
    return gzip.decompress(folder().joinpath(*parts).read_bytes()).decode()


def _texts_and_labels(name: str) -> tuple[list[str], list[str]]:
    source = folder() / "sttm_short_text"
    texts = (source / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return texts, (source / f"{name}_label.txt").read_text(encoding="utf-8").split()


def _short_text(name: str) -> LabelledRows:
    texts, labels = _texts_and_labels(name)
    return LabelledRows(name, binary_words(texts), np.array(labels, dtype=np.int64))


def _groceries() -> KeywordTable:
    with (folder() / "groceries" / "groceries.csv").open(encoding="utf-8", newline="") as file:
        baskets = [[item.strip() for item in line] for line in csv.reader(file)]
    pairs = [(basket, item) for basket, items in enumerate(baskets) for item in items if item]
    return _from_pairs("groceries", *zip(*pairs, strict=True))


def _msweb() -> KeywordTable:
    with (folder() / "msweb" / "visits.csv").open(encoding="utf-8", newline="") as file:
        visits = list(csv.DictReader(file))
    users = [f"{visit['part']} {visit['user']}" for visit in visits]
    return _from_pairs("msweb", users, [visit["area"] for visit in visits])


def _long_table(name: str, file: str, row: str, keyword: str) -> KeywordTable:
    table = parquet.read_table(folder() / file, columns=[row, keyword])
    return _from_pairs(name, table[row].to_pylist(), table[keyword].to_pylist())


def keyword_table(name: str) -> KeywordTable:
    """Return one of `KEYWORD_TABLES`."""
    return _KEYWORD_READERS[name]()


_KEYWORD_READERS = {
    "farm_ads": lambda: _long_table("farm_ads", "farm_ads/ads.parquet", "ad", "word"),
    "snapchat_ads_2020": lambda: _long_table(
        "snapchat_ads_2020", "snapchat_ads_2020/ads_keywords.parquet", "ad_id", "keyword"
    ),
    "kddcup12_clicks": lambda: _long_table(
        "kddcup12_clicks", "kddcup12_clicks/ads_keywords.parquet", "ad_id", "keyword_id"
    ),
    "citeulike_a": lambda: _long_table("citeulike_a", "citeulike_a/article_tags.parquet", "article", "tag"),
    "msweb": _msweb,
    "groceries": _groceries,
}
KEYWORD_TABLES = tuple(_KEYWORD_READERS)


def binary_words(texts: Iterable[str], min_rows: int = 2) -> csr_array:
    """Return texts x words, 1 where a word of two letters or more occurs; rarer words are left out."""
    rows = count_words(texts, min_rows)
    rows.data[:] = 1.0
    return rows


def count_words(texts: Iterable[str], min_rows: int = 2) -> csr_array:
    """Return texts x words, how often each word of two letters or more occurs; rarer words are left out."""
    lists = [re.findall("[a-z]{2,}", text.lower()) for text in texts]
    in_rows = Counter(word for words in lists for word in set(words))
    known = sorted(word for word, count in in_rows.items() if count >= min_rows)
    columns = {word: j for j, word in enumerate(known)}
    return counted([[columns[word] for word in words if word in columns] for words in lists], len(columns))


def binary_rows(columns: Sequence[Sequence[int]], n_features: int) -> csr_array:
    """Return a canonical CSR matrix of ones at the given columns of each row."""
    rows = counted(columns, n_features)
    rows.data[:] = 1.0
    return rows


def counted(columns: Sequence[Sequence[int]], n_features: int) -> csr_array:
    """Return a canonical CSR matrix of how often each row holds each column."""
    indptr = np.cumsum(
        [0, *map(len, columns)], dtype=np.int32
    )  # scikit-learn's KMeans takes no wider indices
    indices = np.fromiter((j for row in columns for j in row), dtype=np.int32, count=indptr[-1])
    rows = csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(len(columns), n_features))
    rows.sum_duplicates()
    return rows


def _from_pairs(name: str, row_ids: Sequence[object], keywords: Sequence[object]) -> KeywordTable:
    ids, row_numbers = np.unique(np.asarray(row_ids), return_inverse=True)
    names, columns = np.unique(np.asarray(keywords), return_inverse=True)
    cells = (np.ones(len(columns), np.float32), (row_numbers, columns))
    rows = csr_array(cells, shape=(len(ids), len(names)))
    rows.sum_duplicates()
    rows.data[:] = 1.0
    return KeywordTable(name, rows, names)
