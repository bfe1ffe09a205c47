"""Reading what is written: quantities, signs and names of a text, and what two texts have in common of them."""
