"""A small table of texts: counted words of three topics, and the topic of every fifth text."""

import numpy as np

TOPICS = ["sport", "money", "music"]
WORDS_PER_TOPIC = 8


def texts(n_rows=180, own=0.7, seed=5):
    """Lines (text, topic or nothing, word, count); a word is of the text's topic with probability `own`."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(n_rows):
        topic = int(rng.integers(3))
        label = TOPICS[topic] if row % 5 == 2 else ""
        n_words = 1 + rng.poisson(5)
        topics = np.where(rng.random(n_words) < own, topic, rng.integers(3, size=n_words))
        words = [f"{TOPICS[k]} {rng.integers(WORDS_PER_TOPIC)}" for k in topics]
        lines += [(f"text {row}", label, word, words.count(word)) for word in sorted(set(words))]
    return lines


def write(path, lines, header="doc,topic,word,n"):
    path.write_text("\n".join([header, *(",".join(map(str, line)) for line in lines)]) + "\n")
    return path
