(** Finite sums and products over lists, and the few inequalities that the other files need.

    [sum f l] is the sum of [f a] over the elements [a] of the list [l]; [product f l] likewise. *)

Require Import Reals List Lra Lia.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum {A : Type} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | a :: rest => f a + sum f rest
  end.

Fixpoint product {A : Type} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 1
  | a :: rest => f a * product f rest
  end.

Section Sums.
  Context {A : Type}.
  Implicit Types (f g : A -> R) (l : list A).

  Lemma sum_ext f g l : (forall a, In a l -> f a = g a) -> sum f l = sum g l.
  Proof.
    induction l as [|a l IH]; simpl; intros H; [reflexivity|].
    rewrite (H a), IH; auto.
  Qed.

  Lemma sum_le f g l : (forall a, In a l -> f a <= g a) -> sum f l <= sum g l.
  Proof.
    induction l as [|a l IH]; simpl; intros H; [lra|].
    assert (f a <= g a) by auto. assert (sum f l <= sum g l) by auto. lra.
  Qed.

  Lemma sum_nonneg f l : (forall a, In a l -> 0 <= f a) -> 0 <= sum f l.
  Proof.
    induction l as [|a l IH]; simpl; intros H; [lra|].
    assert (0 <= f a) by auto. assert (0 <= sum f l) by auto. lra.
  Qed.

  Lemma sum_plus f g l : sum (fun a => f a + g a) l = sum f l + sum g l.
  Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; lra. Qed.

  Lemma sum_minus f g l : sum (fun a => f a - g a) l = sum f l - sum g l.
  Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; lra. Qed.

  Lemma sum_scale c f l : sum (fun a => c * f a) l = c * sum f l.
  Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; lra. Qed.

  Lemma sum_const c l : sum (fun _ => c) l = c * INR (length l).
  Proof.
    induction l as [|a l IH]; [simpl; lra|].
    change (length (a :: l)) with (S (length l)). rewrite S_INR. simpl. rewrite IH. lra.
  Qed.

  Lemma sum_zero l : sum (fun _ => 0) l = 0.
  Proof. rewrite sum_const. lra. Qed.

  Lemma sum_app f l l' : sum f (l ++ l') = sum f l + sum f l'.
  Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; lra. Qed.

  Lemma sum_member f l a : (forall b, In b l -> 0 <= f b) -> In a l -> f a <= sum f l.
  Proof.
    induction l as [|b l IH]; simpl; intros H I; [contradiction|].
    assert (0 <= f b) by auto. assert (0 <= sum f l) by (apply sum_nonneg; auto).
    destruct I as [->|I]; [lra|]. assert (f a <= sum f l) by auto. lra.
  Qed.

  Lemma sum_filter_le f (keep : A -> bool) l :
    (forall a, In a l -> 0 <= f a) -> sum f (filter keep l) <= sum f l.
  Proof.
    induction l as [|a l IH]; simpl; intros H; [lra|].
    assert (0 <= f a) by auto. assert (sum f (filter keep l) <= sum f l) by auto.
    destruct (keep a); simpl; lra.
  Qed.

  (** Two filters that never keep the same element take away at most the whole. *)
  Lemma sum_filter_disjoint f (p q : A -> bool) l :
    (forall a, In a l -> 0 <= f a) -> (forall a, In a l -> p a = true -> q a = false) ->
    sum f (filter p l) + sum f (filter q l) <= sum f l.
  Proof.
    induction l as [|a l IH]; simpl; intros H D; [lra|].
    assert (0 <= f a) by auto.
    assert (sum f (filter p l) + sum f (filter q l) <= sum f l) by auto.
    specialize (D a (or_introl eq_refl)).
    destruct (p a), (q a); simpl; solve [lra | discriminate (D eq_refl)].
  Qed.

  Lemma product_pos f l : (forall a, In a l -> 0 < f a) -> 0 < product f l.
  Proof.
    induction l as [|a l IH]; simpl; intros H; [lra|].
    apply Rmult_lt_0_compat; auto.
  Qed.

  Lemma product_nonneg f l : (forall a, In a l -> 0 <= f a) -> 0 <= product f l.
  Proof.
    induction l as [|a l IH]; simpl; intros H; [lra|].
    apply Rmult_le_pos; auto.
  Qed.

  (** The loss [- ln] of a product is the sum of the losses. *)
  Lemma ln_product f l :
    (forall a, In a l -> 0 < f a) -> - ln (product f l) = sum (fun a => - ln (f a)) l.
  Proof.
    induction l as [|a l IH]; simpl; intros H.
    - rewrite ln_1. lra.
    - rewrite ln_mult; [|auto|apply product_pos; auto]. rewrite <- IH; auto. lra.
  Qed.

  (** Cauchy-Schwarz against the constant 1: the square of a sum of n terms is at most n times the
      sum of the squares. *)
  Lemma sum_square f l : sum f l * sum f l <= INR (length l) * sum (fun a => f a * f a) l.
  Proof.
    induction l as [|a l IH]; [simpl; lra|].
    change (length (a :: l)) with (S (length l)). rewrite S_INR. simpl.
    set (n := INR (length l)) in *. set (s := sum f l) in *.
    set (q := sum (fun a => f a * f a) l) in *.
    assert (0 <= n) by apply pos_INR.
    assert (0 <= q) by (apply sum_nonneg; intros; apply Rle_0_sqr).
    assert (2 * f a * s <= n * (f a * f a) + q).
    { destruct (Req_dec n 0) as [E|E].
      - rewrite E in IH. assert (s = 0) by nra. rewrite E, H1. nra.
      - assert (0 <= (n * f a - s) * (n * f a - s)) by apply Rle_0_sqr.
        apply Rmult_le_reg_l with n; [lra|]. nra. }
    nra.
  Qed.
End Sums.

Lemma sum_map {A B : Type} (f : B -> R) (g : A -> B) l : sum f (map g l) = sum (fun a => f (g a)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma sum_swap {A B : Type} (f : A -> B -> R) (l : list A) (m : list B) :
  sum (fun a => sum (f a) m) l = sum (fun b => sum (fun a => f a b) l) m.
Proof.
  induction l as [|a l IH]; simpl.
  - symmetry. apply sum_zero.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

(** Squares decide between numbers that are not negative. *)
Lemma le_of_squares a b : 0 <= b -> a * a <= b * b -> a <= b.
Proof. intros. destruct (Rle_lt_dec a b); [assumption|nra]. Qed.

Lemma le_sqrt_of_square a b : 0 <= b -> a * a <= b -> a <= sqrt b.
Proof.
  intros Hb H. apply le_of_squares; [apply sqrt_pos|]. rewrite sqrt_sqrt; assumption.
Qed.

(** Logarithm to the base 2. *)
Definition log2 (x : R) : R := ln x / ln 2.

Lemma ln_2_pos : 0 < ln 2.
Proof. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Lemma ln_le x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros Hx [H|H]; [left; apply ln_increasing; assumption|subst; lra]. Qed.

Lemma ln_pow x n : 0 < x -> ln (x ^ n) = INR n * ln x.
Proof.
  intros Hx. induction n as [|n IH].
  - simpl. rewrite ln_1. lra.
  - rewrite S_INR. simpl. rewrite ln_mult; [rewrite IH; lra|assumption|apply pow_lt; assumption].
Qed.

Lemma ln_div x y : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof.
  intros. unfold Rdiv. rewrite ln_mult, ln_Rinv; [lra|assumption|assumption|].
  apply Rinv_0_lt_compat; assumption.
Qed.

(** From [2^n w <= W] to [n <= log2 (W / w)]. *)
Lemma le_log2 n w W : 0 < w -> 2 ^ n * w <= W -> INR n <= log2 (W / w).
Proof.
  intros Hw H. unfold log2.
  assert (0 < 2 ^ n) by (apply pow_lt; lra).
  assert (0 < W) by (apply Rlt_le_trans with (2 ^ n * w); [apply Rmult_lt_0_compat|]; assumption).
  apply Rmult_le_reg_r with (ln 2); [apply ln_2_pos|].
  replace (ln (W / w) / ln 2 * ln 2) with (ln (W / w)) by (field; pose proof ln_2_pos; lra).
  rewrite <- ln_pow by lra. apply ln_le; [assumption|].
  apply Rmult_le_reg_r with w; [assumption|].
  replace (W / w * w) with W by (field; lra). assumption.
Qed.
