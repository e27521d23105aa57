(** The kernel Perceptron's mistake bounds: those of the Perceptron, in the space of the kernel.

    The learner keeps the list of its mistakes; its score at x is the sum of y_k K(x_k, x) over the list. K is any
    symmetric function for which no combination f = sum of b_j K(z_j, .) has a negative ||f||^2. For every such f:

    - kernel_margin (src/novikoff/kernel/theorems/kernel_margin.py): if y f(x) >= 1 in every round, M <= R^2 ||f||^2.
    - kernel_hinge (kernel_hinge.py): M <= D + a^2/2 + a sqrt(D + a^2/4), D = sum of max(0, 1 - y f(x)), a = R ||f||.
    - kernel_lengths (kernel_lengths.py): M <= sum of max(0, 1 + kappa K(x,x) - y f(x)) + ||f||^2 / (4 kappa).
    - kernel_squared_hinge (kernel_squared_hinge.py): M <= (a + sqrt Q)^2, Q = sum of max(0, 1 - y f(x))^2.

    R^2 is a bound on K(x,x). By rbp_no_eviction (rbp_no_eviction.py) they are also the bounds of a learner with a memory of
    B examples that has not removed one yet: it is the kernel Perceptron. *)

Require Import Reals Arith Bool List Lra Lia.
From Novikoff Require Import Sums InnerProduct Perceptron.
Import ListNotations.
Open Scope R_scope.

Section KernelPerceptron.
  Context {X : Type} (K : X -> X -> R).
  Hypothesis K_sym : forall x z, K x z = K z x.
  Hypothesis K_pos : forall f, 0 <= kdot K f f.

  (** The learner as it is run: a list of examples, each with its label. *)
  Definition kernel_score (supports : list (X * bool)) (x : X) : R :=
    sum (fun s => sign (snd s) * K (fst s) x) supports.
  Definition kernel_predict supports x : bool := if Rle_dec 0 (kernel_score supports x) then true else false.

  Fixpoint kernel_errs (supports s : list (X * bool)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest =>
        if bool_dec (kernel_predict supports x) y then kernel_errs supports rest
        else S (kernel_errs (supports ++ [(x, y)]) rest)
    end.

  (** The same learner in the space of the kernel. *)
  Local Notation space := (KernelSpace K K_sym K_pos).
  Definition as_vector (supports : list (X * bool)) : space := map (fun s => (sign (snd s) * 1, fst s)) supports.
  Definition features (s : list (X * bool)) : list (space * bool) :=
    map (fun r => (feature K K_sym K_pos (fst r), snd r)) s.

  Lemma score_as_vector supports x : dot (as_vector supports) (feature K K_sym K_pos x) = kernel_score supports x.
  Proof.
    rewrite dot_feature. unfold value, kernel_score, as_vector. rewrite sum_map. apply sum_ext. intros. simpl. ring.
  Qed.

  Lemma same_learner : forall s supports,
    kernel_errs supports s = perceptron_errs (as_vector supports) (features s).
  Proof.
    unfold perceptron_errs. induction s as [|[x y] s IH]; intros supports; [reflexivity|].
    simpl. unfold kernel_predict, predict. simpl fst. rewrite <- score_as_vector.
    destruct (Rle_dec 0 _); destruct (bool_dec _ y); simpl; try apply IH; f_equal; rewrite IH;
      unfold as_vector, update; rewrite map_app; reflexivity.
  Qed.

  Definition ksquare (f : combination) : R := kdot K f f.
  Definition knorm (f : combination) : R := sqrt (ksquare f).
  Definition khinge (f : combination) (r : X * bool) : R := Rmax 0 (1 - sign (snd r) * value K f (fst r)).
  Definition klong_hinge (kappa : R) (f : combination) (r : X * bool) : R :=
    Rmax 0 (1 + kappa * K (fst r) (fst r) - sign (snd r) * value K f (fst r)).

  Lemma in_features s x y : In (x, y) (features s) -> exists z, x = feature K K_sym K_pos z /\ In (z, y) s.
  Proof.
    intros I. apply in_map_iff in I. destruct I as [[z y'] [Eq I]]. injection Eq; intros; subst.
    exists z. split; [reflexivity|assumption].
  Qed.

  Lemma hinge_features f s : sum (hinge (f : space)) (features s) = sum (khinge f) s.
  Proof.
    unfold features. rewrite sum_map. apply sum_ext. intros [x y] _. unfold hinge, khinge, margin_of. simpl fst.
    simpl snd. rewrite (dot_feature K K_sym K_pos f x). reflexivity.
  Qed.

  Lemma feature_norm rad s : 0 <= rad -> (forall x y, In (x, y) s -> K x x <= rad * rad) ->
    forall x y, In (x, y) (features s) -> norm x <= rad.
  Proof.
    intros R0 B x y I. apply in_features in I. destruct I as [z [-> I]].
    apply le_of_squares; [assumption|]. rewrite norm_square, feature_square. eapply B; eassumption.
  Qed.

  Theorem kernel_margin : forall f rad s,
    (forall x y, In (x, y) s -> K x x <= rad * rad) -> (forall x y, In (x, y) s -> 1 <= sign y * value K f x) ->
    INR (kernel_errs [] s) <= rad * rad * ksquare f.
  Proof.
    intros f rad s B Sep. rewrite same_learner.
    pose proof (perceptron_margin_exact (f : space) 1 rad (features s) Rlt_0_1) as N.
    rewrite !Rmult_1_r in N. apply N.
    - intros [x y] I. apply in_features in I. destruct I as [z [-> I]]. unfold square. simpl fst.
      rewrite feature_square. eapply B; eassumption.
    - intros [x y] I. apply in_features in I. destruct I as [z [-> I]]. unfold margin_of. simpl fst. simpl snd.
      rewrite (dot_feature K K_sym K_pos f z). apply Sep. assumption.
  Qed.

  Theorem kernel_hinge : forall f rad s, 0 <= rad -> (forall x y, In (x, y) s -> K x x <= rad * rad) ->
    let a := rad * knorm f in let D := sum (khinge f) s in
    INR (kernel_errs [] s) <= D + a ^ 2 / 2 + a * sqrt (D + a ^ 2 / 4).
  Proof.
    intros f rad s R0 B a D. rewrite same_learner. unfold D. rewrite <- hinge_features.
    apply (perceptron_hinge (f : space) rad (features s) R0). eapply feature_norm; eassumption.
  Qed.

  Theorem kernel_lengths : forall f kappa s, 0 < kappa ->
    INR (kernel_errs [] s) <= sum (klong_hinge kappa f) s + ksquare f / (4 * kappa).
  Proof.
    intros f kappa s Hk. rewrite same_learner.
    pose proof (perceptron_lengths (f : space) kappa (features s) zero Hk) as N.
    rewrite dot_zero_r, dot_zero in N.
    replace (sum (klong_hinge kappa f) s) with (sum (long_hinge kappa (f : space)) (features s)).
    - change (dot (f : space) f) with (ksquare f) in N. change (as_vector []) with (zero : space). lra.
    - unfold features. rewrite sum_map. apply sum_ext. intros [x y] _.
      unfold long_hinge, klong_hinge, margin_of, square. simpl fst. simpl snd.
      rewrite feature_square, (dot_feature K K_sym K_pos f x). reflexivity.
  Qed.

  Theorem kernel_squared_hinge : forall f rad s, 0 <= rad -> (forall x y, In (x, y) s -> K x x <= rad * rad) ->
    INR (kernel_errs [] s) <= (rad * knorm f + sqrt (sum (fun r => khinge f r ^ 2) s)) ^ 2.
  Proof.
    intros f rad s R0 B. rewrite same_learner.
    replace (sum (fun r => khinge f r ^ 2) s) with (sum (fun r => hinge (f : space) r ^ 2) (features s)).
    - apply (perceptron_squared_hinge (f : space) rad (features s) R0). eapply feature_norm; eassumption.
    - unfold features. rewrite sum_map. apply sum_ext. intros [x y] _. unfold hinge, khinge, margin_of. simpl fst.
      simpl snd. rewrite (dot_feature K K_sym K_pos f x). reflexivity.
  Qed.
End KernelPerceptron.

(** Not vacuous: the inner product of features in any space is such a kernel, for instance that of R^n itself. *)
Section FeatureMap.
  Context {X : Type} {E : Space} (phi : X -> E).
  Local Notation K := (fun x z => dot (phi x) (phi z)).

  Fixpoint total (f : combination) : E :=
    match f with
    | [] => zero
    | (b, z) :: rest => plus (total rest) (scale b (phi z))
    end.

  Lemma total_dot f (v : E) : dot (total f) v = sum (fun bz => fst bz * dot (phi (snd bz)) v) f.
  Proof.
    induction f as [|[b z] f IH]; simpl; [apply dot_zero|]. rewrite dot_plus, dot_scale, IH. ring.
  Qed.

  Theorem feature_kernel : (forall x z, K x z = K z x) /\ (forall f, 0 <= kdot K f f).
  Proof.
    split; [intros; apply dot_sym|]. intros f. replace (kdot K f f) with (dot (total f) (total f)); [apply dot_pos|].
    rewrite total_dot. unfold kdot, value. apply sum_ext. intros [c x] _. simpl. f_equal.
    rewrite dot_sym, total_dot. reflexivity.
  Qed.
End FeatureMap.

(** ** A memory of B examples, before anything is removed *)

(** rbp_no_eviction. On a mistake with B examples in the list, [evict] removes some in any way, by coins or not. *)
Section Budget.
  Context {X : Type} (K : X -> X -> R) (B : nat).
  Variable evict : list (X * bool) -> list (X * bool).

  Definition insert (supports : list (X * bool)) (r : X * bool) : list (X * bool) :=
    (if Nat.ltb (length supports) B then supports else evict supports) ++ [r].

  Fixpoint budget_errs (supports s : list (X * bool)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest =>
        if bool_dec (kernel_predict K supports x) y then budget_errs supports rest
        else S (budget_errs (insert supports (x, y)) rest)
    end.

  (** While the list has room, the two learners are the same. *)
  Theorem rbp_no_eviction : forall s supports,
    (length supports + kernel_errs K supports s <= B)%nat -> budget_errs supports s = kernel_errs K supports s.
  Proof.
    induction s as [|[x y] s IH]; intros supports Room; [reflexivity|]. simpl in *.
    destruct (bool_dec (kernel_predict K supports x) y); [apply IH; assumption|].
    unfold insert. replace (Nat.ltb (length supports) B) with true by (symmetry; apply Nat.ltb_lt; lia).
    f_equal. apply IH. rewrite app_length. simpl. lia.
  Qed.

  (** The same, from the mistakes that the learner with a budget was seen to make. *)
  Theorem rbp_no_eviction_seen : forall s supports,
    (length supports + budget_errs supports s <= B)%nat -> budget_errs supports s = kernel_errs K supports s.
  Proof.
    induction s as [|[x y] s IH]; intros supports Room; [reflexivity|]. simpl in *.
    destruct (bool_dec (kernel_predict K supports x) y); [apply IH; assumption|].
    unfold insert in *. replace (Nat.ltb (length supports) B) with true in * by (symmetry; apply Nat.ltb_lt; lia).
    f_equal. apply IH. rewrite app_length. simpl. lia.
  Qed.
End Budget.
