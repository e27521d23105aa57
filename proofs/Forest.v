(** The mean of several forecasters: a forest.

    forest_mean (src/novikoff/trees/theorems/forest_mean.py). M forecasters give the labels the probabilities P_m; the
    forest plays P_c = prod_m P_m,c^(1/M) / Z, Z the sum over the labels c. Then

        L  =  mean of L_m - D  <=  mean of L_m,     D = the sum over rounds of -ln Z >= 0.

    D is known before the labels. For numbers (forest_gaps, forest_gaps.py) the forest plays the mean p of the predictions
    p_m, and under squared loss the same holds with D = the sum of the mean of (p_m - p)^2. With a bound L_m <= U_m for each tree, such as tree_pruning, L <= mean of U_m - D. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums Hoeffding.
Import ListNotations.
Open Scope R_scope.

Section Forest.
  Context {C M : Type}.
  Variable labels : list C.
  Variable members : list M.
  Hypothesis some_member : members <> [].
  Hypothesis some_label : labels <> [].

  Definition mean (f : M -> R) : R := sum f members / INR (length members).

  Lemma count_pos : 0 < INR (length members).
  Proof. apply lt_0_INR. destruct members; [congruence|simpl; lia]. Qed.

  (** A round: the probabilities of each member, and the label that came. *)
  Definition round := ((M -> C -> R) * C)%type.
  Definition proper (t : round) : Prop :=
    (forall m c, 0 < fst t m c) /\ (forall m, sum (fst t m) labels = 1) /\ In (snd t) labels.

  (** The geometric mean, not normalised: exp of the mean of the logarithms. *)
  Definition geometric (P : M -> C -> R) (c : C) : R := exp (mean (fun m => ln (P m c))).
  Definition Z (P : M -> C -> R) : R := sum (geometric P) labels.
  Definition forest (P : M -> C -> R) (c : C) : R := geometric P c / Z P.

  Lemma geometric_pos P c : 0 < geometric P c.
  Proof. apply exp_pos. Qed.

  Lemma Z_pos P : 0 < Z P.
  Proof.
    unfold Z. destruct labels as [|c l] eqn:E; [congruence|]. simpl. pose proof (geometric_pos P c).
    assert (0 <= sum (geometric P) l) by (apply sum_nonneg; intros; left; apply geometric_pos). lra.
  Qed.

  (** What is played is a distribution. *)
  Lemma forest_sums P : sum (forest P) labels = 1.
  Proof.
    unfold forest. pose proof (Z_pos P).
    rewrite (sum_ext _ (fun c => / Z P * geometric P c)) by (intros; field; lra).
    rewrite sum_scale. fold (Z P). field. lra.
  Qed.

  (** A geometric mean is at most the arithmetic one: exp lies above its tangent at the mean. *)
  Lemma geometric_le P c : (forall m, 0 < P m c) -> geometric P c <= mean (fun m => P m c).
  Proof.
    intros Pos. pose proof count_pos as N. set (n := INR (length members)) in *. set (a := mean (fun m => ln (P m c))).
    assert (sum (fun m => exp a * (1 + (ln (P m c) - a))) members <= sum (fun m => P m c) members) as T.
    { apply sum_le. intros m _. rewrite <- (exp_ln (P m c)) at 2 by apply Pos. apply exp_tangent. }
    assert (sum (fun m => exp a * (1 + (ln (P m c) - a))) members = exp a * n) as E.
    { rewrite sum_scale, sum_plus, sum_minus, !sum_const. fold n.
      replace (sum (fun m => ln (P m c)) members) with (a * n) by (unfold a, mean; fold n; field; lra). ring. }
    unfold geometric. fold a. unfold mean. fold n. apply Rmult_le_reg_r with n; [assumption|].
    replace (sum (fun m => P m c) members / n * n) with (sum (fun m => P m c) members) by (field; lra). lra.
  Qed.

  Lemma Z_le_1 P : (forall m c, 0 < P m c) -> (forall m, sum (P m) labels = 1) -> Z P <= 1.
  Proof.
    intros Pos One. pose proof count_pos as N.
    apply Rle_trans with (sum (fun c => mean (fun m => P m c)) labels).
    - apply sum_le. intros c _. apply geometric_le. auto.
    - right. unfold mean.
      rewrite (sum_ext _ (fun c => / INR (length members) * sum (fun m => P m c) members)) by (intros; field; lra).
      rewrite sum_scale, sum_swap. rewrite (sum_ext _ (fun _ => 1)) by (intros m _; apply One).
      rewrite sum_const. field. lra.
  Qed.

  (** Losses over the stream. *)
  Definition loss (s : list round) : R := sum (fun t => - ln (forest (fst t) (snd t))) s.
  Definition member_loss (s : list round) (m : M) : R := sum (fun t => - ln (fst t m (snd t))) s.
  Definition disagreement (s : list round) : R := sum (fun t => - ln (Z (fst t))) s.

  Theorem forest_identity : forall s, loss s = mean (member_loss s) - disagreement s.
  Proof.
    intros s. pose proof count_pos as N. unfold mean, member_loss. rewrite sum_swap.
    unfold loss, disagreement. unfold Rdiv at 1. rewrite Rmult_comm, <- sum_scale, <- sum_minus. apply sum_ext.
    intros [P y] _. simpl. unfold forest. rewrite ln_div by (apply geometric_pos || apply Z_pos).
    unfold geometric. rewrite ln_exp. unfold mean.
    assert (sum (fun m => - ln (P m y)) members = - sum (fun m => ln (P m y)) members) as ->.
    { rewrite (sum_ext _ (fun m => -1 * ln (P m y))) by (intros; ring). rewrite sum_scale. ring. }
    field. lra.
  Qed.

  Lemma disagreement_nonneg s : (forall t, In t s -> proper t) -> 0 <= disagreement s.
  Proof.
    intros Ok. apply sum_nonneg. intros t T. destruct (Ok t T) as [Pos [One _]].
    assert (ln (Z (fst t)) <= ln 1) by (apply ln_le; [apply Z_pos|apply Z_le_1; assumption]).
    rewrite ln_1 in *. lra.
  Qed.

  (** With a bound U on the loss of each member. *)
  Theorem forest_mean : forall s U, (forall t, In t s -> proper t) ->
    (forall m, In m members -> member_loss s m <= U m) ->
    loss s <= mean U - disagreement s /\ 0 <= disagreement s.
  Proof.
    intros s U Ok B. split; [|apply disagreement_nonneg; assumption]. rewrite forest_identity.
    assert (mean (member_loss s) <= mean U); [|lra]. unfold mean. pose proof count_pos.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|]. apply sum_le. assumption.
  Qed.
End Forest.

(** ** Numbers *)

Section Numbers.
  Context {M : Type}.
  Variable members : list M.
  Hypothesis some_member : members <> [].

  (** A round: the predictions and the outcome. *)
  Local Notation turn := ((M -> R) * R)%type.
  Definition average (t : turn) : R := mean members (fst t).
  Definition squared_loss (s : list turn) : R := sum (fun t => (average t - snd t) ^ 2) s.
  Definition member_squared_loss (s : list turn) (m : M) : R := sum (fun t => (fst t m - snd t) ^ 2) s.
  Definition spread (s : list turn) : R := sum (fun t => mean members (fun m => (fst t m - average t) ^ 2)) s.

  (** The square of the mean is the mean of the squares less the spread. *)
  Theorem forest_numbers_identity : forall s,
    squared_loss s = mean members (member_squared_loss s) - spread s.
  Proof.
    intros s. pose proof (count_pos members some_member) as N. set (n := INR (length members)) in *.
    unfold mean at 1, member_squared_loss. fold n. rewrite sum_swap. unfold squared_loss, spread.
    unfold Rdiv at 1. rewrite Rmult_comm, <- sum_scale, <- sum_minus. apply sum_ext. intros [p y] _. simpl fst. simpl snd.
    unfold average, mean. simpl fst. fold n. set (S1 := sum p members).
    assert (forall c, sum (fun m => (p m - c) ^ 2) members = sum (fun m => p m ^ 2) members - 2 * c * S1 + n * c ^ 2) as Exp.
    { intros c. rewrite (sum_ext _ (fun m => p m ^ 2 - 2 * c * p m + c ^ 2)) by (intros; ring).
      rewrite sum_plus, sum_minus, sum_scale, sum_const. fold n S1. ring. }
    rewrite !Exp. field. lra.
  Qed.

  Theorem forest_gaps : forall s U, (forall m, In m members -> member_squared_loss s m <= U m) ->
    squared_loss s <= mean members U - spread s /\ 0 <= spread s.
  Proof.
    intros s U B. pose proof (count_pos members some_member) as N. split.
    - rewrite forest_numbers_identity.
      assert (mean members (member_squared_loss s) <= mean members U); [|lra].
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|]. apply sum_le. assumption.
    - apply sum_nonneg. intros t _. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; assumption].
      apply sum_nonneg. intros. apply pow2_ge_0.
  Qed.
End Numbers.
