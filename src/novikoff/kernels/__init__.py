"""Compiled loops over flat arrays.

`from novikoff import kernels` costs nothing: a kernel, and numba with the first of them, is imported when it is first
used, as in `kernels.forgetron.learn_many(...)`. Only the layouts (records shared with learners) and
coins.py need no numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

spare_foreign = False
"""Set before the first kernel is imported: numba then looks neither for scipy's BLAS, which takes 0.2 s, nor for cffi.
No kernel here needs them, but a program's own numba functions might, so only our command line, a process of its own,
sets it."""

if TYPE_CHECKING:
    from novikoff.kernels import ada_hedge as ada_hedge
    from novikoff.kernels import adagrad as adagrad
    from novikoff.kernels import advice as advice
    from novikoff.kernels import auto as auto
    from novikoff.kernels import bandits as bandits
    from novikoff.kernels import conformal as conformal
    from novikoff.kernels import crammer_kandola_singer as crammer_kandola_singer
    from novikoff.kernels import ellipsoid as ellipsoid
    from novikoff.kernels import forgetron as forgetron
    from novikoff.kernels import fourier as fourier
    from novikoff.kernels import ftrl as ftrl
    from novikoff.kernels import kernel_perceptron as kernel_perceptron
    from novikoff.kernels import lanes as lanes
    from novikoff.kernels import log_losses as log_losses
    from novikoff.kernels import logits as logits
    from novikoff.kernels import many_auto as many_auto
    from novikoff.kernels import many_ftrl as many_ftrl
    from novikoff.kernels import many_kernel_perceptron as many_kernel_perceptron
    from novikoff.kernels import many_logistic as many_logistic
    from novikoff.kernels import many_losses as many_losses
    from novikoff.kernels import many_perceptron as many_perceptron
    from novikoff.kernels import many_second_order as many_second_order
    from novikoff.kernels import metric_perceptron as metric_perceptron
    from novikoff.kernels import nonzeros as nonzeros
    from novikoff.kernels import online_gradient as online_gradient
    from novikoff.kernels import perceptron as perceptron
    from novikoff.kernels import randomized_budget as randomized_budget
    from novikoff.kernels import rows as rows
    from novikoff.kernels import scaling as scaling
    from novikoff.kernels import second_order as second_order
    from novikoff.kernels import sharing as sharing
    from novikoff.kernels import simplex as simplex
    from novikoff.kernels import sleeping as sleeping
    from novikoff.kernels import softmax as softmax
    from novikoff.kernels import specialists as specialists
    from novikoff.kernels import standings as standings
    from novikoff.kernels import supports as supports
    from novikoff.kernels import survivors as survivors
    from novikoff.kernels import threshold_halving as threshold_halving
    from novikoff.kernels import tighter as tighter
else:

    def __getattr__(name):
        """The kernel of that name; Python asks only until it has been imported."""
        import importlib

        full = f"{__name__}.{name}"
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
