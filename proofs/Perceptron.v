(** The Perceptron's four mistake bounds, in any space with an inner product.

    w begins at w_1 (0 unless stated). Predict +1 if <w,x> >= 0, else -1; on a mistake add y x to w. M is the number of
    mistakes, and all sums run over ALL rounds of the stream. For every vector u:

    - perceptron_margin (src/novikoff/linear/theorems/perceptron_margin.py):
        if ||x|| <= R and y<u,x> >= margin > 0 in every round, M <= R^2 ||u||^2 / margin^2.
    - perceptron_hinge (perceptron_hinge.py): with D = sum of max(0, 1 - y<u,x>), a = R ||u||,
        M <= D + a^2/2 + a sqrt(D + a^2/4),
      and, from any w_1, with D' = D - <u,w_1> and b = ||u|| ||w_1||, M <= D' + a^2/2 + sqrt(a^2 D' + a^4/4 + b^2).
    - perceptron_lengths (perceptron_lengths.py): for every kappa > 0, from any w_1,
        M <= sum of max(0, 1 + kappa ||x||^2 - y<u,x>) - <u,w_1> + kappa ||w_1||^2 + ||u||^2 / (4 kappa).
    - perceptron_squared_hinge (perceptron_squared_hinge.py): with Q = sum of max(0, 1 - y<u,x>)^2,
        M <= (a + sqrt Q)^2.

    The whole proof is two lemmas: what the mistakes add to <u,w>, and how little they add to ||w||^2. *)

Require Import Reals ZArith Bool List Lra Lia Psatz.
From Novikoff Require Import Sums InnerProduct.
Import ListNotations.
Open Scope R_scope.

(** The label +1 is [true], and -1 is [false]. *)
Definition sign (y : bool) : R := if y then 1 else -1.

Lemma sign_square y : sign y * sign y = 1.
Proof. destruct y; simpl; lra. Qed.

Section Perceptron.
  Context {E : Space}.
  Local Notation round := (vec E * bool)%type.

  (** A score of 0 predicts +1. *)
  Definition predict (w x : E) : bool := if Rle_dec 0 (dot w x) then true else false.
  Definition update (w x : E) (y : bool) : E := plus w (scale (sign y) x).

  (** The weights after the stream [s]. *)
  Fixpoint run (w : E) (s : list round) : E :=
    match s with
    | [] => w
    | (x, y) :: rest => run (if bool_dec (predict w x) y then w else update w x y) rest
    end.

  (** The rounds in which it erred. *)
  Fixpoint erred (w : E) (s : list round) : list round :=
    match s with
    | [] => []
    | (x, y) :: rest =>
        if bool_dec (predict w x) y then erred w rest else (x, y) :: erred (update w x y) rest
    end.

  Definition perceptron_errs (w : E) (s : list round) : nat := length (erred w s).

  (** y <u,x>, and the hinge loss of u. *)
  Definition margin_of (u : E) (r : round) : R := sign (snd r) * dot u (fst r).
  Definition square (r : round) : R := dot (fst r) (fst r).
  Definition hinge (u : E) (r : round) : R := Rmax 0 (1 - margin_of u r).

  (** On a mistake y<w,x> <= 0. *)
  Lemma mistake_score w x y : predict w x <> y -> sign y * dot w x <= 0.
  Proof. unfold predict. destruct (Rle_dec 0 (dot w x)), y; simpl; intros; try congruence; lra. Qed.

  (** The mistakes add their y<u,x> to <u,w>. *)
  Lemma run_progress u : forall s w, dot u (run w s) = dot u w + sum (margin_of u) (erred w s).
  Proof.
    induction s as [|[x y] s IH]; intros w; simpl; [lra|].
    destruct (bool_dec (predict w x) y); rewrite IH; [reflexivity|].
    unfold update, margin_of. simpl. rewrite dot_plus_r, dot_scale_r. lra.
  Qed.

  (** They add no more than their ||x||^2 to ||w||^2. *)
  Lemma run_length : forall s w, dot (run w s) (run w s) <= dot w w + sum square (erred w s).
  Proof.
    induction s as [|[x y] s IH]; intros w; simpl; [lra|].
    destruct (bool_dec (predict w x) y) as [|N]; [apply IH|].
    eapply Rle_trans; [apply IH|]. unfold update, square. simpl.
    rewrite dot_step, sign_square. pose proof (mistake_score w x y N). lra.
  Qed.

  (** A sum over the mistakes is at most the sum of a larger, non-negative function over all rounds. *)
  Lemma sum_erred (f g : round -> R) : (forall r, f r <= g r) -> (forall r, 0 <= g r) ->
    forall s w, sum f (erred w s) <= sum g s.
  Proof.
    intros Le Pos. induction s as [|[x y] s IH]; intros w; simpl; [lra|].
    destruct (bool_dec (predict w x) y); simpl;
      [pose proof (IH w)|pose proof (IH (update w x y))]; pose proof (Le (x, y)); pose proof (Pos (x, y)); lra.
  Qed.

  Lemma erred_in : forall s w r, In r (erred w s) -> In r s.
  Proof.
    induction s as [|[x y] s IH]; simpl; intros w r I; [contradiction|].
    destruct (bool_dec (predict w x) y); [right; eapply IH; eassumption|].
    destruct I as [<-|I]; [left; reflexivity|right; eapply IH; eassumption].
  Qed.

  Lemma hinge_nonneg u r : 0 <= hinge u r.
  Proof. apply Rmax_l. Qed.

  Lemma hinge_above u r : 1 - margin_of u r <= hinge u r.
  Proof. apply Rmax_r. Qed.

  Lemma squares_le R2 s w : (forall r, In r s -> square r <= R2) ->
    sum square (erred w s) <= R2 * INR (perceptron_errs w s).
  Proof.
    intros B. unfold perceptron_errs. rewrite <- sum_const. apply sum_le.
    intros r I. apply B. eapply erred_in; eassumption.
  Qed.

  (** ||w_end||^2 <= ||w_1||^2 + R^2 M *)
  Lemma run_norm R2 s w : (forall r, In r s -> square r <= R2) ->
    dot (run w s) (run w s) <= dot w w + R2 * INR (perceptron_errs w s).
  Proof. intros B. pose proof (run_length s w). pose proof (squares_le R2 s w B). lra. Qed.

  (** ** Margin *)

  (** Without roots and divisions: M margin^2 <= R^2 ||u||^2. This is the form evaluated in whole numbers. *)
  Theorem perceptron_margin_exact : forall u margin rad s,
    0 < margin -> (forall r, In r s -> square r <= rad * rad) -> (forall r, In r s -> margin <= margin_of u r) ->
    INR (perceptron_errs zero s) * (margin * margin) <= rad * rad * dot u u.
  Proof.
    intros u margin rad s Pos B Sep. set (M := INR (perceptron_errs zero s)).
    assert (0 <= M) as M0 by apply pos_INR.
    pose proof (run_progress u s zero) as P. rewrite dot_zero_r in P.
    assert (margin * M <= sum (margin_of u) (erred zero s)) as G.
    { unfold M, perceptron_errs. rewrite <- sum_const. apply sum_le.
      intros r I. apply Sep. eapply erred_in; eassumption. }
    pose proof (run_norm (rad * rad) s zero B) as N. rewrite dot_zero in N. fold M in N.
    pose proof (cauchy_schwarz_square u (run zero s)) as C.
    pose proof (dot_pos _ u) as U. pose proof (Rle_0_sqr rad) as R0. unfold Rsqr in R0.
    destruct (Req_dec M 0) as [Z|NZ]; [rewrite Z; nra|].
    (* (M margin)^2 <= <u,w>^2 <= ||u||^2 ||w||^2 <= ||u||^2 R^2 M; divide by M *)
    assert (margin * M * (margin * M) <= dot u (run zero s) * dot u (run zero s)) as S.
    { assert (0 <= margin * M) by (apply Rmult_le_pos; lra). apply Rmult_le_compat; lra. }
    assert (dot u u * dot (run zero s) (run zero s) <= dot u u * (rad * rad * M)) as T.
    { apply Rmult_le_compat_l; lra. }
    apply Rmult_le_reg_r with M; [lra|].
    replace (M * (margin * margin) * M) with (margin * M * (margin * M)) by ring.
    replace (rad * rad * dot u u * M) with (dot u u * (rad * rad * M)) by ring. lra.
  Qed.

  (** Novikoff's theorem: M <= (R / margin)^2 for a unit vector u. *)
  Theorem perceptron_margin : forall u margin rad s,
    norm u = 1 -> 0 < margin -> 0 <= rad ->
    (forall x y, In (x, y) s -> norm x <= rad) -> (forall x y, In (x, y) s -> margin <= sign y * dot u x) ->
    INR (perceptron_errs zero s) <= (rad / margin) ^ 2.
  Proof.
    intros u margin rad s Unit Pos R0 B Sep.
    assert (INR (perceptron_errs zero s) * (margin * margin) <= rad * rad * dot u u) as X.
    { apply perceptron_margin_exact; [assumption| |].
      - intros [x y] I. unfold square. simpl. rewrite <- norm_square.
        apply Rmult_le_compat; try apply norm_nonneg; eapply B; eassumption.
      - intros [x y] I. apply Sep. assumption. }
    rewrite <- norm_square, Unit in X.
    apply Rmult_le_reg_r with (margin * margin); [nra|].
    replace ((rad / margin) ^ 2 * (margin * margin)) with (rad * rad) by (simpl; field; lra). lra.
  Qed.

  (** In whole numbers, as certificates on integer data evaluate it: M <= floor(R2 U2 / m^2). *)
  Theorem perceptron_margin_integers : forall u s (m R2 U2 : Z),
    (0 < m)%Z -> (0 <= R2)%Z -> (forall r, In r s -> square r <= IZR R2) ->
    (forall r, In r s -> IZR m <= margin_of u r) -> dot u u <= IZR U2 ->
    (Z.of_nat (perceptron_errs zero s) <= R2 * U2 / (m * m))%Z.
  Proof.
    intros u s m R2 U2 Pos R0 B Sep U.
    assert (0 < IZR m) as Pm by (apply (IZR_lt 0); assumption).
    assert (0 <= IZR R2) as P2 by (apply (IZR_le 0); assumption).
    assert (INR (perceptron_errs zero s) * (IZR m * IZR m) <= IZR R2 * dot u u) as X.
    { rewrite <- (sqrt_sqrt (IZR R2)) by assumption. apply perceptron_margin_exact; [assumption| |assumption].
      rewrite sqrt_sqrt by assumption. assumption. }
    apply Z.div_le_lower_bound; [nia|]. apply le_IZR. rewrite !mult_IZR, <- INR_IZR_INZ.
    assert (IZR R2 * dot u u <= IZR R2 * IZR U2) by (apply Rmult_le_compat_l; assumption). lra.
  Qed.

  (** ** Hinge loss *)

  (** M - D + <u,w_1> <= ||u|| sqrt(||w_1||^2 + R^2 M), here with squares under one root. *)
  Lemma hinge_inequality u rad s w : (forall r, In r s -> square r <= rad * rad) ->
    let M := INR (perceptron_errs w s) in
    M - sum (hinge u) s + dot u w <= norm u * sqrt (dot w w + rad * rad * M).
  Proof.
    intros B M. pose proof (run_progress u s w) as P.
    assert (M - sum (hinge u) s <= sum (margin_of u) (erred w s)) as G.
    { assert (M - sum (margin_of u) (erred w s) <= sum (hinge u) s); [|lra].
      unfold M, perceptron_errs.
      replace (INR (length (erred w s))) with (sum (fun _ : round => 1) (erred w s)) by (rewrite sum_const; lra).
      rewrite <- sum_minus. apply sum_erred; [apply hinge_above|apply hinge_nonneg]. }
    pose proof (cauchy_schwarz u (run w s)) as C.
    assert (norm (run w s) <= sqrt (dot w w + rad * rad * M)) as N.
    { unfold norm. apply sqrt_le_1_alt. apply (run_norm (rad * rad)). assumption. }
    pose proof (norm_nonneg u).
    assert (norm u * norm (run w s) <= norm u * sqrt (dot w w + rad * rad * M)) by (apply Rmult_le_compat_l; assumption).
    lra.
  Qed.

  (** If M - D' <= sqrt(b^2 + a^2 M), M is at most the larger root. *)
  Lemma largest_root M D a b : 0 <= a -> - b <= D -> 0 <= b * b + a * a * M ->
    M - D <= sqrt (b * b + a * a * M) ->
    M <= D + a * a / 2 + sqrt (a * a * D + a * a * a * a / 4 + b * b).
  Proof.
    intros Ha Hb Rad H. set (z := M - D) in *.
    set (rho := a * a * D + a * a * a * a / 4 + b * b).
    (* the radicand is at least (b - a^2/2)^2 *)
    assert (0 <= rho) as Hr.
    { assert (0 <= (b - a * a / 2) * (b - a * a / 2)) by apply Rle_0_sqr.
      assert (0 <= a * a * (D + b)) by (apply Rmult_le_pos; [apply Rle_0_sqr|lra]). unfold rho. nra. }
    pose proof (sqrt_pos rho) as S0. pose proof (sqrt_sqrt rho Hr) as SS.
    destruct (Rle_lt_dec z (a * a / 2 + sqrt rho)) as [L|L]; [unfold z in L; lra|exfalso].
    assert (0 <= a * a) by apply Rle_0_sqr.
    assert (z * z <= b * b + a * a * M) as Q.
    { rewrite <- (sqrt_sqrt (b * b + a * a * M)) by assumption. apply Rmult_le_compat; lra. }
    assert (sqrt rho * sqrt rho < (z - a * a / 2) * (z - a * a / 2)) as V.
    { apply Rmult_le_0_lt_compat; lra. }
    rewrite SS in V. unfold rho in V. assert (M = z + D) as Mz by (unfold z; lra). rewrite Mz in Q. nra.
  Qed.

  (** From any w_1, such as the weights of a learner that was trained before. *)
  Theorem perceptron_hinge_from : forall u rad s w,
    0 <= rad -> (forall r, In r s -> square r <= rad * rad) ->
    let a := rad * norm u in let b := norm u * norm w in let D := sum (hinge u) s - dot u w in
    INR (perceptron_errs w s) <= D + a * a / 2 + sqrt (a * a * D + a * a * a * a / 4 + b * b).
  Proof.
    intros u rad s w R0 B a b D. pose proof (hinge_inequality u rad s w B) as H. simpl in H.
    set (M := INR (perceptron_errs w s)) in *.
    assert (0 <= M) by apply pos_INR. pose proof (norm_nonneg u) as U.
    assert (norm u * sqrt (dot w w + rad * rad * M) = sqrt (b * b + a * a * M)) as Eq.
    { rewrite <- (sqrt_square (norm u)) at 1 by assumption. rewrite <- sqrt_mult.
      - f_equal. rewrite <- (norm_square w). unfold a, b. ring.
      - apply Rle_0_sqr.
      - pose proof (dot_pos _ w). pose proof (Rle_0_sqr rad) as Q. unfold Rsqr in Q. nra. }
    apply largest_root.
    - apply Rmult_le_pos; assumption.
    - assert (0 <= sum (hinge u) s) by (apply sum_nonneg; intros; apply hinge_nonneg).
      pose proof (cauchy_schwarz u w). unfold b, D. lra.
    - pose proof (Rle_0_sqr a) as Q1. pose proof (Rle_0_sqr b) as Q2. unfold Rsqr in *. nra.
    - rewrite <- Eq. unfold D. lra.
  Qed.

  (** From w_1 = 0. *)
  Theorem perceptron_hinge : forall u rad s,
    0 <= rad -> (forall x y, In (x, y) s -> norm x <= rad) ->
    let a := rad * norm u in let D := sum (hinge u) s in
    INR (perceptron_errs zero s) <= D + a ^ 2 / 2 + a * sqrt (D + a ^ 2 / 4).
  Proof.
    intros u rad s R0 B a D.
    assert (forall r, In r s -> square r <= rad * rad) as B'.
    { intros [x y] I. unfold square. simpl. rewrite <- norm_square.
      apply Rmult_le_compat; try apply norm_nonneg; eapply B; eassumption. }
    pose proof (perceptron_hinge_from u rad s zero R0 B') as H. simpl in H.
    assert (norm (zero : E) = 0) as Z by (unfold norm; rewrite dot_zero; apply sqrt_0).
    rewrite Z, dot_zero_r in H. fold a D in H.
    assert (0 <= a) as A by (apply Rmult_le_pos; [assumption|apply norm_nonneg]).
    assert (0 <= D) by (apply sum_nonneg; intros; apply hinge_nonneg).
    replace (a * sqrt (D + a ^ 2 / 4)) with (sqrt (a * a * (D - 0) + a * a * a * a / 4 + norm u * 0 * (norm u * 0))).
    - replace (a ^ 2) with (a * a) by ring. lra.
    - replace (a * a * (D - 0) + a * a * a * a / 4 + norm u * 0 * (norm u * 0)) with (a * a * (D + a ^ 2 / 4)) by field.
      rewrite sqrt_mult, sqrt_square; [reflexivity|assumption|nra|nra].
  Qed.

  (** The comparator u = U / scale, without roots and divisions: with N = sum of max(0, scale - y<U,x>), either
      scale M <= N, or (scale M - N)^2 <= R^2 ||U||^2 M. The largest such M is found by bisection. *)
  Theorem perceptron_hinge_exact : forall U scale rad s,
    (forall r, In r s -> square r <= rad * rad) ->
    let M := INR (perceptron_errs zero s) in let N := sum (fun r => Rmax 0 (scale - margin_of U r)) s in
    scale * M <= N \/ (scale * M - N) ^ 2 <= rad * rad * dot U U * M.
  Proof.
    intros U scale rad s B M N. destruct (Rle_lt_dec (scale * M) N) as [L|L]; [left; assumption|right].
    pose proof (run_progress U s zero) as P. rewrite dot_zero_r in P.
    assert (scale * M - N <= dot U (run zero s)) as G.
    { assert (scale * M - sum (margin_of U) (erred zero s) <= N); [|lra].
      unfold M, perceptron_errs. rewrite <- sum_const, <- sum_minus.
      apply sum_erred; intros r; [apply Rmax_r|apply Rmax_l]. }
    pose proof (run_norm (rad * rad) s zero B) as W. rewrite dot_zero in W. fold M in W.
    pose proof (cauchy_schwarz_square U (run zero s)) as C. pose proof (dot_pos _ U).
    assert ((scale * M - N) * (scale * M - N) <= dot U (run zero s) * dot U (run zero s)) by (apply Rmult_le_compat; lra).
    assert (dot U U * dot (run zero s) (run zero s) <= dot U U * (rad * rad * M)) by (apply Rmult_le_compat_l; lra).
    simpl. rewrite Rmult_1_r. lra.
  Qed.

  (** ** Examples of different lengths *)

  Definition long_hinge (kappa : R) (u : E) (r : round) : R := Rmax 0 (1 + kappa * square r - margin_of u r).

  Theorem perceptron_lengths : forall u kappa s w, 0 < kappa ->
    INR (perceptron_errs w s)
      <= sum (long_hinge kappa u) s - dot u w + kappa * dot w w + dot u u / (4 * kappa).
  Proof.
    intros u kappa s w Hk. pose proof (run_progress u s w) as P. pose proof (run_length s w) as N.
    set (v := run w s) in *.
    (* <u,v> <= kappa ||v||^2 + ||u||^2/(4 kappa), from 0 <= ||u - 2 kappa v||^2 *)
    assert (dot u v <= kappa * dot v v + dot u u / (4 * kappa)) as Young.
    { pose proof (dot_pos _ (plus u (scale (- (2 * kappa)) v))) as S. rewrite dot_step in S.
      apply Rmult_le_reg_l with (4 * kappa); [lra|].
      replace (4 * kappa * (kappa * dot v v + dot u u / (4 * kappa))) with (4 * kappa * kappa * dot v v + dot u u)
        by (field; lra). lra. }
    assert (INR (perceptron_errs w s) + kappa * sum square (erred w s) - sum (margin_of u) (erred w s)
            <= sum (long_hinge kappa u) s) as G.
    { unfold perceptron_errs.
      replace (INR (length (erred w s))) with (sum (fun _ : round => 1) (erred w s)) by (rewrite sum_const; lra).
      rewrite <- sum_scale, <- sum_plus, <- sum_minus.
      apply sum_erred; intros r; unfold long_hinge; [apply Rmax_r|apply Rmax_l]. }
    assert (kappa * dot v v <= kappa * (dot w w + sum square (erred w s))) by (apply Rmult_le_compat_l; lra).
    lra.
  Qed.

  (** The same for u = U / scale and kappa / scale: all scales ride on one U. *)
  Theorem perceptron_lengths_scaled : forall U kappa scale s w, 0 < kappa -> 0 < scale ->
    INR (perceptron_errs w s)
      <= (sum (fun r => Rmax 0 (scale - (margin_of U r - kappa * square r))) s - dot U w + kappa * dot w w
          + dot U U / (4 * kappa)) / scale.
  Proof.
    intros U kappa scale s w Hk Hs. pose proof (run_progress U s w) as P. pose proof (run_length s w) as N.
    set (v := run w s) in *.
    assert (dot U v <= kappa * dot v v + dot U U / (4 * kappa)) as Young.
    { pose proof (dot_pos _ (plus U (InnerProduct.scale (- (2 * kappa)) v))) as S. rewrite dot_step in S.
      apply Rmult_le_reg_l with (4 * kappa); [lra|].
      replace (4 * kappa * (kappa * dot v v + dot U U / (4 * kappa))) with (4 * kappa * kappa * dot v v + dot U U)
        by (field; lra). lra. }
    assert (scale * INR (perceptron_errs w s) + kappa * sum square (erred w s) - sum (margin_of U) (erred w s)
            <= sum (fun r => Rmax 0 (scale - (margin_of U r - kappa * square r))) s) as G.
    { unfold perceptron_errs. rewrite <- sum_const, <- sum_scale, <- sum_plus, <- sum_minus.
      apply sum_erred; intros r; [|apply Rmax_l]. eapply Rle_trans; [|apply Rmax_r]. lra. }
    assert (kappa * dot v v <= kappa * (dot w w + sum square (erred w s))) by (apply Rmult_le_compat_l; lra).
    apply Rmult_le_reg_l with scale; [assumption|].
    unfold Rdiv at 1. rewrite (Rmult_comm _ (/ scale)), <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. lra.
  Qed.

  (** ** Squared hinge loss *)

  Theorem perceptron_squared_hinge : forall u rad s,
    0 <= rad -> (forall x y, In (x, y) s -> norm x <= rad) ->
    INR (perceptron_errs zero s) <= (rad * norm u + sqrt (sum (fun r => hinge u r ^ 2) s)) ^ 2.
  Proof.
    intros u rad s R0 B. set (Q := sum (fun r => hinge u r ^ 2) s). set (S := erred zero s).
    set (M := INR (perceptron_errs zero s)). assert (0 <= M) as M0 by apply pos_INR.
    assert (forall r, In r s -> square r <= rad * rad) as B'.
    { intros [x y] I. unfold square. simpl. rewrite <- norm_square.
      apply Rmult_le_compat; try apply norm_nonneg; eapply B; eassumption. }
    pose proof (run_progress u s zero) as P. rewrite dot_zero_r in P. fold S in P.
    pose proof (cauchy_schwarz u (run zero s)) as C.
    assert (norm (run zero s) <= rad * sqrt M) as N.
    { unfold norm. rewrite <- (sqrt_square rad) by assumption. rewrite <- sqrt_mult; [|nra|assumption].
      apply sqrt_le_1_alt. pose proof (run_norm (rad * rad) s zero B') as K. rewrite dot_zero in K. fold M in K. lra. }
    assert (0 <= Q) as Q0.
    { apply sum_nonneg. intros r _. pose proof (hinge_nonneg u r). simpl. nra. }
    (* the losses on the mistakes sum to at most sqrt(M Q) *)
    assert (sum (hinge u) S <= sqrt M * sqrt Q) as L.
    { rewrite <- sqrt_mult by assumption. apply le_sqrt_of_square; [apply Rmult_le_pos; assumption|].
      eapply Rle_trans; [apply sum_square|]. fold M. apply Rmult_le_compat_l; [apply pos_INR|].
      apply sum_erred; intros r; pose proof (hinge_nonneg u r); simpl; nra. }
    assert (M - sum (hinge u) S <= sum (margin_of u) S) as G.
    { assert (M - sum (margin_of u) S <= sum (hinge u) S); [|lra].
      replace M with (sum (fun _ : round => 1) S) by (rewrite sum_const; unfold M, perceptron_errs, S; lra).
      rewrite <- sum_minus. apply sum_le. intros r _. apply hinge_above. }
    pose proof (sqrt_pos M) as m0. pose proof (sqrt_pos Q) as q0. pose proof (sqrt_sqrt M M0) as mm.
    pose proof (norm_nonneg u) as U.
    assert (norm u * norm (run zero s) <= norm u * (rad * sqrt M)) by (apply Rmult_le_compat_l; assumption).
    set (m := sqrt M) in *. set (a := rad * norm u) in *.
    assert (0 <= a) by (apply Rmult_le_pos; assumption).
    assert (m * m <= m * (a + sqrt Q)) as F by (unfold a; nra).
    assert (m <= a + sqrt Q).
    { destruct (Req_dec m 0) as [Z|Z]; [lra|]. apply Rmult_le_reg_l with m; lra. }
    rewrite <- mm. simpl. rewrite Rmult_1_r. apply Rmult_le_compat; lra.
  Qed.
End Perceptron.
