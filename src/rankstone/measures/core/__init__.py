"""What every measure is made of: definition, syntax, registry, gains and discounts, exact sums."""
