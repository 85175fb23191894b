# Written by `make pages`: where each public name is defined.

from rankstone.conventions.identification.identification import identify as identify
from rankstone.conventions.identification.identification_result import Identification as Identification
from rankstone.conventions.identification.reported_number import Printed as Printed
from rankstone.conventions.identification.search_space import Group as Group
from rankstone.conventions.identification.search_space import Way as Way

__all__ = [
    "Group",
    "Identification",
    "Printed",
    "Way",
    "identify",
]
