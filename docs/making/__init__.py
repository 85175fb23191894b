"""The site of the documents: pages that rankstone writes about itself, and the folder a site is built from.

``python -m docs.making catalogue`` writes the catalogue of measures, ``python -m docs.making pages`` what is
committed under ``docs/``; ``python -m docs.making stage`` lays out ``build/docs`` and
``build/zensical.toml``, of which Zensical builds ``build/site``.
"""
