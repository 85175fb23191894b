"""Integrations: arrays of NumPy, PyTorch and JAX, boosting libraries, scikit-learn, Optuna, ir_measures.

Each module imports its library when it is first used.
"""
