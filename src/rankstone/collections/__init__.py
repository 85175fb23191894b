"""Collections: what a pool of judgments can carry, repeated experiments, and cards that prove numbers."""

from rankstone import lazy_names

#: module → the public names it defines, imported at first use; the stub is generated from this table
PUBLIC = {
    "reproduction": ("reproduce",),
    "reproduction_result": ("Reproduction",),
    "run_cards": ("RunCard", "certify"),
    "verification": ("verify",),
    "verification_result": ("Verification",),
    "collection_study": ("collection",),
    "collection_result": ("Collection",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
