"""Every speed claim, measured: `make bench`, or `python -m benchmarks NAME ...` for some."""
