(** Halving: predict the label with the most weight among the surviving hypotheses.

    halving_mistakes (src/novikoff/finite/theorems/halving_mistakes.py):

        M  <=  log2( W before / W after ),

    where W is the prior weight of the survivors. A priori M <= log2(W(H) / prior(h) ) for every
    hypothesis h that fits the stream: log2 |H| without a prior, the length of the shortest correct
    program for the prior 2^-length. It holds with any number of labels, any tie rule, and with the
    filter in every round or on mistakes only. *)

Require Import Reals Arith List Lra Lia.
From Novikoff Require Import Sums Games.
Import ListNotations.
Open Scope R_scope.

Section Halving.
  Context {X Y : Type} (same : forall a b : Y, {a = b} + {a <> b}).
  Local Notation H := (X -> Y).

  Variable prior : H -> R.
  Hypothesis prior_pos : forall h, 0 < prior h.

  Definition right (x : X) (y : Y) (h : H) : bool := if same (h x) y then true else false.
  Definition weight (V : list H) : R := sum prior V.

  (** Weight of the survivors that vote for y. *)
  Definition votes (V : list H) (x : X) (y : Y) : R := weight (filter (right x y) V).

  (** The prediction has at least as many votes as any label; ties are broken in any way. *)
  Variable vote : list H -> X -> Y.
  Hypothesis plurality : forall V x y, votes V x y <= votes V x (vote V x).

  (** Whether hypotheses are removed on mistakes only. *)
  Variable conservative : bool.

  Definition next (V : list H) (x : X) (y : Y) : list H :=
    if same (vote V x) y then (if conservative then V else filter (right x y) V)
    else filter (right x y) V.

  Fixpoint survivors (V : list H) (s : list (X * Y)) : list H :=
    match s with
    | [] => V
    | (x, y) :: rest => survivors (next V x y) rest
    end.

  Fixpoint halving_errs (V : list H) (s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest => (if same (vote V x) y then 0 else 1) + halving_errs (next V x y) rest
    end.

  Lemma weight_nonneg V : 0 <= weight V.
  Proof. apply sum_nonneg. intros. left. apply prior_pos. Qed.

  Lemma weight_filter p V : weight (filter p V) <= weight V.
  Proof. apply sum_filter_le. intros. left. apply prior_pos. Qed.

  (** A mistake leaves at most half: two labels share W, and the wrong one has no less. *)
  Lemma mistake_halves V x y : vote V x <> y -> 2 * weight (filter (right x y) V) <= weight V.
  Proof.
    intros E. pose proof (plurality V x y) as P. unfold votes in P.
    assert (weight (filter (right x y) V) + weight (filter (right x (vote V x)) V) <= weight V).
    { apply sum_filter_disjoint; [intros; left; apply prior_pos|].
      intros h _. unfold right. destruct (same (h x) y), (same (h x) (vote V x)); congruence. }
    lra.
  Qed.

  Lemma no_round_adds V x y : weight (next V x y) <= weight V.
  Proof.
    unfold next. destruct (same (vote V x) y), conservative;
      try apply weight_filter; apply Rle_refl.
  Qed.

  (** The theorem without division: 2^M W(after) <= W(before). *)
  Theorem halving_mistakes_exact : forall s V,
    2 ^ halving_errs V s * weight (survivors V s) <= weight V.
  Proof.
    induction s as [|[x y] s IH]; simpl; intros V; [lra|].
    specialize (IH (next V x y)). pose proof (no_round_adds V x y).
    destruct (same (vote V x) y) as [E|E].
    - simpl. lra.
    - assert (2 * weight (next V x y) <= weight V).
      { unfold next. destruct (same (vote V x) y); [contradiction|]. apply mistake_halves, E. }
      simpl. nra.
  Qed.

  Theorem halving_mistakes : forall s V,
    survivors V s <> [] -> INR (halving_errs V s) <= log2 (weight V / weight (survivors V s)).
  Proof.
    intros s V N. apply le_log2; [|apply halving_mistakes_exact].
    destruct (survivors V s) as [|h rest]; [congruence|].
    unfold weight. simpl. pose proof (prior_pos h). pose proof (weight_nonneg rest).
    unfold weight in *. lra.
  Qed.

  Lemma fitting_survives h : forall s V, In h V -> fits h s -> In h (survivors V s).
  Proof.
    induction s as [|[x y] s IH]; simpl; intros V I F; [assumption|].
    apply fits_cons in F. destruct F as [E F]. apply IH; [|assumption].
    assert (In h (filter (right x y) V)).
    { apply filter_In. split; [assumption|]. unfold right. destruct (same (h x) y); congruence. }
    unfold next. destruct (same (vote V x) y), conservative; assumption.
  Qed.

  (** A priori: log2 of the total weight over the weight of any hypothesis that fits. *)
  Theorem halving_mistakes_prior : forall s V h,
    In h V -> fits h s -> INR (halving_errs V s) <= log2 (weight V / prior h).
  Proof.
    intros s V h I F. apply le_log2; [apply prior_pos|].
    pose proof (halving_mistakes_exact s V) as E.
    assert (prior h <= weight (survivors V s)).
    { apply (sum_member prior); [intros; left; apply prior_pos|]. apply fitting_survives; assumption. }
    assert (0 < 2 ^ halving_errs V s) by (apply pow_lt; lra). nra.
  Qed.

  (** With equal weights, in whole numbers: M <= floor(log2 |H|). *)
  Theorem halving_mistakes_count : (forall h, prior h = 1) -> forall s V h,
    In h V -> fits h s -> (halving_errs V s <= Nat.log2 (length V))%nat.
  Proof.
    intros One s V h I F.
    assert (forall U, weight U = INR (length U)) as Count.
    { intros U. unfold weight. rewrite (sum_ext _ (fun _ => 1)) by (intros; apply One).
      rewrite sum_const. lra. }
    pose proof (halving_mistakes_exact s V) as E. rewrite !Count in E.
    pose proof (fitting_survives h s V I F) as S.
    assert (1 <= length (survivors V s))%nat
      by (destruct (survivors V s); [contradiction|simpl; lia]).
    assert (0 < length V)%nat by (destruct V; [contradiction|simpl; lia]).
    apply Nat.log2_le_pow2; [assumption|].
    apply INR_le. rewrite pow_INR. change (INR 2) with 2.
    assert (1 <= INR (length (survivors V s))) by (apply (le_INR 1); assumption).
    assert (0 < 2 ^ halving_errs V s) by (apply pow_lt; lra). nra.
  Qed.
End Halving.

(** Two labels, a tie predicts +1 (here [true]): the rule of the software is a plurality vote. *)
Definition majority {X : Type} (prior : (X -> bool) -> R) (V : list (X -> bool)) (x : X) : bool :=
  if Rle_dec (votes Bool.bool_dec prior V x false) (votes Bool.bool_dec prior V x true)
  then true else false.

Lemma majority_plurality {X : Type} (prior : (X -> bool) -> R) V (x : X) y :
  votes Bool.bool_dec prior V x y <= votes Bool.bool_dec prior V x (majority prior V x).
Proof. unfold majority. destruct (Rle_dec _ _), y; lra. Qed.
