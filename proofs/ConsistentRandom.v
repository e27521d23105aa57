(** The learner that follows a fresh random consistent hypothesis in each round.

    consistent_expected (src/novikoff/finite/theorems/consistent_expected.py). Let p_t be the probability of a mistake in
    round t given the past: the fraction of the survivors that are wrong. With H(k) = 1 + 1/2 + .. + 1/k

        sum of p_t  <=  H(|V before|) - H(|V after|)  <=  ln( |V before| / |V after| ),

    on every stream that leaves a survivor. That the sum of p_t is the expected number of mistakes, on a stream that does
    not depend on the draws, is left to probability theory. *)

Require Import Reals Arith List Lra Lia Psatz.
From Novikoff Require Import Sums Games Consistent.
Import ListNotations.
Open Scope R_scope.

Fixpoint harmonic (n : nat) : R :=
  match n with
  | O => 0
  | S k => harmonic k + / INR (S k)
  end.

(** (b - a)/b <= 1/(a+1) + .. + 1/b *)
Lemma harmonic_step : forall d a, (0 < a + d)%nat -> INR d / INR (a + d) <= harmonic (a + d) - harmonic a.
Proof.
  induction d as [|d IH]; intros a Pos.
  - rewrite Nat.add_0_r. simpl INR at 1. unfold Rdiv. rewrite Rmult_0_l. lra.
  - rewrite Nat.add_succ_r. set (b := (a + d)%nat). change (harmonic (S b)) with (harmonic b + / INR (S b)).
    assert (0 < INR (S b)) as B by (apply lt_0_INR; lia).
    destruct (Nat.eq_dec b 0) as [Z|NZ].
    + assert (a = 0%nat /\ d = 0%nat) as [-> ->] by (unfold b in Z; lia). rewrite Z. simpl. unfold Rdiv.
      rewrite Rinv_1. lra.
    + specialize (IH a ltac:(unfold b in NZ; lia)). fold b in IH.
      assert (0 < INR b) as B' by (apply lt_0_INR; lia).
      rewrite (S_INR d).
      assert (INR d / INR (S b) <= INR d / INR b).
      { unfold Rdiv. apply Rmult_le_compat_l; [apply pos_INR|]. apply Rinv_le_contravar; [assumption|]. rewrite S_INR. lra. }
      replace ((INR d + 1) / INR (S b)) with (INR d / INR (S b) + / INR (S b)) by (field; lra). lra.
Qed.

(** 1/k <= ln(k / (k - 1)) *)
Lemma harmonic_ln : forall d a, (0 < a)%nat -> harmonic (a + d) - harmonic a <= ln (INR (a + d) / INR a).
Proof.
  induction d as [|d IH]; intros a Pos.
  - rewrite Nat.add_0_r. assert (0 < INR a) by (apply lt_0_INR; assumption).
    unfold Rdiv. rewrite Rinv_r, ln_1 by lra. lra.
  - rewrite Nat.add_succ_r. specialize (IH a Pos). set (b := (a + d)%nat) in *.
    change (harmonic (S b)) with (harmonic b + / INR (S b)).
    assert (0 < INR a) as A by (apply lt_0_INR; assumption).
    assert (0 < INR b) as B by (apply lt_0_INR; unfold b; lia).
    assert (0 < INR (S b)) as SB by (apply lt_0_INR; lia).
    rewrite ln_div in * by assumption.
    assert (/ INR (S b) <= ln (INR (S b)) - ln (INR b)); [|lra].
    assert (INR b / INR (S b) <= exp (- / INR (S b))) as X.
    { replace (INR b / INR (S b)) with (1 + - / INR (S b)) by (rewrite S_INR in *; field; lra). apply exp_ineq1_le. }
    assert (ln (INR b / INR (S b)) <= - / INR (S b)) as Y.
    { rewrite <- (ln_exp (- / INR (S b))). apply ln_le; [apply Rdiv_lt_0_compat; assumption|assumption]. }
    rewrite ln_div in Y by assumption. lra.
Qed.

Section Random.
  Context {X Y : Type} (same : forall a b : Y, {a = b} + {a <> b}).
  Local Notation H := (X -> Y).

  (** Probability of a mistake: the fraction of the survivors that are wrong. *)
  Definition chance (V : list H) (x : X) (y : Y) : R :=
    (INR (length V) - INR (length (filter (right same x y) V))) / INR (length V).

  Fixpoint chances (V : list H) (s : list (X * Y)) : R :=
    match s with
    | [] => 0
    | (x, y) :: rest => chance V x y + chances (filter (right same x y) V) rest
    end.

  Lemma survivors_shorter : forall (s : list (X * Y)) (V : list H), (length (survivors same V s) <= length V)%nat.
  Proof.
    induction s as [|[x y] s IH]; intros V; simpl; [lia|].
    eapply Nat.le_trans; [apply IH|apply filter_shorter].
  Qed.

  Theorem consistent_expected_harmonic : forall (s : list (X * Y)) (V : list H), survivors same V s <> [] ->
    chances V s <= harmonic (length V) - harmonic (length (survivors same V s)).
  Proof.
    induction s as [|[x y] s IH]; intros V N; simpl in *; [lra|].
    specialize (IH _ N). set (V' := filter (right same x y) V) in *.
    pose proof (filter_shorter (right same x y) V) as Le. fold V' in Le.
    assert (0 < length V')%nat as Pos.
    { destruct V' as [|h V']; [rewrite survivors_nil in N; congruence|simpl; lia]. }
    pose proof (harmonic_step (length V - length V') (length V') ltac:(lia)) as St.
    replace (length V' + (length V - length V'))%nat with (length V) in St by lia.
    rewrite minus_INR in St by assumption. unfold chance. fold V'. lra.
  Qed.

  Theorem consistent_expected : forall (s : list (X * Y)) (V : list H), survivors same V s <> [] ->
    chances V s <= ln (INR (length V) / INR (length (survivors same V s))).
  Proof.
    intros s V N. pose proof (consistent_expected_harmonic s V N) as B.
    pose proof (survivors_shorter s V) as Le. set (a := length (survivors same V s)) in *.
    assert (0 < a)%nat as Pos by (unfold a; destruct (survivors same V s); [congruence|simpl; lia]).
    pose proof (harmonic_ln (length V - a) a Pos) as L.
    replace (a + (length V - a))%nat with (length V) in L by lia. lra.
  Qed.
End Random.
