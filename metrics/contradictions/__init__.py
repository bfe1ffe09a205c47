"""Contradictions: texts that say the opposite of a given one, made by rules, by a chat model or found among others."""

from semantic_metrics.contradictions.generate import RULES, contradict, summary

__all__ = ["RULES", "contradict", "summary"]
