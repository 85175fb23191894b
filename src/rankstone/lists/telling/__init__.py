"""What measures of lists tell of the numbers they compute with, and how that is shown."""
