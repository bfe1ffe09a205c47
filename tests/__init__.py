"""Tests; they mirror the modules. Those marked `real_data` need SEMANTIC_METRICS_DATA."""
