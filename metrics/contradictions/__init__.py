"""Contradictions: texts that say the opposite of a given one, made by rules, by a chat model or found among others."""
