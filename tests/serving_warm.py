"""Compile the loops of the service: imported by the process from which services are forked (serving_process.py)."""

from novikoff.server.model_game import Play, begin
from novikoff.server.wire import Model

Play(begin(Model("perceptron:bias=1", "ham", "spam", bits=10), "m"), 10).warm_up("pairs")
