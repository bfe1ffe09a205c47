"""Statistics on scores, with numpy and scipy alone: agreement, separation, significance, binary decisions."""
