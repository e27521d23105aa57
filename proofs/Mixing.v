(** The Perceptron that is mixed over shards after every epoch.

    mixing_mistakes (src/novikoff/distributed/theorems/mixing_mistakes.py). In epoch n every shard i begins with w^(n-1),
    plays the Perceptron once over its rows, makes k_in mistakes and ends with w_in; then w^(n) = sum_i mu_in w_in,
    mu_in >= 0, sum_i mu_in = 1, and w^(0) = 0. Let K = sum mu_in k_in, and D = sum mu_in D_i, D_i the hinge loss of u on
    all rounds of shard i. For every u, with a = R ||u||,

        K  <=  D + a sqrt K,     so     K  <=  D + a^2/2 + a sqrt(D + a^2/4). *)

Require Import Reals Bool List Lra Lia Psatz.
From Novikoff Require Import Sums InnerProduct Perceptron.
Import ListNotations.
Open Scope R_scope.

Section Mixing.
  Context {E : Space}.

  (** A shard of an epoch: its weight mu, and its rows. Both may differ from epoch to epoch. *)
  Local Notation shard := (R * list (vec E * bool))%type.
  Definition epoch := list shard.
  Definition proper (e : epoch) : Prop := (forall s, In s e -> 0 <= fst s) /\ sum fst e = 1.

  (** The mean of the shards' weights. *)
  Fixpoint mixed (w : E) (e : epoch) : E :=
    match e with
    | [] => zero
    | (mu, s) :: rest => plus (mixed w rest) (scale mu (run w s))
    end.

  Definition mistakes_of (w : E) (e : epoch) : R := sum (fun s => fst s * INR (perceptron_errs w (snd s))) e.
  Definition loss_of (u : E) (e : epoch) : R := sum (fun s => fst s * sum (hinge u) (snd s)) e.

  Fixpoint final (w : E) (es : list epoch) : E :=
    match es with
    | [] => w
    | e :: rest => final (mixed w e) rest
    end.
  Fixpoint K (w : E) (es : list epoch) : R :=
    match es with
    | [] => 0
    | e :: rest => mistakes_of w e + K (mixed w e) rest
    end.
  Definition D (u : E) (es : list epoch) : R := sum (loss_of u) es.

  Lemma mixed_dot (w v : E) : forall e, dot (mixed w e) v = sum (fun s => fst s * dot (run w (snd s)) v) e.
  Proof. induction e as [|[mu s] e IH]; simpl; [apply dot_zero|]. rewrite dot_plus, dot_scale, IH. ring. Qed.

  (** What the mistakes of a shard add to <u,w>. *)
  Lemma shard_progress (u w : E) s : dot u w + INR (perceptron_errs w s) - sum (hinge u) s <= dot u (run w s).
  Proof.
    rewrite run_progress.
    assert (INR (perceptron_errs w s) - sum (margin_of u) (erred w s) <= sum (hinge u) s); [|lra].
    unfold perceptron_errs.
    replace (INR (length (erred w s))) with (sum (fun _ : vec E * bool => 1) (erred w s)) by (rewrite sum_const; lra).
    rewrite <- sum_minus. apply sum_erred; [apply hinge_above|apply hinge_nonneg].
  Qed.

  Lemma epoch_progress (u w : E) e : proper e -> dot u w + mistakes_of w e - loss_of u e <= dot u (mixed w e).
  Proof.
    intros [Pos One]. rewrite dot_sym with (u := u) (v := mixed w e), mixed_dot. unfold mistakes_of, loss_of.
    replace (dot u w) with (sum (fun s : shard => dot u w * fst s) e) by (rewrite sum_scale, One; ring).
    rewrite <- sum_plus, <- sum_minus. apply sum_le. intros s Hs.
    pose proof (shard_progress u w (snd s)) as P. rewrite (dot_sym _ u (run w (snd s))) in P.
    pose proof (Rmult_le_compat_l _ _ _ (Pos s Hs) P). lra.
  Qed.

  (** The square of a mean is at most the mean of the squares. *)
  Lemma square_convex (w : E) e : proper e ->
    dot (mixed w e) (mixed w e) <= sum (fun s => fst s * dot (run w (snd s)) (run w (snd s))) e.
  Proof.
    intros [Pos One]. set (m := mixed w e).
    (* 2 <v,m> <= <v,v> + <m,m> for each shard *)
    assert (dot m m = sum (fun s => fst s * dot (run w (snd s)) m) e) as Eq by (apply mixed_dot).
    assert (2 * dot m m <= sum (fun s => fst s * dot (run w (snd s)) (run w (snd s))) e + dot m m); [|lra].
    rewrite Eq at 1. rewrite <- sum_scale.
    replace (dot m m) with (sum (fun s : shard => dot m m * fst s) e) by (rewrite sum_scale, One; ring).
    rewrite <- sum_plus. apply sum_le. intros s Hs. specialize (Pos s Hs).
    pose proof (dot_pos _ (plus (run w (snd s)) (scale (-1) m))) as Q. rewrite dot_step in Q.
    assert (2 * dot (run w (snd s)) m <= dot (run w (snd s)) (run w (snd s)) + dot m m) as Q' by lra.
    pose proof (Rmult_le_compat_l _ _ _ Pos Q'). lra.
  Qed.

  Variable rad : R.
  Definition bounded (e : epoch) : Prop := forall s r, In s e -> In r (snd s) -> square r <= rad * rad.

  Lemma epoch_length (w : E) e : proper e -> bounded e ->
    dot (mixed w e) (mixed w e) <= dot w w + rad * rad * mistakes_of w e.
  Proof.
    intros Ok B. eapply Rle_trans; [apply square_convex, Ok|]. destruct Ok as [Pos One].
    unfold mistakes_of. rewrite <- sum_scale.
    replace (dot w w) with (sum (fun s : shard => dot w w * fst s) e) by (rewrite sum_scale, One; ring).
    rewrite <- sum_plus. apply sum_le. intros s Hs.
    pose proof (run_norm (rad * rad) (snd s) w (fun r Hr => B s r Hs Hr)) as N.
    pose proof (Rmult_le_compat_l _ _ _ (Pos s Hs) N). lra.
  Qed.

  Lemma mixing_sums (u : E) : forall es w, (forall e, In e es -> proper e /\ bounded e) ->
    dot u w + K w es - D u es <= dot u (final w es) /\
    dot (final w es) (final w es) <= dot w w + rad * rad * K w es.
  Proof.
    unfold D. induction es as [|e es IH]; intros w Ok; simpl; [split; lra|].
    destruct (Ok e (or_introl eq_refl)) as [Pe Be].
    destruct (IH (mixed w e) (fun e' H => Ok e' (or_intror H))) as [H1 H2].
    pose proof (epoch_progress u w e Pe). pose proof (epoch_length w e Pe Be). split; lra.
  Qed.

  Lemma K_nonneg : forall es w, (forall e, In e es -> proper e) -> 0 <= K w es.
  Proof.
    induction es as [|e es IH]; intros w Ok; simpl; [lra|].
    assert (0 <= mistakes_of w e).
    { apply sum_nonneg. intros s Hs. apply Rmult_le_pos; [apply (proj1 (Ok e (or_introl eq_refl))), Hs|apply pos_INR]. }
    pose proof (IH (mixed w e) (fun e' H => Ok e' (or_intror H))). lra.
  Qed.

  Theorem mixing_mistakes : forall u es, 0 <= rad -> (forall e, In e es -> proper e /\ bounded e) ->
    let a := rad * norm u in
    K zero es <= D u es + a ^ 2 / 2 + a * sqrt (D u es + a ^ 2 / 4).
  Proof.
    intros u es R0 Ok a. destruct (mixing_sums u es zero Ok) as [P N]. rewrite dot_zero_r in P. rewrite dot_zero in N.
    pose proof (K_nonneg es zero (fun e H => proj1 (Ok e H))) as K0. set (k := K zero es) in *.
    pose proof (cauchy_schwarz u (final zero es)) as C. pose proof (norm_nonneg u) as U.
    assert (0 <= a) as A by (apply Rmult_le_pos; assumption).
    assert (norm (final zero es) <= rad * sqrt k) as L.
    { unfold norm. rewrite <- (sqrt_square rad) by assumption. rewrite <- sqrt_mult; [|nra|assumption].
      apply sqrt_le_1_alt. lra. }
    assert (norm u * norm (final zero es) <= norm u * (rad * sqrt k)) by (apply Rmult_le_compat_l; assumption).
    assert (0 <= D u es) as D0.
    { apply sum_nonneg. intros e He. apply sum_nonneg. intros s Hs. apply Rmult_le_pos.
      - apply (proj1 (proj1 (Ok e He))), Hs.
      - apply sum_nonneg. intros. apply hinge_nonneg. }
    assert (k - D u es <= sqrt (0 * 0 + a * a * k)) as H'.
    { replace (0 * 0 + a * a * k) with (a * a * k) by ring. rewrite sqrt_mult, sqrt_square; [|assumption|nra|assumption].
      unfold a. lra. }
    assert (0 <= 0 * 0 + a * a * k) as Pos by nra.
    pose proof (largest_root k (D u es) a 0 A ltac:(lra) Pos H') as Root.
    replace (a * sqrt (D u es + a ^ 2 / 4)) with (sqrt (a * a * D u es + a * a * a * a / 4 + 0 * 0)).
    - replace (a ^ 2) with (a * a) by ring. lra.
    - replace (a * a * D u es + a * a * a * a / 4 + 0 * 0) with (a * a * (D u es + a ^ 2 / 4)) by field.
      rewrite sqrt_mult, sqrt_square; [reflexivity|assumption|nra|nra].
  Qed.
End Mixing.
