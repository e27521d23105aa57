(** Regret of exponential weights.

    Losses lie in [0, S]. In round t the weights are proportional to prior * exp(-r_t L), L the losses of the rounds
    before, with rates r_1 >= r_2 >= ... > 0. h_t is the mean loss under the weights, m_t = -(1/r_t) ln of the mean of
    exp(-r_t loss). Priors are positive and sum to at most 1. For all losses, also if they react to the learner, every
    expert i and every T:

    - mixability_gaps (src/novikoff/experts/theorems/mixability_gaps.py):
        sum of h_t  <=  L_i + ln(1/prior_i) / r_T + sum of (h_t - m_t).
    - anytime_regret (anytime_regret.py):
        sum of h_t  <=  L_i + ln(1/prior_i) / r_T + S^2/8 (r_1 + ... + r_T).
    - fixed_rate_regret (fixed_rate_regret.py), one rate r:
        sum of h_t  <=  L_i + ln(1/prior_i) / r + r T S^2 / 8.
    - small_losses (small_losses.py), one rate r:
        sum of h_t  <=  S (r L_i + ln(1/prior_i)) / (1 - exp(-r S)).

    - doubling_regret (doubling_regret.py), weights that begin again in every epoch, n_k rounds at the rate r_k:
        sum of h_t  <=  L_i + sum over epochs of ( ln(1/prior_i) / r_k + r_k n_k S^2 / 8 ).

    With N experts of equal weight the third is S sqrt(T ln N / 2) at the rate r = sqrt(8 ln N / T) / S, and the second is
    S sqrt(T ln N), for every T, at the rates r_t = 2 sqrt(ln N / t) / S. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums Hoeffding.
Import ListNotations.
Open Scope R_scope.

Section ExponentialWeights.
  Context {I : Type}.
  Variable experts : list I.
  Variable prior : I -> R.
  Hypothesis prior_pos : forall i, 0 < prior i.
  Hypothesis prior_sum : sum prior experts <= 1.
  Hypothesis some_expert : experts <> [].

  (** A round: the rate and the losses of the experts. *)
  Local Notation round := (R * (I -> R))%type.

  (** Total weight at the rate r, given the losses L so far. *)
  Definition total (r : R) (L : I -> R) : R := sum (fun i => prior i * exp (- (r * L i))) experts.
  Definition w (r : R) (L : I -> R) (i : I) : R := prior i * exp (- (r * L i)) / total r L.

  Definition mean_loss (L : I -> R) (t : round) : R := sum (fun i => w (fst t) L i * snd t i) experts.
  Definition mix_loss (L : I -> R) (t : round) : R :=
    - (ln (sum (fun i => w (fst t) L i * exp (- (fst t * snd t i))) experts) / fst t).
  Definition add (L : I -> R) (t : round) : I -> R := fun i => L i + snd t i.

  (** Sums over the game, from the losses L on. *)
  Fixpoint over (f : (I -> R) -> round -> R) (L : I -> R) (s : list round) : R :=
    match s with
    | [] => 0
    | t :: rest => f L t + over f (add L t) rest
    end.

  Fixpoint after (L : I -> R) (s : list round) : I -> R :=
    match s with
    | [] => L
    | t :: rest => after (add L t) rest
    end.

  (** Rates are positive and never rise. *)
  Fixpoint falling (s : list round) : Prop :=
    match s with
    | [] => True
    | t :: rest => 0 < fst t /\ match rest with [] => True | u :: _ => fst u <= fst t end /\ falling rest
    end.

  (** The last rate; [r] if there is no round. *)
  Fixpoint last_rate (r : R) (s : list round) : R :=
    match s with
    | [] => r
    | t :: rest => last_rate (fst t) rest
    end.

  Lemma total_pos r L : 0 < total r L.
  Proof.
    unfold total. destruct experts as [|i l] eqn:E; [congruence|]. simpl.
    assert (0 < prior i * exp (- (r * L i))) by (apply Rmult_lt_0_compat; [auto|apply exp_pos]).
    assert (0 <= sum (fun i => prior i * exp (- (r * L i))) l); [|lra].
    apply sum_nonneg. intros. apply Rmult_le_pos; left; [auto|apply exp_pos].
  Qed.

  Lemma w_pos r L i : 0 < w r L i.
  Proof.
    unfold w. apply Rdiv_lt_0_compat; [|apply total_pos]. apply Rmult_lt_0_compat; [auto|apply exp_pos].
  Qed.

  Lemma w_sum r L : sum (w r L) experts = 1.
  Proof.
    unfold w. pose proof (total_pos r L).
    rewrite (sum_ext _ (fun i => / total r L * (prior i * exp (- (r * L i))))) by (intros; field; lra).
    rewrite sum_scale. change (sum _ experts) with (total r L). field. lra.
  Qed.

  (** F(r) = -(1/r) ln(total): a mix loss is a difference of two of these. *)
  Definition F (r : R) (L : I -> R) : R := - (ln (total r L) / r).

  Lemma mean_exp r L l : sum (fun i => w r L i * exp (- (r * l i))) experts = total r (fun i => L i + l i) / total r L.
  Proof.
    unfold w. pose proof (total_pos r L).
    rewrite (sum_ext _ (fun i => / total r L * (prior i * exp (- (r * (L i + l i)))))).
    - rewrite sum_scale. change (sum (fun i => prior i * exp (- (r * (L i + l i)))) experts)
        with (total r (fun i => L i + l i)). field. lra.
    - intros i _. replace (- (r * (L i + l i))) with (- (r * L i) + - (r * l i)) by ring. rewrite exp_plus. field. lra.
  Qed.

  Lemma mix_loss_telescopes L t : fst t <> 0 -> mix_loss L t = F (fst t) (add L t) - F (fst t) L.
  Proof.
    intros N. unfold mix_loss, F. rewrite mean_exp.
    change (fun i => L i + snd t i) with (add L t). rewrite ln_div by apply total_pos. field. assumption.
  Qed.

  (** F does not fall when the rate does. With z = ln(total r)/r and theta = r'/r, each exp(theta (-r L - r z)) is at most
      theta exp(-r L - r z) + 1 - theta. *)
  Lemma F_rate r r' L : 0 < r' <= r -> F r L <= F r' L.
  Proof.
    intros Hr. unfold F. set (z := ln (total r L)).
    assert (0 < r) by lra.
    set (theta := r' / r).
    assert (0 <= theta <= 1) as Th.
    { unfold theta. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with r; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (sum (fun i => prior i * exp (- (r' * L i) - theta * z)) experts <= 1) as B.
    { apply Rle_trans with (sum (fun i => theta * (prior i * exp (- (r * L i) - z)) + (1 - theta) * prior i) experts).
      - apply sum_le. intros i _.
        replace (- (r' * L i) - theta * z) with (theta * (- (r * L i) - z) + (1 - theta) * 0) by (unfold theta; field; lra).
        pose proof (exp_convex theta (- (r * L i) - z) 0 Th) as C. rewrite exp_0 in C.
        pose proof (prior_pos i).
        assert (prior i * exp (theta * (- (r * L i) - z) + (1 - theta) * 0)
                <= prior i * (theta * exp (- (r * L i) - z) + (1 - theta) * 1)) by (apply Rmult_le_compat_l; lra).
        lra.
      - rewrite sum_plus, !sum_scale.
        assert (sum (fun i => prior i * exp (- (r * L i) - z)) experts = 1) as ->.
        { unfold Rminus. rewrite (sum_ext _ (fun i => exp (- z) * (prior i * exp (- (r * L i)))))
            by (intros; rewrite exp_plus; ring).
          rewrite sum_scale. change (sum _ experts) with (total r L).
          rewrite <- (exp_ln (total r L)) by apply total_pos. fold z. rewrite <- exp_plus, Rplus_opp_l. apply exp_0. }
        nra. }
    assert (total r' L * exp (- (theta * z)) <= 1) as B'.
    { eapply Rle_trans; [|apply B]. right. unfold total. rewrite Rmult_comm, <- sum_scale. apply sum_ext.
      intros i _. unfold Rminus. rewrite exp_plus. ring. }
    assert (ln (total r' L) <= theta * z) as Ln.
    { pose proof (total_pos r' L). pose proof (exp_pos (- (theta * z))).
      assert (ln (total r' L * exp (- (theta * z))) <= ln 1) as K.
      { apply ln_le; [apply Rmult_lt_0_compat; assumption|assumption]. }
      rewrite ln_mult, ln_exp, ln_1 in K by assumption. lra. }
    assert (ln (total r' L) / r' <= z / r); [|lra].
    apply Rmult_le_reg_r with r'; [lra|].
    replace (ln (total r' L) / r' * r') with (ln (total r' L)) by (field; lra).
    replace (z / r * r') with (theta * z) by (unfold theta; field; lra). assumption.
  Qed.

  (** One expert's term: F(r) <= L_i + ln(1/prior_i)/r. *)
  Lemma F_expert r L i : 0 < r -> In i experts -> F r L <= L i + ln (/ prior i) / r.
  Proof.
    intros Hr Hi. unfold F. pose proof (prior_pos i). pose proof (exp_pos (- (r * L i))).
    assert (ln (prior i * exp (- (r * L i))) <= ln (total r L)) as K.
    { apply ln_le; [apply Rmult_lt_0_compat; assumption|].
      apply (sum_member (fun i => prior i * exp (- (r * L i)))); [|assumption].
      intros. apply Rmult_le_pos; left; [auto|apply exp_pos]. }
    rewrite ln_mult, ln_exp in K by assumption. rewrite ln_Rinv by assumption.
    apply Rmult_le_reg_r with r; [assumption|].
    replace (- (ln (total r L) / r) * r) with (- ln (total r L)) by (field; lra).
    replace ((L i + - ln (prior i) / r) * r) with (r * L i - ln (prior i)) by (field; lra). lra.
  Qed.

  (** At the start F >= 0, as priors sum to at most 1. *)
  Lemma F_start r : 0 < r -> 0 <= F r (fun _ => 0).
  Proof.
    intros Hr. unfold F. assert (ln (total r (fun _ => 0)) <= 0) as K.
    { apply Rle_trans with (ln 1); [|rewrite ln_1; lra]. apply ln_le; [apply total_pos|]. unfold total.
      rewrite (sum_ext _ prior); [assumption|]. intros. cbv beta. rewrite Rmult_0_r, Ropp_0, exp_0. ring. }
    assert (0 <= - ln (total r (fun _ => 0)) / r); [|unfold Rdiv in *; lra].
    apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; assumption].
  Qed.

  (** The sum of the mix losses, from any L. *)
  Lemma mix_losses i : In i experts -> forall s t L, falling (t :: s) ->
    over mix_loss L (t :: s)
      <= after L (t :: s) i + ln (/ prior i) / last_rate (fst t) s - F (fst t) L.
  Proof.
    intros Hi. induction s as [|u s IH]; intros t L Fall; destruct Fall as [Pos [Le Fall]].
    - cbn [over after last_rate]. rewrite mix_loss_telescopes by lra.
      pose proof (F_expert (fst t) (add L t) i Pos Hi). lra.
    - specialize (IH u (add L t) Fall).
      change (over mix_loss L (t :: u :: s)) with (mix_loss L t + over mix_loss (add L t) (u :: s)).
      change (after L (t :: u :: s)) with (after (add L t) (u :: s)).
      change (last_rate (fst t) (u :: s)) with (last_rate (fst u) s).
      rewrite mix_loss_telescopes by lra.
      assert (0 < fst u) by (destruct Fall; assumption).
      pose proof (F_rate (fst t) (fst u) (add L t) (conj H Le)). lra.
  Qed.

  Local Notation start := (fun _ : I => 0).

  Theorem mix_loss_regret : forall s t i, In i experts -> falling (t :: s) ->
    over mix_loss start (t :: s) <= after start (t :: s) i + ln (/ prior i) / last_rate (fst t) s.
  Proof.
    intros s t i Hi Fall. pose proof (mix_losses i Hi s t start Fall).
    destruct Fall as [Pos _]. pose proof (F_start (fst t) Pos). lra.
  Qed.

  (** mixability_gaps *)
  Theorem mixability_gaps : forall s t i, In i experts -> falling (t :: s) ->
    over mean_loss start (t :: s)
      <= after start (t :: s) i + ln (/ prior i) / last_rate (fst t) s
         + over (fun L t => mean_loss L t - mix_loss L t) start (t :: s).
  Proof.
    intros s t i Hi Fall. pose proof (mix_loss_regret s t i Hi Fall).
    assert (forall s L, over (fun L t => mean_loss L t - mix_loss L t) L s = over mean_loss L s - over mix_loss L s) as E.
    { clear. induction s as [|t s IH]; intros L; simpl; [lra|]. rewrite IH. lra. }
    rewrite E. lra.
  Qed.

  (** ** Losses in [0, S] *)

  Variable S : R.
  Definition in_range (s : list round) : Prop := forall t, In t s -> forall i, 0 <= snd t i <= S.

  (** The gap of a round is at most r S^2 / 8: Hoeffding's lemma. *)
  Lemma gap L t : 0 < fst t -> (forall i, 0 <= snd t i <= S) ->
    mean_loss L t - mix_loss L t <= fst t * (S * S) / 8.
  Proof.
    intros Hr Range. set (r := fst t) in *.
    pose proof (hoeffding experts (w r L) (snd t) S (fun i _ => Rlt_le _ _ (w_pos r L i)) (w_sum r L)
                  (fun i _ => Range i) r) as H.
    change (sum (fun i => w r L i * snd t i) experts) with (mean_loss L t) in H.
    set (mean := sum (fun i => w r L i * exp (- (r * snd t i))) experts) in *.
    assert (0 < mean) as M.
    { unfold mean. rewrite mean_exp. apply Rdiv_lt_0_compat; apply total_pos. }
    assert (ln mean <= - (r * mean_loss L t) + r * r * (S * S) / 8) as K.
    { rewrite <- (ln_exp (- (r * mean_loss L t) + r * r * (S * S) / 8)). apply ln_le; assumption. }
    unfold mix_loss. fold r. fold mean.
    apply Rmult_le_reg_l with r; [assumption|].
    replace (r * (mean_loss L t - - (ln mean / r))) with (r * mean_loss L t + ln mean) by (field; lra).
    replace (r * (r * (S * S) / 8)) with (r * r * (S * S) / 8) by field. lra.
  Qed.

  Lemma gaps : forall s L, falling s -> in_range s ->
    over (fun L t => mean_loss L t - mix_loss L t) L s <= S * S / 8 * sum fst s.
  Proof.
    induction s as [|t s IH]; intros L Fall Range; simpl; [lra|].
    destruct Fall as [Pos [_ Fall]].
    assert (over (fun L t => mean_loss L t - mix_loss L t) (add L t) s <= S * S / 8 * sum fst s).
    { apply IH; [assumption|]. intros u U. apply Range. simpl. auto. }
    pose proof (gap L t Pos (Range t (or_introl eq_refl))). lra.
  Qed.

  (** anytime_regret *)
  Theorem anytime_regret : forall s t i, In i experts -> falling (t :: s) -> in_range (t :: s) ->
    over mean_loss start (t :: s)
      <= after start (t :: s) i + ln (/ prior i) / last_rate (fst t) s + S * S / 8 * sum fst (t :: s).
  Proof.
    intros s t i Hi Fall Range. pose proof (mixability_gaps s t i Hi Fall).
    pose proof (gaps (t :: s) start Fall Range). lra.
  Qed.

  (** A game with one rate. *)
  Definition at_rate (r : R) (losses : list (I -> R)) : list round := map (fun l => (r, l)) losses.

  Lemma at_rate_falling r losses : 0 < r -> falling (at_rate r losses).
  Proof.
    intros Hr. induction losses as [|l losses IH]; simpl; [exact Logic.I|].
    split; [assumption|]. split; [|assumption]. destruct losses; simpl; [exact Logic.I|lra].
  Qed.

  Lemma at_rate_last r losses : last_rate r (at_rate r losses) = r.
  Proof. induction losses as [|l losses IH]; simpl; [reflexivity|assumption]. Qed.

  Lemma at_rate_sum r losses : sum fst (at_rate r losses) = r * INR (length losses).
  Proof. unfold at_rate. rewrite sum_map. simpl. apply sum_const. Qed.

  Definition within (losses : list (I -> R)) : Prop := forall l, In l losses -> forall i, 0 <= l i <= S.

  Lemma at_rate_range r losses : within losses -> in_range (at_rate r losses).
  Proof.
    intros W t T i. unfold at_rate in T. apply in_map_iff in T. destruct T as [l [<- L]]. apply W. assumption.
  Qed.

  (** Cumulative loss of expert i. *)
  Lemma after_loss r losses i : forall L, after L (at_rate r losses) i = L i + sum (fun l => l i) losses.
  Proof.
    induction losses as [|l losses IH]; intros L; simpl; [lra|]. rewrite IH. unfold add. simpl. lra.
  Qed.

  (** fixed_rate_regret *)
  Theorem fixed_rate_regret : forall r losses i, 0 < r -> In i experts -> within losses ->
    over mean_loss start (at_rate r losses)
      <= sum (fun l => l i) losses + ln (/ prior i) / r + r * INR (length losses) * (S * S) / 8.
  Proof.
    intros r losses i Hr Hi W. destruct losses as [|l losses].
    - (* no round: the right side is not negative, as a prior is at most 1 *)
      simpl. pose proof (prior_pos i).
      assert (prior i <= 1)
        by (apply Rle_trans with (sum prior experts); [apply sum_member; auto using Rlt_le|assumption]).
      assert (0 <= ln (/ prior i)).
      { rewrite ln_Rinv by assumption. assert (ln (prior i) <= ln 1) by (apply ln_le; assumption).
        rewrite ln_1 in *. lra. }
      assert (0 <= ln (/ prior i) / r) by (apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat; assumption]).
      lra.
    - pose proof (anytime_regret (at_rate r losses) (r, l) i Hi (at_rate_falling r (l :: losses) Hr)
                    (at_rate_range r (l :: losses) W)) as H.
      change ((r, l) :: at_rate r losses) with (at_rate r (l :: losses)) in H.
      rewrite after_loss, at_rate_sum in H. simpl fst in H. rewrite at_rate_last in H. lra.
  Qed.

  (** doubling_regret: an epoch is its rate and its losses, and each begins with the prior. *)
  Theorem doubling_regret : forall epochs i, In i experts ->
    (forall e, In e epochs -> 0 < fst e /\ within (snd e)) ->
    sum (fun e => over mean_loss start (at_rate (fst e) (snd e))) epochs
      <= sum (fun e => sum (fun l => l i) (snd e)) epochs
         + sum (fun e => ln (/ prior i) / fst e + fst e * INR (length (snd e)) * (S * S) / 8) epochs.
  Proof.
    intros epochs i Hi Ok. rewrite <- sum_plus. apply sum_le. intros e He. destruct (Ok e He) as [Pos W].
    pose proof (fixed_rate_regret (fst e) (snd e) i Pos Hi W). lra.
  Qed.

  (** small_losses: exp is below its chord, so the mean of exp(-r l) is at most 1 - c h <= exp(-c h). *)
  Theorem small_losses : forall r losses i, 0 < r -> 0 < S -> In i experts -> within losses ->
    over mean_loss start (at_rate r losses)
      <= S * (r * sum (fun l => l i) losses + ln (/ prior i)) / (1 - exp (- (r * S))).
  Proof.
    intros r losses i Hr HS Hi W. set (c := (1 - exp (- (r * S))) / S).
    assert (exp (- (r * S)) < 1) as E1.
    { rewrite <- exp_0. apply exp_increasing. assert (0 < r * S) by (apply Rmult_lt_0_compat; assumption). lra. }
    assert (0 < c) as C by (apply Rdiv_lt_0_compat; lra).
    (* round by round: c h <= r m *)
    assert (forall L l, (forall i, 0 <= l i <= S) -> c * mean_loss L (r, l) <= r * mix_loss L (r, l)) as Step.
    { intros L l Range. unfold mix_loss. simpl fst. simpl snd.
      pose proof (mean_chord experts (w r L) l S (fun i _ => Rlt_le _ _ (w_pos r L i)) (w_sum r L)
                    (fun i _ => Range i) r HS) as H.
      change (sum (fun i => w r L i * l i) experts) with (mean_loss L (r, l)) in H.
      set (h := mean_loss L (r, l)) in *.
      set (mean := sum (fun i => w r L i * exp (- (r * l i))) experts) in *.
      assert (0 < mean) as M by (unfold mean; rewrite mean_exp; apply Rdiv_lt_0_compat; apply total_pos).
      assert (1 - h / S + h / S * exp (- (r * S)) = 1 - c * h) as Eq by (unfold c; field; lra).
      rewrite Eq in H.
      assert (mean <= exp (- (c * h))) as K by (pose proof (exp_ineq1_le (- (c * h))); lra).
      assert (ln mean <= - (c * h)) by (rewrite <- (ln_exp (- (c * h))); apply ln_le; assumption).
      replace (r * - (ln mean / r)) with (- ln mean) by (field; lra). lra. }
    assert (forall losses L, within losses ->
              c * over mean_loss L (at_rate r losses) <= r * over mix_loss L (at_rate r losses)) as All.
    { induction losses0 as [|l l0 IH]; intros L W0; simpl; [lra|].
      assert (within l0) as W1 by (intros u U; apply W0; simpl; auto).
      specialize (IH (add L (r, l)) W1). specialize (Step L l (W0 l (or_introl eq_refl))). lra. }
    specialize (All losses start W).
    assert (r * over mix_loss start (at_rate r losses) <= r * sum (fun l => l i) losses + ln (/ prior i)) as Mix.
    { destruct losses as [|l losses].
      - simpl. pose proof (prior_pos i).
        assert (prior i <= 1)
          by (apply Rle_trans with (sum prior experts); [apply sum_member; auto using Rlt_le|assumption]).
        rewrite ln_Rinv by assumption. assert (ln (prior i) <= ln 1) by (apply ln_le; assumption).
        rewrite ln_1 in *. lra.
      - pose proof (mix_loss_regret (at_rate r losses) (r, l) i Hi (at_rate_falling r (l :: losses) Hr)) as H.
        change ((r, l) :: at_rate r losses) with (at_rate r (l :: losses)) in H.
        rewrite after_loss in H. simpl fst in H. rewrite at_rate_last in H.
        apply Rmult_le_compat_l with (r := r) in H; [|lra].
        replace (r * (0 + sum (fun l => l i) (l :: losses) + ln (/ prior i) / r))
          with (r * sum (fun l => l i) (l :: losses) + ln (/ prior i)) in H by (field; lra).
        assumption. }
    replace (S * (r * sum (fun l => l i) losses + ln (/ prior i)) / (1 - exp (- (r * S))))
      with ((r * sum (fun l => l i) losses + ln (/ prior i)) / c) by (unfold c; field; lra).
    apply Rmult_le_reg_l with c; [assumption|].
    replace (c * ((r * sum (fun l => l i) losses + ln (/ prior i)) / c))
      with (r * sum (fun l => l i) losses + ln (/ prior i)) by (field; lra).
    lra.
  Qed.
End ExponentialWeights.

(** The best fixed rate: N experts of weight 1/N, T rounds, r = sqrt(8 ln N / T) / S. *)
Theorem tuned_rate_regret : forall (I : Type) (experts : list I) (S : R) (losses : list (I -> R)) i,
  0 < S -> (2 <= length experts)%nat -> losses <> [] -> In i experts -> within S losses ->
  let N := INR (length experts) in let T := INR (length losses) in
  let r := sqrt (8 * ln N / T) / S in
  over (mean_loss experts (fun _ => / N)) (fun _ => 0) (at_rate r losses)
    <= sum (fun l => l i) losses + S * sqrt (T * ln N / 2).
Proof.
  intros I experts S losses i HS HN HT Hi W N T r.
  assert (2 <= N) as N2 by (apply (le_INR 2); assumption).
  assert (0 < ln N) as LN by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (0 < T) as T0 by (apply lt_0_INR; destruct losses; [congruence|simpl; lia]).
  assert (0 < 8 * ln N / T) as Q by (apply Rdiv_lt_0_compat; lra).
  pose proof (sqrt_lt_R0 _ Q) as A. set (a := sqrt (8 * ln N / T)) in *.
  assert (a * a = 8 * ln N / T) as AA by (apply sqrt_sqrt; lra).
  assert (0 < r) as R0 by (apply Rdiv_lt_0_compat; assumption).
  assert (0 < / N) as P by (apply Rinv_0_lt_compat; lra).
  assert (sum (fun _ : I => / N) experts <= 1) as P1.
  { rewrite sum_const. fold N. rewrite Rinv_l by lra. lra. }
  assert (experts <> []) as NE by (intros ->; simpl in HN; lia).
  pose proof (fixed_rate_regret experts (fun _ => / N) (fun _ => P) P1 NE S r losses i R0 Hi W) as H.
  cbv beta in H. rewrite Rinv_inv in H. fold T in H.
  (* both terms are S a T / 8, together S a T / 4 = S sqrt(T ln N / 2) *)
  assert (ln N / r + r * T * (S * S) / 8 = S * (a * T / 4)) as Eq.
  { unfold r. replace (ln N) with (a * a * T / 8) by (rewrite AA; field; lra). field. lra. }
  assert (a * T / 4 = sqrt (T * ln N / 2)) as Root.
  { rewrite <- (sqrt_square (a * T / 4)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). f_equal.
    replace (a * T / 4 * (a * T / 4)) with (a * a * T * T / 16) by field. rewrite AA. field. lra. }
  rewrite <- Root. lra.
Qed.

(** The rates 2 sqrt(ln N / t) / S: no horizon is needed. *)

(** 1 + 1/sqrt 2 + .. + 1/sqrt T <= 2 sqrt T *)
Lemma sum_of_roots : forall T, sum (fun t => / sqrt (INR t)) (seq 1 T) <= 2 * sqrt (INR T).
Proof.
  induction T as [|T IH]; [simpl; rewrite sqrt_0; lra|].
  rewrite seq_S, sum_app. simpl plus. cbn [sum]. rewrite Rplus_0_r.
  assert (0 < INR (S T)) as P by (apply lt_0_INR; lia).
  pose proof (sqrt_lt_R0 _ P) as B0. pose proof (sqrt_pos (INR T)) as A0.
  pose proof (sqrt_sqrt (INR (S T)) ltac:(lra)) as B2. pose proof (sqrt_sqrt (INR T) (pos_INR T)) as A2.
  set (b := sqrt (INR (S T))) in *. set (a := sqrt (INR T)) in *.
  assert (b * b = a * a + 1) as Eq by (rewrite B2, A2, S_INR; reflexivity).
  (* 1/b <= 2 (b - a), as 1 = (b - a)(b + a) and a <= b *)
  assert (a <= b) by nra.
  assert (/ b <= 2 * (b - a)); [|lra].
  apply Rmult_le_reg_l with b; [assumption|]. rewrite Rinv_r by lra. nra.
Qed.

Section Anytime.
  Context {I : Type}.
  Variable experts : list I.
  Variable S : R.
  Hypothesis S_pos : 0 < S.
  Hypothesis two_experts : (2 <= length experts)%nat.

  Let N : R := INR (length experts).
  Definition rate_at (t : nat) : R := 2 * sqrt (ln N) * / sqrt (INR t) / S.

  (** The rounds t, t + 1, .. with their rates. *)
  Fixpoint from (t : nat) (losses : list (I -> R)) : list (R * (I -> R)) :=
    match losses with
    | [] => []
    | l :: rest => (rate_at t, l) :: from (Datatypes.S t) rest
    end.

  Lemma ln_N : 0 < ln N.
  Proof.
    rewrite <- ln_1. apply ln_increasing; [lra|]. assert (2 <= N) by (apply (le_INR 2); assumption). lra.
  Qed.

  Lemma rate_at_pos t : (0 < t)%nat -> 0 < rate_at t.
  Proof.
    intros Ht. unfold rate_at. pose proof (sqrt_lt_R0 _ ln_N). assert (0 < INR t) as T by (apply lt_0_INR; assumption).
    pose proof (sqrt_lt_R0 _ T). apply Rdiv_lt_0_compat; [|assumption].
    apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; assumption].
  Qed.

  Lemma rate_at_falls t : (0 < t)%nat -> rate_at (Datatypes.S t) <= rate_at t.
  Proof.
    intros Ht. unfold rate_at, Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|].
    apply Rmult_le_compat_l; [pose proof (sqrt_pos (ln N)); lra|].
    assert (0 < INR t) as T by (apply lt_0_INR; assumption).
    apply Rinv_le_contravar; [apply sqrt_lt_R0; assumption|]. apply sqrt_le_1_alt. rewrite S_INR. lra.
  Qed.

  Lemma from_falling : forall losses t, (0 < t)%nat -> falling (from t losses).
  Proof.
    induction losses as [|l losses IH]; intros t Ht; simpl; [exact Logic.I|].
    split; [apply rate_at_pos, Ht|]. split; [|apply IH; lia].
    destruct losses; simpl; [exact Logic.I|apply rate_at_falls, Ht].
  Qed.

  Lemma from_last : forall losses t r, losses <> [] ->
    last_rate r (from t losses) = rate_at (t + length losses - 1).
  Proof.
    induction losses as [|l losses IH]; intros t r NE; [congruence|]. simpl.
    destruct losses as [|l' losses]; [simpl; f_equal; lia|].
    rewrite IH by discriminate. f_equal. simpl. lia.
  Qed.

  Lemma from_sum : forall losses t, sum fst (from t losses) = 2 * sqrt (ln N) / S * sum (fun t => / sqrt (INR t)) (seq t (length losses)).
  Proof.
    induction losses as [|l losses IH]; intros t; simpl; [ring|]. rewrite IH. unfold rate_at, Rdiv. ring.
  Qed.

  Lemma from_after : forall losses t L i, after L (from t losses) i = L i + sum (fun l => l i) losses.
  Proof. induction losses as [|l losses IH]; intros t L i; simpl; [lra|]. rewrite IH. unfold add. simpl. lra. Qed.

  Theorem anytime_tuned : forall losses i, losses <> [] -> In i experts -> within S losses ->
    over (mean_loss experts (fun _ => / N)) (fun _ => 0) (from 1 losses)
      <= sum (fun l => l i) losses + S * sqrt (INR (length losses) * ln N).
  Proof.
    intros losses i NE Hi W. set (T := length losses).
    assert (0 < T)%nat as T0 by (unfold T; destruct losses; [congruence|simpl; lia]).
    assert (2 <= N) as N2 by (apply (le_INR 2); assumption).
    assert (0 < / N) as P by (apply Rinv_0_lt_compat; lra).
    assert (sum (fun _ : I => / N) experts <= 1) as P1 by (rewrite sum_const; fold N; rewrite Rinv_l by lra; lra).
    assert (experts <> []) as Some by (intros Z; rewrite Z in two_experts; simpl in *; lia).
    assert (in_range S (from 1 losses)) as Range.
    { intros t Ht. assert (forall ls k, In t (from k ls) -> In (snd t) ls) as K.
      { clear. induction ls as [|l ls IH]; intros k H; simpl in *; [contradiction|].
        destruct H as [<-|H]; [left; reflexivity|right; eapply IH; eassumption]. }
      apply W. eapply K. eassumption. }
    pose proof (from_sum losses 1) as Su. pose proof (from_after losses 1 (fun _ => 0) i) as Af.
    pose proof (from_falling losses 1 ltac:(lia)) as Fall. pose proof (from_last losses 1 0 NE) as La. fold T in Su, La.
    destruct losses as [|l losses]; [congruence|]. simpl from in *.
    pose proof (anytime_regret experts (fun _ => / N) (fun _ => P) P1 Some S (from 2 losses) (rate_at 1, l) i Hi Fall Range) as H.
    rewrite Af, Su in H. cbv beta in H. rewrite Rinv_inv in H. simpl fst in H. simpl last_rate in La. rewrite La in H.
    replace (1 + T - 1)%nat with T in H by lia.
    (* the two halves *)
    assert (0 < INR T) as TR by (apply lt_0_INR; assumption).
    pose proof (sqrt_lt_R0 _ TR) as A0. pose proof (sqrt_lt_R0 _ ln_N) as B0.
    pose proof (sqrt_sqrt (ln N) ltac:(pose proof ln_N; lra)) as B2. pose proof (sum_of_roots T) as Roots.
    rewrite sqrt_mult by (try lra; pose proof ln_N; lra).
    set (a := sqrt (INR T)) in *. set (b := sqrt (ln N)) in *.
    assert (ln N / rate_at T = S * (a * b) / 2) as H1.
    { unfold rate_at. fold a b. rewrite <- B2. field. repeat split; lra. }
    assert (S * S / 8 * (2 * b / S * sum (fun t => / sqrt (INR t)) (seq 1 T)) <= S * (a * b) / 2) as H2.
    { replace (S * S / 8 * (2 * b / S * sum (fun t => / sqrt (INR t)) (seq 1 T)))
        with (S * b / 4 * sum (fun t => / sqrt (INR t)) (seq 1 T)) by (field; lra).
      replace (S * (a * b) / 2) with (S * b / 4 * (2 * a)) by field.
      apply Rmult_le_compat_l; [|assumption]. assert (0 < S * b) by (apply Rmult_lt_0_compat; assumption). lra. }
    lra.
  Qed.
End Anytime.
