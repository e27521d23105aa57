"""Public names for type checkers and editors; `__init__.py` imports each on first use."""

# Made by `make names` from core/registry.py: do not edit.

import builtins

from novikoff.bandits.exp3_ix import Exp3IX as Exp3IX
from novikoff.bandits.exp4 import Exp4 as Exp4
from novikoff.bandits.explore_then_commit import ExploreThenCommit as ExploreThenCommit
from novikoff.bandits.off_policy import PolicyEvaluation as PolicyEvaluation
from novikoff.bandits.off_policy import evaluate_policies as evaluate_policies
from novikoff.bandits.thompson import Thompson as Thompson
from novikoff.bandits.tsallis_inf import TsallisINF as TsallisINF
from novikoff.bandits.ucb1 import UCB1 as UCB1
from novikoff.comparators.hindsight import Hindsight as Hindsight
from novikoff.comparators.hindsight import hindsight as hindsight
from novikoff.conformal.conformal import Conformal as Conformal
from novikoff.convex.adagrad import AdaGrad as AdaGrad
from novikoff.convex.ftrl import FTRL as FTRL
from novikoff.convex.logistic import Logistic as Logistic
from novikoff.convex.multiclass_ftrl import MulticlassFTRL as MulticlassFTRL
from novikoff.convex.multiclass_logistic import MulticlassLogistic as MulticlassLogistic
from novikoff.convex.multiclass_vaw import MulticlassVAW as MulticlassVAW
from novikoff.convex.online_gradient import OnlineGradient as OnlineGradient
from novikoff.convex.vaw import VAW as VAW
from novikoff.core.certificate import Assumption as Assumption
from novikoff.core.certificate import Certificate as Certificate
from novikoff.core.errors import NovikoffError as NovikoffError
from novikoff.core.learner import Learner as Learner
from novikoff.core.observer import Observer as Observer
from novikoff.core.registry import Format as Format
from novikoff.core.registry import register as register
from novikoff.core.stream import Stream as Stream
from novikoff.core.types import Batch as Batch
from novikoff.core.types import Domain as Domain
from novikoff.core.types import Labels as Labels
from novikoff.core.types import Run as Run
from novikoff.data.arrays import Arrays as Arrays
from novikoff.data.arrays import SparseMatrix as SparseMatrix
from novikoff.data.convert import convert as convert
from novikoff.data.formats.labelled_text import Text as Text
from novikoff.data.formats.svmlight import Svmlight as Svmlight
from novikoff.data.formats.vw import VW as VW
from novikoff.data.memory import Advice as Advice
from novikoff.data.memory import ContextualLosses as ContextualLosses
from novikoff.data.memory import Losses as Losses
from novikoff.data.memory import Pairs as Pairs
from novikoff.data.memory import RegressionArrays as RegressionArrays
from novikoff.data.scaled import Scaled as Scaled
from novikoff.data.tables.read_experts import read_experts as read_experts
from novikoff.data.tables.reading import read as read
from novikoff.data.tables.table_formats import CSV as CSV
from novikoff.data.tables.table_formats import JSONL as JSONL
from novikoff.data.tables.table_formats import Arrow as Arrow
from novikoff.data.tables.table_formats import Frame as Frame
from novikoff.distributed.comparator_losses import comparator_losses as comparator_losses
from novikoff.distributed.mixed import ParallelPerceptron as ParallelPerceptron
from novikoff.distributed.parallel_perceptron import parallel_perceptron as parallel_perceptron
from novikoff.drift.monitor import DriftTest as DriftTest
from novikoff.drift.monitor import Monitor as Monitor
from novikoff.evaluation.compare import Comparison as Comparison
from novikoff.evaluation.compare import compare as compare
from novikoff.evaluation.permutation import PermutationTest as PermutationTest
from novikoff.evaluation.permutation import permutation_test as permutation_test
from novikoff.evaluation.repeat import Repeated as Repeated
from novikoff.evaluation.repeat import repeat as repeat
from novikoff.evaluation.simulate_bandits import BanditSimulation as BanditSimulation
from novikoff.evaluation.simulate_bandits import simulate_bandits as simulate_bandits
from novikoff.experts.ada_hedge import AdaHedge as AdaHedge
from novikoff.experts.exponential_weights import ExponentialWeights as ExponentialWeights
from novikoff.experts.fixed_share import FixedShare as FixedShare
from novikoff.experts.hedge import Hedge as Hedge
from novikoff.experts.randomized_weighted_majority import RandomizedWeightedMajority as RandomizedWeightedMajority
from novikoff.experts.sleeping_experts import SleepingExperts as SleepingExperts
from novikoff.experts.specialists import Specialists as Specialists
from novikoff.experts.weighted_majority import WeightedMajority as WeightedMajority
from novikoff.finite.consistent import Consistent as Consistent
from novikoff.finite.constant import Constant as Constant
from novikoff.finite.cover_halving import CoverHalving as CoverHalving
from novikoff.finite.halving import Halving as Halving
from novikoff.finite.midpoint import Midpoint as Midpoint
from novikoff.finite.rectangle_halving import RectangleHalving as RectangleHalving
from novikoff.finite.threshold_halving import ThresholdHalving as ThresholdHalving
from novikoff.finite.tightest_box import TightestBox as TightestBox
from novikoff.game.game import Game as Game
from novikoff.game.ledger import Ledger as Ledger
from novikoff.game.persistence import load as load
from novikoff.game.persistence import save as save
from novikoff.game.play import play as play
from novikoff.game.specs import make as make
from novikoff.integrations.wrap import wrap as wrap
from novikoff.kernel.crammer_kandola_singer import CrammerKandolaSinger as CrammerKandolaSinger
from novikoff.kernel.forgetron import Forgetron as Forgetron
from novikoff.kernel.kernel_perceptron import KernelPerceptron as KernelPerceptron
from novikoff.kernel.kernels import Kernel as Kernel
from novikoff.kernel.multiclass_kernel_perceptron import MulticlassKernelPerceptron as MulticlassKernelPerceptron
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron as RandomizedBudgetPerceptron
from novikoff.kernel.tighter import TighterPerceptron as TighterPerceptron
from novikoff.linear.arow import AROW as AROW
from novikoff.linear.ellipsoid import Ellipsoid as Ellipsoid
from novikoff.linear.multiclass_perceptron import MulticlassPerceptron as MulticlassPerceptron
from novikoff.linear.multiclass_second_order_perceptron import (
    MulticlassSecondOrderPerceptron as MulticlassSecondOrderPerceptron,
)
from novikoff.linear.perceptron import Perceptron as Perceptron
from novikoff.linear.second_order_perceptron import SecondOrderPerceptron as SecondOrderPerceptron
from novikoff.mixtures.auto import Auto as Auto
from novikoff.mixtures.auto_regression import AutoRegression as AutoRegression
from novikoff.mixtures.linear_mixture import LinearMixture as LinearMixture
from novikoff.mixtures.linear_mixture_regression import LinearMixtureRegression as LinearMixtureRegression
from novikoff.mixtures.multiclass_auto import MulticlassAuto as MulticlassAuto
from novikoff.mixtures.multiclass_linear_mixture import MulticlassLinearMixture as MulticlassLinearMixture
from novikoff.online_to_batch.finalize import OnlineToBatch as OnlineToBatch
from novikoff.online_to_batch.finalize import finalize as finalize
from novikoff.online_to_batch.parallel_gradient import parallel_gradient as parallel_gradient
from novikoff.reports.explanation import explain as explain
from novikoff.reports.listing import list as list
from novikoff.reports.page import report as report
from novikoff.trees.forest import Forest as Forest
from novikoff.trees.forest_regression import ForestRegression as ForestRegression
from novikoff.trees.multiclass_forest import MulticlassForest as MulticlassForest
from novikoff.trees.multiclass_tree import MulticlassTree as MulticlassTree
from novikoff.trees.tree import Tree as Tree
from novikoff.trees.tree_regression import TreeRegression as TreeRegression

from . import adversaries as adversaries
from . import testing as testing
from .data import synthetic as synthetic
from .finite import classes as classes

__version__: str
__all__: builtins.list[str]
