"""Checker of certificates: reads a proof file and the data it names, and trusts nothing that novikoff computed.

It imports the standard library only, and computes with integers, fractions and decimals of 60 digits. Its files:

    exact.py     numbers, and bounds on roots, logarithms and binomial tails
    rows.py      rows of the data, their canonical text, and its SHA-256
    hypotheses.py  finite classes, and the hypotheses that are left
    kernels.py   kernels, and the error that doubles make
    ridge.py     ridge regression: the inverse of its matrix
    leader.py    follow the regularised leader, for the log loss
    theorems.py  one class per theorem: the statement, the bound that follows from the sums, and the sums of the data
    rules.py     the learners in textbook form, replayed on the data
    command.py   novikoff verify PROOF [DATA]

docs/proofs.md describes the format of a proof file.
"""
