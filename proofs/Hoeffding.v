(** Hoeffding's lemma, with the constant 1/8.

    For weights w that sum to 1, numbers l in [0, S] with mean h, and every rate r:

        sum of w exp(-r l)  <=  exp( - r h + r^2 S^2 / 8 ).

    First for two values: 1 - p + p e^x <= exp(p x + x^2/8), by two uses of the mean value theorem, as the logarithm of
    the left side has a second derivative of at most 1/4. Then for any l, as exp is below its chord on [0, S]. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** exp is above each tangent, so below each chord. *)
Lemma exp_tangent m a : exp m * (1 + (a - m)) <= exp a.
Proof.
  replace a with (m + (a - m)) at 2 by ring. rewrite exp_plus.
  apply Rmult_le_compat_l; [left; apply exp_pos|]. apply exp_ineq1_le.
Qed.

Lemma exp_convex lambda a b : 0 <= lambda <= 1 ->
  exp (lambda * a + (1 - lambda) * b) <= lambda * exp a + (1 - lambda) * exp b.
Proof.
  intros H. set (m := lambda * a + (1 - lambda) * b).
  assert (lambda * (exp m * (1 + (a - m))) <= lambda * exp a)
    by (apply Rmult_le_compat_l; [lra|apply exp_tangent]).
  assert ((1 - lambda) * (exp m * (1 + (b - m))) <= (1 - lambda) * exp b)
    by (apply Rmult_le_compat_l; [lra|apply exp_tangent]).
  assert (lambda * (exp m * (1 + (a - m))) + (1 - lambda) * (exp m * (1 + (b - m))) = exp m)
    by (unfold m; ring).
  lra.
Qed.

(** A function that begins at 0 and has no negative derivative is not negative. *)
Lemma nonneg_by_derivative (f f' : R -> R) : f 0 = 0 ->
  (forall c, 0 <= c -> derivable_pt_lim f c (f' c)) -> (forall c, 0 <= c -> 0 <= f' c) ->
  forall x, 0 <= x -> 0 <= f x.
Proof.
  intros F0 D Pos x [Hx|<-]; [|lra].
  destruct (MVT_cor2 f f' 0 x Hx) as [c [Eq [C0 _]]]; [intros c [C _]; apply D; assumption|].
  assert (0 <= f' c) by (apply Pos; lra). assert (0 <= f' c * (x - 0)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma derivable_value f x a b : a = b -> derivable_pt_lim f x a -> derivable_pt_lim f x b.
Proof. intros ->. trivial. Qed.

Section TwoValues.
  Variable p : R.
  Hypothesis p_range : 0 <= p <= 1.

  Let d (x : R) : R := 1 - p + p * exp x.

  Lemma d_positive x : 0 <= x -> 1 <= d x.
  Proof.
    intros Hx. unfold d. assert (1 <= exp x) by (pose proof (exp_ineq1_le x); lra). nra.
  Qed.

  Lemma d_derivative x : derivable_pt_lim d x (p * exp x).
  Proof.
    replace (p * exp x) with (0 + p * exp x) by ring.
    exact (derivable_pt_lim_plus (fct_cte (1 - p)) (mult_real_fct p exp) x 0 (p * exp x)
             (derivable_pt_lim_const (1 - p) x) (derivable_pt_lim_scal exp p x (exp x) (derivable_pt_lim_exp x))).
  Qed.

  (** The derivative of p x + x^2/8 - ln d(x), and its own derivative. *)
  Let g (x : R) : R := p + x * / 4 - p * exp x / d x.
  Let g' (x : R) : R := / 4 - (p * exp x * d x - p * exp x * (p * exp x)) / Rsqr (d x).

  Lemma g_derivative x : 0 <= x -> derivable_pt_lim g x (g' x).
  Proof.
    intros Hx. pose proof (d_positive x Hx).
    assert (derivable_pt_lim (fun x => p + x * / 4) x (/ 4)) as L.
    { refine (derivable_value _ _ _ _ _
                (derivable_pt_lim_plus (fct_cte p) (mult_fct id (fct_cte (/ 4))) x _ _
                   (derivable_pt_lim_const p x)
                   (derivable_pt_lim_mult id (fct_cte (/ 4)) x _ _ (derivable_pt_lim_id x)
                      (derivable_pt_lim_const (/ 4) x)))).
      unfold id, fct_cte. ring. }
    assert (derivable_pt_lim (mult_real_fct p exp) x (p * exp x)) as N
      by exact (derivable_pt_lim_scal exp p x (exp x) (derivable_pt_lim_exp x)).
    pose proof (derivable_pt_lim_div (mult_real_fct p exp) d x _ _ N (d_derivative x) ltac:(lra)) as Q.
    pose proof (derivable_pt_lim_minus (fun x => p + x * / 4) (div_fct (mult_real_fct p exp) d) x _ _ L Q) as T.
    refine (derivable_value _ _ _ _ _ T). unfold g', mult_real_fct, Rdiv. ring.
  Qed.

  (** d^2 - 4 (p e^x)(1 - p) = (1 - p - p e^x)^2 >= 0. *)
  Lemma g'_nonneg x : 0 <= x -> 0 <= g' x.
  Proof.
    intros Hx. pose proof (d_positive x Hx) as D. unfold g'.
    assert (p * exp x * d x - p * exp x * (p * exp x) <= / 4 * Rsqr (d x)).
    { unfold Rsqr, d. assert (0 <= (1 - p - p * exp x) * (1 - p - p * exp x)) by apply Rle_0_sqr. nra. }
    assert (0 < Rsqr (d x)) by (unfold Rsqr; nra).
    assert ((p * exp x * d x - p * exp x * (p * exp x)) / Rsqr (d x) <= / 4); [|lra].
    apply Rmult_le_reg_r with (Rsqr (d x)); [assumption|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  Qed.

  Lemma g_nonneg x : 0 <= x -> 0 <= g x.
  Proof.
    apply (nonneg_by_derivative g g'); [|apply g_derivative|apply g'_nonneg].
    unfold g, d. rewrite exp_0. field. lra.
  Qed.

  Lemma log_two_values x : 0 <= x -> ln (d x) <= p * x + x * x / 8.
  Proof.
    intros Hx.
    assert (0 <= p * x + x * x * / 8 - ln (d x)); [|unfold Rdiv; lra].
    apply (nonneg_by_derivative (fun x => p * x + x * x * / 8 - ln (d x)) g); [| |apply g_nonneg|assumption].
    - unfold d. rewrite exp_0. replace (1 - p + p * 1) with 1 by ring. rewrite ln_1. ring.
    - intros c Hc. pose proof (d_positive c Hc).
      assert (derivable_pt_lim (fun x => p * x + x * x * / 8) c (p + c * / 4)) as L.
      { refine (derivable_value _ _ _ _ _
                  (derivable_pt_lim_plus (mult_real_fct p id) (mult_fct (mult_fct id id) (fct_cte (/ 8))) c _ _
                     (derivable_pt_lim_scal id p c _ (derivable_pt_lim_id c))
                     (derivable_pt_lim_mult (mult_fct id id) (fct_cte (/ 8)) c _ _
                        (derivable_pt_lim_mult id id c _ _ (derivable_pt_lim_id c) (derivable_pt_lim_id c))
                        (derivable_pt_lim_const (/ 8) c)))).
        unfold id, fct_cte, mult_fct. field. }
      assert (derivable_pt_lim (fun x => ln (d x)) c (/ d c * (p * exp c))) as N
        by exact (derivable_pt_lim_comp d ln c _ _ (d_derivative c) (derivable_pt_lim_ln (d c) ltac:(lra))).
      pose proof (derivable_pt_lim_minus _ _ c _ _ L N) as T.
      unfold g. replace (p * exp c / d c) with (/ d c * (p * exp c)) by (field; lra). exact T.
  Qed.
End TwoValues.

(** Two values, x of any sign: a negative x exchanges p and 1 - p. *)
Lemma two_values p x : 0 <= p <= 1 -> 1 - p + p * exp x <= exp (p * x + x * x / 8).
Proof.
  intros Hp. destruct (Rle_lt_dec 0 x) as [Hx|Hx].
  - pose proof (d_positive p Hp x Hx). pose proof (log_two_values p Hp x Hx) as L.
    rewrite <- (exp_ln (1 - p + p * exp x)) by lra.
    destruct L as [L|L]; [left; apply exp_increasing; assumption|right; rewrite L; reflexivity].
  - assert (0 <= 1 - p <= 1) as Hq by lra. assert (0 <= - x) as Hx' by lra.
    pose proof (d_positive (1 - p) Hq (- x) Hx') as D. pose proof (log_two_values (1 - p) Hq (- x) Hx') as L.
    assert (1 - (1 - p) + (1 - p) * exp (- x) <= exp ((1 - p) * - x + - x * - x / 8)) as B.
    { rewrite <- (exp_ln (1 - (1 - p) + (1 - p) * exp (- x))) by lra.
      destruct L as [L|L]; [left; apply exp_increasing; assumption|right; rewrite L; reflexivity]. }
    replace (1 - p + p * exp x) with (exp x * (1 - (1 - p) + (1 - p) * exp (- x))).
    + replace (p * x + x * x / 8) with (x + ((1 - p) * - x + - x * - x / 8)) by field. rewrite exp_plus.
      apply Rmult_le_compat_l; [left; apply exp_pos|assumption].
    + assert (exp x * exp (- x) = 1) as Inv by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
      replace (exp x * (1 - (1 - p) + (1 - p) * exp (- x))) with (p * exp x + (1 - p) * (exp x * exp (- x))) by ring.
      rewrite Inv. ring.
Qed.

(** cosh x <= exp(x^2/2), the form for signs. *)
Corollary cosh_bound x : (exp x + exp (- x)) / 2 <= exp (x * x / 2).
Proof.
  pose proof (two_values (/ 2) (2 * x) ltac:(lra)) as H.
  assert (exp (2 * x) = exp x * exp x) as E by (rewrite <- exp_plus; f_equal; ring).
  assert (exp (- x) * exp x = 1) as Inv by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  replace (/ 2 * (2 * x) + 2 * x * (2 * x) / 8) with (x + x * x / 2) in H by field.
  rewrite exp_plus, E in H.
  apply Rmult_le_reg_l with (exp x); [apply exp_pos|].
  replace (exp x * ((exp x + exp (- x)) / 2)) with ((exp x * exp x + exp (- x) * exp x) / 2) by field.
  rewrite Inv. lra.
Qed.

(** On [0, S] exp(-r l) is below its chord. *)
Lemma exp_chord r S l : 0 < S -> 0 <= l <= S -> exp (- (r * l)) <= 1 - l / S + l / S * exp (- (r * S)).
Proof.
  intros HS Hl.
  assert (0 <= l / S <= 1) as La.
  { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with S; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  pose proof (exp_convex (l / S) (- (r * S)) 0 La) as C. rewrite exp_0 in C.
  replace (l / S * - (r * S) + (1 - l / S) * 0) with (- (r * l)) in C by (field; lra). lra.
Qed.

Section Mean.
  Context {I : Type} (l : list I) (w x : I -> R) (S : R).
  Hypothesis w_nonneg : forall i, In i l -> 0 <= w i.
  Hypothesis w_sum : sum w l = 1.
  Hypothesis x_range : forall i, In i l -> 0 <= x i <= S.

  Let h : R := sum (fun i => w i * x i) l.

  Lemma mean_range : 0 <= h <= S.
  Proof.
    split.
    - apply sum_nonneg. intros i J. apply Rmult_le_pos; [auto|apply x_range, J].
    - replace S with (sum (fun i => S * w i) l) by (rewrite sum_scale, w_sum; ring).
      apply sum_le. intros i J. rewrite Rmult_comm. apply Rmult_le_compat_r; [auto|apply x_range, J].
  Qed.

  (** The mean of exp(-r x) is at most that of two values 0 and S with the same mean. *)
  Lemma mean_chord r : 0 < S -> sum (fun i => w i * exp (- (r * x i))) l <= 1 - h / S + h / S * exp (- (r * S)).
  Proof.
    intros HS.
    apply Rle_trans with (sum (fun i => w i * (1 - x i / S + x i / S * exp (- (r * S)))) l).
    - apply sum_le. intros i J. apply Rmult_le_compat_l; [auto|]. apply exp_chord; [assumption|apply x_range, J].
    - right. rewrite (sum_ext _ (fun i => w i + (exp (- (r * S)) - 1) / S * (w i * x i))) by (intros; field; lra).
      rewrite sum_plus, sum_scale, w_sum. fold h. field. lra.
  Qed.

  Theorem hoeffding : forall r, sum (fun i => w i * exp (- (r * x i))) l <= exp (- (r * h) + r * r * (S * S) / 8).
  Proof.
    intros r. destruct mean_range as [H0 HS]. destruct (Rle_lt_or_eq_dec 0 S ltac:(lra)) as [P|Z].
    - eapply Rle_trans; [apply mean_chord, P|].
      replace (- (r * h) + r * r * (S * S) / 8)
        with (h / S * - (r * S) + - (r * S) * - (r * S) / 8) by (field; lra).
      apply two_values. split.
      + apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra].
      + apply Rmult_le_reg_r with S; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    - (* S = 0: every x is 0 *)
      assert (h = 0) as -> by lra. rewrite <- Z.
      replace (- (r * 0) + r * r * (0 * 0) / 8) with 0 by field. rewrite exp_0, <- w_sum.
      apply sum_le. intros i J. destruct (x_range i J). assert (x i = 0) as -> by lra.
      rewrite Rmult_0_r, Ropp_0, exp_0. lra.
  Qed.
End Mean.
