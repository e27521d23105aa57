(** Regret of the mixture under log loss and squared loss: a constant, for any number of rounds.

    exp_concave_regret (src/novikoff/experts/theorems/exp_concave_regret.py). The weights are proportional to
    prior * exp(-r L), and the mixture of the predictions is played. If exp(-r loss(p, y)) is concave in p, its loss in a
    round is at most the mix loss, and so for every expert i

        loss of the mixture  <=  L_i + ln(1/prior_i) / r.

    Squared loss, p and y in [0, 1]: every r <= 1/2, so 2 ln N. Log loss: r = 1, so ln N. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums Hoeffding ExponentialWeights.
Import ListNotations.
Open Scope R_scope.

(** ** exp(-r z^2) is concave on [-1, 1] for r <= 1/2 *)

Section Tangent.
  Variable r : R.
  Hypothesis r_range : 0 < r <= / 2.

  Let f (z : R) : R := exp (- (r * (z * z))).
  Let f' (z : R) : R := f z * (- (2 * r * z)).
  Let f'' (z : R) : R := f' z * (- (2 * r * z)) + f z * (- (2 * r)).

  Lemma f_derivative z : derivable_pt_lim f z (f' z).
  Proof.
    assert (derivable_pt_lim (fun z => - (r * (z * z))) z (- (2 * r * z))) as Inner.
    { refine (derivable_value _ _ _ _ _
                (derivable_pt_lim_opp (mult_real_fct r (mult_fct id id)) z _
                   (derivable_pt_lim_scal (mult_fct id id) r z _
                      (derivable_pt_lim_mult id id z _ _ (derivable_pt_lim_id z) (derivable_pt_lim_id z))))).
      unfold id. ring. }
    exact (derivable_pt_lim_comp (fun z => - (r * (z * z))) exp z _ _ Inner (derivable_pt_lim_exp _)).
  Qed.

  Lemma f'_derivative z : derivable_pt_lim f' z (f'' z).
  Proof.
    assert (derivable_pt_lim (fun z => - (2 * r * z)) z (- (2 * r))) as Line.
    { refine (derivable_value _ _ _ _ _
                (derivable_pt_lim_opp (mult_real_fct (2 * r) id) z _
                   (derivable_pt_lim_scal id (2 * r) z _ (derivable_pt_lim_id z)))). ring. }
    exact (derivable_pt_lim_mult f (fun z => - (2 * r * z)) z _ _ (f_derivative z) Line).
  Qed.

  Lemma f''_nonpos z : -1 <= z <= 1 -> f'' z <= 0.
  Proof.
    intros Hz. unfold f'', f'. assert (0 < f z) by apply exp_pos.
    assert (0 <= z * z <= 1) by nra.
    replace (f z * - (2 * r * z) * - (2 * r * z) + f z * - (2 * r)) with (- (f z * (2 * r * (1 - 2 * r * (z * z))))) by ring.
    assert (0 <= 1 - 2 * r * (z * z)) by nra.
    assert (0 <= f z * (2 * r * (1 - 2 * r * (z * z)))); [|lra].
    apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra.
  Qed.

  Lemma f'_falls a b : -1 <= a -> a <= b -> b <= 1 -> f' b <= f' a.
  Proof.
    intros Ha [Hab|<-] Hb; [|lra].
    destruct (MVT_cor2 f' f'' a b Hab) as [c [E C]]; [intros; apply f'_derivative|].
    pose proof (f''_nonpos c ltac:(lra)). nra.
  Qed.

  (** Below its tangent. *)
  Lemma f_tangent z0 z : -1 <= z0 <= 1 -> -1 <= z <= 1 -> f z <= f z0 + f' z0 * (z - z0).
  Proof.
    intros H0 Hz. destruct (Rtotal_order z0 z) as [L|[<-|L]]; [|lra|].
    - destruct (MVT_cor2 f f' z0 z L) as [c [E C]]; [intros; apply f_derivative|].
      pose proof (f'_falls z0 c ltac:(lra) ltac:(lra) ltac:(lra)). nra.
    - destruct (MVT_cor2 f f' z z0 L) as [c [E C]]; [intros; apply f_derivative|].
      pose proof (f'_falls c z0 ltac:(lra) ltac:(lra) ltac:(lra)). nra.
  Qed.
End Tangent.

(** The mean of exp(-r z^2) is at most its value at the mean. *)
Lemma squares_mix {I : Type} (l : list I) (w z : I -> R) r :
  0 < r <= / 2 -> (forall i, In i l -> 0 <= w i) -> sum w l = 1 -> (forall i, In i l -> -1 <= z i <= 1) ->
  sum (fun i => w i * exp (- (r * (z i * z i)))) l
    <= exp (- (r * (sum (fun i => w i * z i) l * sum (fun i => w i * z i) l))).
Proof.
  intros Hr W One Range. set (m := sum (fun i => w i * z i) l).
  assert (-1 <= m <= 1) as Hm.
  { assert (sum (fun i => -1 * w i) l <= m <= sum (fun i => 1 * w i) l) as B; [|rewrite !sum_scale, One in B; lra].
    split; apply sum_le; intros i Hi; specialize (W i Hi); specialize (Range i Hi); nra. }
  apply Rle_trans with
    (sum (fun i => w i * (exp (- (r * (m * m))) + exp (- (r * (m * m))) * - (2 * r * m) * (z i - m))) l).
  - apply sum_le. intros i Hi. apply Rmult_le_compat_l; [auto|]. apply (f_tangent r Hr m (z i) Hm (Range i Hi)).
  - right. rewrite (sum_ext _ (fun i => (exp (- (r * (m * m))) + exp (- (r * (m * m))) * (2 * r * m) * m) * w i
                                        - exp (- (r * (m * m))) * (2 * r * m) * (w i * z i))) by (intros; ring).
    rewrite sum_minus, !sum_scale, One. fold m. ring.
Qed.

Section Mixture.
  Context {I : Type}.
  Variable experts : list I.
  Variable prior : I -> R.
  Hypothesis prior_pos : forall i, 0 < prior i.
  Hypothesis prior_sum : sum prior experts <= 1.
  Hypothesis some_expert : experts <> [].

  (** A round: the predictions of the experts, and the outcome. *)
  Local Notation round := ((I -> R) * R)%type.
  Definition proper (t : round) : Prop := (forall i, 0 <= fst t i <= 1) /\ 0 <= snd t <= 1.
  Definition squared (t : round) (i : I) : R := (fst t i - snd t) * (fst t i - snd t).

  (** The mixture of the predictions, given the squared losses L so far. *)
  Definition mixture (r : R) (L : I -> R) (t : round) : R := sum (fun i => w experts prior r L i * fst t i) experts.

  (** Squared loss of the mixture over the game. *)
  Fixpoint mixture_loss (r : R) (L : I -> R) (s : list round) : R :=
    match s with
    | [] => 0
    | t :: rest => (mixture r L t - snd t) * (mixture r L t - snd t) + mixture_loss r (fun i => L i + squared t i) rest
    end.

  (** In each round it is at most the mix loss. *)
  Lemma round_le_mix r L t : 0 < r <= / 2 -> proper t ->
    (mixture r L t - snd t) * (mixture r L t - snd t) <= mix_loss experts prior L (r, squared t).
  Proof.
    intros Hr [Hp Hy]. unfold mix_loss. simpl fst. simpl snd.
    pose proof (w_sum experts prior prior_pos prior_sum some_expert r L) as One.
    pose proof (squares_mix experts (w experts prior r L) (fun i => fst t i - snd t) r Hr
                  (fun i _ => Rlt_le _ _ (w_pos experts prior prior_pos prior_sum some_expert r L i)) One
                  (fun i _ => ltac:(pose proof (Hp i); lra))) as J.
    assert (sum (fun i => w experts prior r L i * (fst t i - snd t)) experts = mixture r L t - snd t) as Eq.
    { rewrite (sum_ext _ (fun i => w experts prior r L i * fst t i - snd t * w experts prior r L i)) by (intros; ring).
      rewrite sum_minus, sum_scale, One. unfold mixture. ring. }
    cbv beta in J. rewrite Eq in J. set (z := mixture r L t - snd t) in *.
    change (sum (fun i => w experts prior r L i * exp (- (r * ((fst t i - snd t) * (fst t i - snd t))))) experts)
      with (sum (fun i => w experts prior r L i * exp (- (r * squared t i))) experts) in J.
    set (e := sum (fun i => w experts prior r L i * exp (- (r * squared t i))) experts) in *.
    assert (0 < e) as E0.
    { unfold e. rewrite (mean_exp experts prior prior_pos prior_sum some_expert).
      apply Rdiv_lt_0_compat; apply (total_pos experts prior prior_pos prior_sum some_expert). }
    assert (ln e <= - (r * (z * z))) by (rewrite <- (ln_exp (- (r * (z * z)))); apply ln_le; assumption).
    apply Rmult_le_reg_l with r; [lra|]. replace (r * - (ln e / r)) with (- ln e) by (field; lra). lra.
  Qed.

  Theorem exp_concave_regret : forall r s i, 0 < r <= / 2 -> s <> [] -> (forall t, In t s -> proper t) -> In i experts ->
    mixture_loss r (fun _ => 0) s <= sum (fun t => squared t i) s + ln (/ prior i) / r.
  Proof.
    intros r s i Hr NE Ok Hi.
    assert (forall s L, (forall t, In t s -> proper t) ->
              mixture_loss r L s <= over (mix_loss experts prior) L (at_rate r (map squared s))) as Le.
    { induction s0 as [|t s0 IH]; intros L Ok0; simpl; [lra|].
      pose proof (round_le_mix r L t Hr (Ok0 t (or_introl eq_refl))).
      specialize (IH (fun i => L i + squared t i) (fun u U => Ok0 u (or_intror U))). unfold add. simpl snd in *. lra. }
    specialize (Le s (fun _ => 0) Ok). destruct s as [|t s]; [congruence|].
    pose proof (mix_loss_regret experts prior prior_pos prior_sum some_expert (at_rate r (map squared s)) (r, squared t) i Hi
                  (at_rate_falling r (map squared (t :: s)) ltac:(lra))) as H.
    change ((r, squared t) :: at_rate r (map squared s)) with (at_rate r (map squared (t :: s))) in H.
    rewrite after_loss, sum_map in H. simpl fst in H. rewrite at_rate_last in H. lra.
  Qed.

  (** Log loss at r = 1: exp(-loss) is the probability itself, so the loss of the mixture IS the mix loss. The regret is
      mixture_regret in Bayes.v. *)
  Lemma log_loss_is_mix_loss L (P : I -> R) : (forall i, 0 < P i) ->
    - ln (sum (fun i => w experts prior 1 L i * P i) experts) = mix_loss experts prior L (1, fun i => - ln (P i)).
  Proof.
    intros Pos. unfold mix_loss. simpl fst. simpl snd. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. f_equal. f_equal.
    apply sum_ext. intros i _. replace (- (1 * - ln (P i))) with (ln (P i)) by ring. rewrite exp_ln by auto. reflexivity.
  Qed.
End Mixture.
