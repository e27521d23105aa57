"""The arena: a page to watch and play the games of the theorems, against a learner of the library.

scenes/ has a game each, free of transport; replay.py plays what a link says, which may be a stranger's; server.py
answers a browser on this machine. The page itself is in page/: no framework, no chart library.
"""
