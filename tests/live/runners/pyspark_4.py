"""PySpark 4's own numbers: those of the runner of version 3."""

LIKE = "pyspark.py"
LIBRARY = "pyspark-4.3"
REQUIRES = ["pyspark==4.3.*", "numpy"]
