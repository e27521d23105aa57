"""Benchmarks behind every claim on speed and quality: `make bench`, or `python -m benchmarks NAME ...` for some."""
