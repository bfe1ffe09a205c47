"""Statistics on scores, with numpy, scipy and scikit-learn: agreement, separation, significance, binary decisions."""
