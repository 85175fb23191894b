# Written by `make pages`: where each public name is defined.

from rankstone.collections.reproduction import reproduce as reproduce
from rankstone.collections.reproduction_result import Reproduction as Reproduction
from rankstone.collections.run_cards import RunCard as RunCard
from rankstone.collections.run_cards import certify as certify
from rankstone.collections.verification import verify as verify
from rankstone.collections.verification_result import Verification as Verification
from rankstone.collections.collection_study import collection as collection
from rankstone.collections.collection_result import Collection as Collection

__all__ = [
    "Collection",
    "Reproduction",
    "RunCard",
    "Verification",
    "certify",
    "collection",
    "reproduce",
    "verify",
]
