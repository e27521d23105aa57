(** The number of examples that a distilling learner stores.

    cks_cache (src/novikoff/kernel/theorems/cks_cache.py). f is the sum of y_j x_j over the list L. The learner removes
    examples as long as some j of L has y_j <f,x_j> - ||x_j||^2 > beta. If y <g,x> >= 1 on every round and no ||x||^2
    exceeds R^2, a list from which nothing is left to remove has

        |L|  <=  (R^2 + beta) ||g||^2. *)

Require Import Reals Bool List Lra Lia Psatz.
From Novikoff Require Import Sums InnerProduct Perceptron.
Import ListNotations.
Open Scope R_scope.

Section Distilled.
  Context {E : Space}.

  Fixpoint f (L : list (vec E * bool)) : E :=
    match L with
    | [] => zero
    | r :: rest => plus (f rest) (scale (sign (snd r)) (fst r))
    end.

  Lemma f_dot L (v : E) : dot (f L) v = sum (margin_of v) L.
  Proof.
    induction L as [|r L IH]; simpl; [apply dot_zero|]. rewrite dot_plus, dot_scale, IH.
    unfold margin_of. rewrite (dot_sym _ (fst r) v). ring.
  Qed.

  (** Nothing is left to remove. *)
  Definition distilled (beta : R) (L : list (vec E * bool)) : Prop :=
    forall r, In r L -> margin_of (f L) r - square r <= beta.

  Theorem cks_cache : forall (g : E) beta R2 L, 0 <= beta -> 0 <= R2 ->
    distilled beta L -> (forall r, In r L -> square r <= R2) -> (forall r, In r L -> 1 <= margin_of g r) ->
    INR (length L) <= (R2 + beta) * dot g g.
  Proof.
    intros g beta R2 L B0 R0 Dis Sq Sep. set (n := INR (length L)). assert (0 <= n) as N0 by apply pos_INR.
    assert (dot (f L) (f L) <= (R2 + beta) * n) as Len.
    { rewrite f_dot. unfold n. rewrite <- sum_const. apply sum_le. intros r Hr. specialize (Dis r Hr).
      specialize (Sq r Hr). lra. }
    assert (n <= dot (f L) g) as Prog.
    { rewrite f_dot. unfold n. replace (INR (length L)) with (sum (fun _ : vec E * bool => 1) L) by (rewrite sum_const; lra).
      apply sum_le. assumption. }
    pose proof (cauchy_schwarz_square (f L) g) as C. pose proof (dot_pos _ g) as G.
    assert (n * n <= dot (f L) g * dot (f L) g) by (apply Rmult_le_compat; lra).
    assert (dot (f L) (f L) * dot g g <= (R2 + beta) * n * dot g g) by (apply Rmult_le_compat_r; assumption).
    destruct (Req_dec n 0) as [->|NZ]; [apply Rmult_le_pos; lra|].
    apply Rmult_le_reg_r with n; [lra|]. lra.
  Qed.
End Distilled.
