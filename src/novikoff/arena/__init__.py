"""Arena: a web page to watch a learner of the library play, or to play against it.

`scenes/` has one game per file, without network code; `replay.py` plays the script of a link, which is untrusted;
`server.py` answers a browser on this machine. The page itself is in `page/`: no framework, no chart library.
"""
