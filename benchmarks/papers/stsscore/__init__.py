"""The tables and figures of the STSScore paper."""
