"""The tiny cross-encoders of tests/cross_encoder, and the metric with each."""

from tests.cross_encoder.conftest import SCRIPT, bert, copied, folder, metric, one_metric, roberta, unigram

__all__ = ["SCRIPT", "bert", "copied", "folder", "metric", "one_metric", "roberta", "unigram"]
