"""Contradictions: texts that say the opposite of a given one, made by rules and checked by a model of NLI."""

from semantic_metrics.contradictions.generate import RULES, contradict, summary

__all__ = ["RULES", "contradict", "summary"]
