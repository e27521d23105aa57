(** Weighted Majority: as Halving, but an error only multiplies the weight of a hypothesis by beta.

    weighted_majority_mistakes (src/novikoff/experts/theorems/weighted_majority_mistakes.py):

        M  <=  ln( W before / W after ) / ln( 2 / (1 + beta) )                                (pathwise)
        M  <=  ( m ln(1/beta) + ln( W(H) / prior ) ) / ln( 2 / (1 + beta) )                   (a priori)

    for every hypothesis, m its errors and [prior] its weight at the start. It holds on every stream, for
    any number of labels and any tie rule, with updates in every round or on mistakes only. *)

Require Import Reals List Lra Lia.
From Novikoff Require Import Sums Games.
Import ListNotations.
Open Scope R_scope.

Section WeightedMajority.
  Context {X Y : Type} (same : forall a b : Y, {a = b} + {a <> b}).

  (** A hypothesis with its weight. *)
  Local Notation WH := (R * (X -> Y))%type.

  Variable beta : R.
  Hypothesis beta_range : 0 <= beta < 1.

  Definition positive (P : list WH) : Prop := forall c, In c P -> 0 <= fst c.
  Definition weight (P : list WH) : R := sum fst P.
  Definition right (x : X) (y : Y) (c : WH) : bool := if same (snd c x) y then true else false.
  Definition votes (P : list WH) (x : X) (y : Y) : R := weight (filter (right x y) P).

  Variable vote : list WH -> X -> Y.
  Hypothesis plurality : forall P x y, votes P x y <= votes P x (vote P x).

  Variable conservative : bool.

  Definition penalise (x : X) (y : Y) (c : WH) : WH :=
    if right x y c then c else (beta * fst c, snd c).

  Definition next (P : list WH) (x : X) (y : Y) : list WH :=
    if same (vote P x) y then (if conservative then P else map (penalise x y) P)
    else map (penalise x y) P.

  Fixpoint final (P : list WH) (s : list (X * Y)) : list WH :=
    match s with
    | [] => P
    | (x, y) :: rest => final (next P x y) rest
    end.

  Fixpoint wm_errs (P : list WH) (s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest => (if same (vote P x) y then 0 else 1) + wm_errs (next P x y) rest
    end.

  Lemma penalised_positive x y P : positive P -> positive (map (penalise x y) P).
  Proof.
    intros Pos c I. apply in_map_iff in I. destruct I as [d [E I]]. specialize (Pos d I).
    subst c. unfold penalise. destruct (right x y d); simpl; [assumption|]. nra.
  Qed.

  Lemma next_positive P x y : positive P -> positive (next P x y).
  Proof.
    intros. unfold next. destruct (same (vote P x) y), conservative;
      try apply penalised_positive; assumption.
  Qed.

  (** After a penalty: W' = W_y + beta (W - W_y). *)
  Lemma weight_penalised x y P :
    weight (map (penalise x y) P) = beta * weight P + (1 - beta) * votes P x y.
  Proof.
    unfold votes, weight. induction P as [|c P IH]; simpl; [lra|].
    rewrite IH. unfold penalise. destruct (right x y c); simpl; lra.
  Qed.

  Lemma votes_le P x y : positive P -> votes P x y <= weight P.
  Proof. intros. apply sum_filter_le. assumption. Qed.

  Lemma mistake_shrinks P x y : positive P -> vote P x <> y ->
    weight (map (penalise x y) P) <= (1 + beta) / 2 * weight P.
  Proof.
    intros Pos E. rewrite weight_penalised. pose proof (plurality P x y) as Pl.
    assert (votes P x y + votes P x (vote P x) <= weight P).
    { apply sum_filter_disjoint; [assumption|].
      intros c _. unfold right. destruct (same (snd c x) y), (same (snd c x) (vote P x)); congruence. }
    nra.
  Qed.

  Lemma no_round_adds P x y : positive P -> weight (next P x y) <= weight P.
  Proof.
    intros Pos. pose proof (votes_le P x y Pos).
    assert (weight (map (penalise x y) P) <= weight P) by (rewrite weight_penalised; nra).
    unfold next. destruct (same (vote P x) y), conservative; try assumption; apply Rle_refl.
  Qed.

  Theorem weighted_majority_exact : forall s P, positive P ->
    weight (final P s) <= ((1 + beta) / 2) ^ wm_errs P s * weight P.
  Proof.
    induction s as [|[x y] s IH]; simpl; intros P Pos; [lra|].
    specialize (IH (next P x y) (next_positive P x y Pos)).
    pose proof (no_round_adds P x y Pos) as N.
    assert (0 <= ((1 + beta) / 2) ^ wm_errs (next P x y) s) by (apply pow_le; lra).
    destruct (same (vote P x) y) as [E|E].
    - simpl. nra.
    - assert (weight (next P x y) <= (1 + beta) / 2 * weight P).
      { unfold next. destruct (same (vote P x) y); [contradiction|]. apply mistake_shrinks; assumption. }
      simpl. set (q := (1 + beta) / 2) in *. set (k := q ^ wm_errs (next P x y) s) in *.
      apply Rle_trans with (k * weight (next P x y)); [assumption|].
      apply Rle_trans with (k * (q * weight P)); [|lra].
      apply Rmult_le_compat_l; assumption.
  Qed.

  (** The rate c = ln(2 / (1 + beta)) is positive. *)
  Lemma rate_pos : 0 < ln (2 / (1 + beta)).
  Proof.
    rewrite <- ln_1. apply ln_increasing; [lra|].
    apply Rmult_lt_reg_r with (1 + beta); [lra|].
    replace (2 / (1 + beta) * (1 + beta)) with 2 by (field; lra). lra.
  Qed.

  Lemma from_power n w W : 0 < w -> w <= ((1 + beta) / 2) ^ n * W ->
    INR n <= ln (W / w) / ln (2 / (1 + beta)).
  Proof.
    intros Hw H. pose proof rate_pos as C.
    assert (0 < (1 + beta) / 2) as Q by lra.
    assert (0 < ((1 + beta) / 2) ^ n) as Qn by (apply pow_lt; assumption).
    assert (0 < W) as HW by nra.
    assert (ln w <= INR n * ln ((1 + beta) / 2) + ln W).
    { rewrite <- ln_pow, <- ln_mult by assumption. apply ln_le; assumption. }
    assert (ln (2 / (1 + beta)) = - ln ((1 + beta) / 2)) as E.
    { rewrite <- ln_Rinv by assumption. f_equal. field. lra. }
    apply Rmult_le_reg_r with (ln (2 / (1 + beta))); [assumption|].
    replace (ln (W / w) / ln (2 / (1 + beta)) * ln (2 / (1 + beta))) with (ln (W / w)) by (field; lra).
    rewrite (ln_div W w) by assumption. rewrite E. lra.
  Qed.

  (** Pathwise. *)
  Theorem weighted_majority_pathwise : forall s P, positive P -> 0 < weight (final P s) ->
    INR (wm_errs P s) <= ln (weight P / weight (final P s)) / ln (2 / (1 + beta)).
  Proof. intros s P Pos W. apply from_power; [assumption|]. apply weighted_majority_exact, Pos. Qed.

  (** A hypothesis of weight w that errs m times keeps at least w beta^m. *)
  Lemma weight_kept h : forall s P w, positive P -> In (w, h) P ->
    w * beta ^ errors same h s <= weight (final P s).
  Proof.
    induction s as [|[x y] s IH]; simpl; intros P w Pos I.
    - rewrite Rmult_1_r. apply (sum_member fst P (w, h)); assumption.
    - pose proof (next_positive P x y Pos) as Pos'. pose proof (Pos _ I) as Hw. simpl in Hw.
      assert (0 <= beta ^ errors same h s) as B by (apply pow_le; lra).
      assert (In (penalise x y (w, h)) (map (penalise x y) P)) as J by (apply in_map; assumption).
      unfold penalise, right in J. simpl in J.
      destruct (same (h x) y) as [E|E]; simpl.
      + unfold next in *. destruct (same (vote P x) y), conservative; apply IH; assumption.
      + unfold next in *.
        assert (w * (beta * beta ^ errors same h s) = beta * w * beta ^ errors same h s) as A by ring.
        destruct (same (vote P x) y), conservative; rewrite A; try (apply IH; assumption).
        (* not penalised, as the vote was right: its weight is even larger *)
        apply Rle_trans with (w * beta ^ errors same h s); [|apply IH; assumption].
        apply Rmult_le_compat_r; [assumption|]. nra.
  Qed.

  (** A priori. *)
  Theorem weighted_majority_mistakes : forall s P w h, 0 < beta -> positive P -> In (w, h) P -> 0 < w ->
    INR (wm_errs P s)
      <= (INR (errors same h s) * ln (/ beta) + ln (weight P / w)) / ln (2 / (1 + beta)).
  Proof.
    intros s P w h B Pos I W.
    assert (0 < beta ^ errors same h s) as Bm by (apply pow_lt; assumption).
    assert (0 < weight P) as WP by (apply Rlt_le_trans with w; [assumption|apply (sum_member fst P (w, h)); assumption]).
    assert (0 < w * beta ^ errors same h s) as K by (apply Rmult_lt_0_compat; assumption).
    pose proof (from_power (wm_errs P s) (w * beta ^ errors same h s) (weight P) K) as F.
    replace (INR (errors same h s) * ln (/ beta) + ln (weight P / w))
      with (ln (weight P / (w * beta ^ errors same h s))).
    - apply F. apply Rle_trans with (weight (final P s)); [apply weight_kept; assumption|].
      apply weighted_majority_exact, Pos.
    - rewrite !ln_div by assumption. rewrite ln_mult, ln_pow, ln_Rinv by assumption. lra.
  Qed.
End WeightedMajority.
