"""Batches for encoders: sequences of about the same length together, and texts in chunks that fit into memory."""

from collections.abc import Iterator, Sequence

BATCH_SEQUENCES = 64  # most sequences in one pass of a transformer
# most tokens in one pass, times the model's width; a CPU is fastest if they fit into its cache (benchmarks.speed)
BATCH_VALUES = {"cpu": 1024 * 384, "other": 16384 * 384}
MIN_FULL_SHARE = 0.25  # a batch that is full to this share takes no shorter sequence, which would be padded
TOKENIZED_AT_A_TIME = 16384  # texts or pairs: bounds the memory, changes no score
CHUNK_TEXTS = 4096
CHUNK_CHARACTERS = 4_000_000


def max_tokens(device_type: str, width: int) -> int:
    """Tokens that a transformer of this width takes in one pass on "cpu", "cuda", ..."""
    return BATCH_VALUES.get(device_type, BATCH_VALUES["other"]) // width


def batches_by_length(lengths: Sequence[int], tokens: int, sequences: int = BATCH_SEQUENCES) -> Iterator[list[int]]:
    """Sort sequences by length and cut them into batches of at most so many, and about so many tokens with padding.

    Yields:
        Indices into `lengths`, each of them once, the longest sequences first. A batch has at least one, and ends where
        a shorter sequence follows, unless less than MIN_FULL_SHARE of its tokens are taken.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    begin = 0
    while begin < len(order):
        width = lengths[order[begin]]
        last = min(len(order), begin + min(sequences, max(1, tokens // width)))
        end = begin + 1
        while end < last and (lengths[order[end]] == width or (end - begin) * width < tokens * MIN_FULL_SHARE):
            end += 1
        yield order[begin:end]
        begin = end


def text_chunks(texts: list[str]) -> Iterator[list[str]]:
    """Cut a list into runs of at most CHUNK_TEXTS texts and CHUNK_CHARACTERS characters; a longer text is a run."""
    begin = characters = 0
    for end, text in enumerate(texts):
        if end - begin == CHUNK_TEXTS or (end > begin and characters + len(text) > CHUNK_CHARACTERS):
            yield texts[begin:end]
            begin, characters = end, 0
        characters += len(text)
    if texts:
        yield texts[begin:]
