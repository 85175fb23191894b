"""TruLens 2.13's own numbers: the metrics of later versions, in which a copy counts again."""

LIKE = "trulens.py"
LIBRARY = "trulens-2.13"
REQUIRES = ["trulens-feedback==2.13.*"]
