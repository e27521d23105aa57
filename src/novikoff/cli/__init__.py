"""Command line: parses arguments, calls the library, prints results."""
