"""Tests; they mirror the modules. Those that take `data_folder` are marked `real_data` (SEMANTIC_METRICS_DATA)."""
