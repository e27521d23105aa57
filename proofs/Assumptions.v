(** What each main theorem rests on. Made by `make names` from index.toml: do not edit. *)

From Novikoff Require Consistent.
From Novikoff Require ConsistentRandom.
From Novikoff Require Halving.
From Novikoff Require TightestBox.
From Novikoff Require WeightedMajority.
From Novikoff Require LowerBounds.
From Novikoff Require Perceptron.
From Novikoff Require Orthogonal.
From Novikoff Require KernelPerceptron.
From Novikoff Require Forgetron.
From Novikoff Require Distilled.
From Novikoff Require Mixing.
From Novikoff Require Bayes.
From Novikoff Require Pruning.
From Novikoff Require ExponentialWeights.
From Novikoff Require AdaHedge.
From Novikoff Require FixedShare.
From Novikoff Require Forest.
From Novikoff Require Coverage.
From Novikoff Require Sleeping.
From Novikoff Require ExpConcave.
From Novikoff Require Delayed.

Print Assumptions Consistent.consistent_mistakes.
Print Assumptions Consistent.consistent_mistakes_a_priori.
Print Assumptions Consistent.consistent_tight.
Print Assumptions ConsistentRandom.consistent_expected.
Print Assumptions ConsistentRandom.consistent_expected_harmonic.
Print Assumptions Halving.halving_mistakes.
Print Assumptions Halving.halving_mistakes_exact.
Print Assumptions Halving.halving_mistakes_prior.
Print Assumptions Halving.halving_mistakes_count.
Print Assumptions Halving.halving_restarts.
Print Assumptions Halving.restarts_at_most_errors.
Print Assumptions TightestBox.tightest_box_mistakes.
Print Assumptions TightestBox.tightest_box_a_priori.
Print Assumptions TightestBox.fitted_stream.
Print Assumptions WeightedMajority.weighted_majority_mistakes.
Print Assumptions WeightedMajority.weighted_majority_pathwise.
Print Assumptions WeightedMajority.weighted_majority_exact.
Print Assumptions LowerBounds.bisection_forced.
Print Assumptions LowerBounds.box_bisection_forced.
Print Assumptions LowerBounds.grid_bisection_forced.
Print Assumptions LowerBounds.plane_bisection_forced.
Print Assumptions LowerBounds.contrarian_regret.
Print Assumptions LowerBounds.majority_flip_forced.
Print Assumptions Perceptron.perceptron_margin.
Print Assumptions Perceptron.perceptron_margin_exact.
Print Assumptions Perceptron.perceptron_margin_integers.
Print Assumptions Perceptron.perceptron_hinge.
Print Assumptions Perceptron.perceptron_hinge_from.
Print Assumptions Perceptron.perceptron_hinge_exact.
Print Assumptions Perceptron.perceptron_lengths.
Print Assumptions Perceptron.perceptron_lengths_scaled.
Print Assumptions Perceptron.perceptron_squared_hinge.
Print Assumptions Orthogonal.orthogonal_forced.
Print Assumptions Orthogonal.perceptron_margin_tight.
Print Assumptions Orthogonal.perceptron_margin_tight_Rn.
Print Assumptions Orthogonal.budget_forced.
Print Assumptions KernelPerceptron.kernel_margin.
Print Assumptions KernelPerceptron.kernel_hinge.
Print Assumptions KernelPerceptron.kernel_lengths.
Print Assumptions KernelPerceptron.kernel_squared_hinge.
Print Assumptions KernelPerceptron.rbp_no_eviction.
Print Assumptions KernelPerceptron.rbp_no_eviction_seen.
Print Assumptions Forgetron.forgetron_pathwise.
Print Assumptions Distilled.cks_cache.
Print Assumptions Mixing.mixing_mistakes.
Print Assumptions Bayes.mixture_regret.
Print Assumptions Bayes.switching_regret.
Print Assumptions Pruning.tree_pruning.
Print Assumptions Pruning.tree_identity.
Print Assumptions Pruning.least_cost.
Print Assumptions ExponentialWeights.mixability_gaps.
Print Assumptions ExponentialWeights.mix_loss_regret.
Print Assumptions ExponentialWeights.anytime_regret.
Print Assumptions ExponentialWeights.anytime_tuned.
Print Assumptions ExponentialWeights.fixed_rate_regret.
Print Assumptions ExponentialWeights.tuned_rate_regret.
Print Assumptions ExponentialWeights.doubling_regret.
Print Assumptions ExponentialWeights.small_losses.
Print Assumptions AdaHedge.ada_hedge_regret.
Print Assumptions FixedShare.fixed_share_regret.
Print Assumptions FixedShare.fixed_share_mix_loss.
Print Assumptions Forest.forest_mean.
Print Assumptions Forest.forest_identity.
Print Assumptions Coverage.coverage_deviation.
Print Assumptions Coverage.coverage_equality.
Print Assumptions Sleeping.sleeping_regret.
Print Assumptions Sleeping.sleeping_gap.
Print Assumptions Sleeping.specialists_regret.
Print Assumptions ExpConcave.exp_concave_regret.
Print Assumptions Forest.forest_gaps.
Print Assumptions Forest.forest_numbers_identity.
Print Assumptions Delayed.delayed_mistakes.
