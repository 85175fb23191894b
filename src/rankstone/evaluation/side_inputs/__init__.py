"""What only some requests need besides judgments and a run; a plain evaluation imports nothing of it.

In: tables of documents, of equal documents and of pairs; out: tables and judgments that know what these say.
"""
