"""The fifteen sets of Li et al., Findings of ACL 2026, appendix A.1: where each is and how much of it is taken."""

from dataclasses import dataclass

from training.data.paper import loaders
from training.data.paper.loaders import Loader
from training.data.paper.rows import Place

SIMPLIFIED, CAPTIONS = loaders.pairs("text", "simplified"), loaders.pairs("caption1", "caption2")
SAMPLED = 100_000  # "100k randomly sampled examples each": COCO, Flickr30k, QQP, ParaNMT, WikiAnswers


@dataclass(frozen=True)
class PaperSet:
    """A training set.

    Attributes:
        load: rows -> items.
        place: where its rows are; None if they must be fetched by hand.
        contrastive: whether its incorrect texts contradict, rather than being random other ones.
        cap: number of examples to sample; None takes all.
        fetch: where to get the file that `place` cannot name.
    """

    load: Loader
    place: Place | None = None
    contrastive: bool = False
    cap: int | None = None
    fetch: str = ""


def _pairs_of(name: str) -> Place:
    return Place(f"sentence-transformers/{name}", "pair")


# In the paper's order, except that the contrastive ones come first. The authors' code takes 14: without STS-B and
# Sentence Compression, and with MultiNLI's mismatched development set, which this project selects checkpoints by.
SETS: dict[str, PaperSet] = {
    "snli": PaperSet(loaders.nli, Place("stanfordnlp/snli"), contrastive=True),
    "multinli": PaperSet(loaders.nli, Place("nyu-mll/multi_nli"), contrastive=True),
    "vitaminc": PaperSet(loaders.vitaminc, Place("tals/vitaminc"), contrastive=True),
    "qqp": PaperSet(loaders.qqp, Place("nyu-mll/glue", "qqp"), contrastive=True, cap=SAMPLED),
    # its only split; the claims and the evidence of the evaluation are dropped
    "climate_fever": PaperSet(loaders.climate_fever, Place("tdiggelm/climate_fever", split="test")),
    "newts": PaperSet(loaders.newts, fetch="NEWTS_train_2400.csv of https://github.com/ali-bahrainian/NEWTS"),
    "altlex": PaperSet(SIMPLIFIED, _pairs_of("altlex")),
    "simplewiki": PaperSet(SIMPLIFIED, _pairs_of("simple-wiki")),
    "sentence_compression": PaperSet(SIMPLIFIED, _pairs_of("sentence-compression")),
    "wikihow": PaperSet(loaders.pairs("text", "summary"), _pairs_of("wikihow")),
    "stsb": PaperSet(loaders.stsb, Place("sentence-transformers/stsb")),
    "coco": PaperSet(CAPTIONS, _pairs_of("coco-captions"), cap=SAMPLED),
    "flickr30k": PaperSet(CAPTIONS, _pairs_of("flickr30k-captions"), cap=SAMPLED),
    "paranmt": PaperSet(
        loaders.paranmt,
        cap=SAMPLED,
        fetch="para-nmt-50m.txt, unpacked from para-nmt-50m.zip, of https://www.cs.cmu.edu/~jwieting",
    ),
    "wikianswers": PaperSet(loaders.wikianswers, Place("embedding-data/WikiAnswers"), cap=SAMPLED),
}
