(** Spaces with an inner product, and two of them: R^n, and the functions of a kernel.

    Only the laws that the proofs use are asked for. No law says that vectors with the same inner products
    are equal, and [dot v v = 0] need not make v zero: so finite combinations of kernel functions form
    such a space, without a quotient. *)

Require Import Reals List Lra Lia.
From Novikoff Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Record Space := {
  vec :> Type;
  zero : vec;
  plus : vec -> vec -> vec;
  scale : R -> vec -> vec;
  dot : vec -> vec -> R;
  dot_sym : forall u v, dot u v = dot v u;
  dot_zero : forall v, dot zero v = 0;
  dot_plus : forall u v w, dot (plus u v) w = dot u w + dot v w;
  dot_scale : forall c u v, dot (scale c u) v = c * dot u v;
  dot_pos : forall v, 0 <= dot v v
}.

Arguments zero {_}.
Arguments plus {_}.
Arguments scale {_}.
Arguments dot {_}.

Section Norm.
  Context {E : Space}.
  Implicit Types u v w : E.

  Definition norm u : R := sqrt (dot u u).

  Lemma norm_nonneg u : 0 <= norm u.
  Proof. apply sqrt_pos. Qed.

  Lemma norm_square u : norm u * norm u = dot u u.
  Proof. apply sqrt_sqrt, dot_pos. Qed.

  Lemma dot_zero_r v : dot v zero = 0.
  Proof. rewrite dot_sym. apply dot_zero. Qed.

  Lemma dot_plus_r u v w : dot w (plus u v) = dot w u + dot w v.
  Proof. rewrite dot_sym, dot_plus, (dot_sym _ u), (dot_sym _ v). reflexivity. Qed.

  Lemma dot_scale_r c u v : dot v (scale c u) = c * dot v u.
  Proof. rewrite dot_sym, dot_scale, (dot_sym _ u). reflexivity. Qed.

  (** ||u + c v||^2 = ||u||^2 + 2c <u,v> + c^2 ||v||^2 *)
  Lemma dot_step u v c : dot (plus u (scale c v)) (plus u (scale c v)) = dot u u + 2 * c * dot u v + c * c * dot v v.
  Proof. rewrite !dot_plus, !dot_plus_r, !dot_scale, !dot_scale_r, (dot_sym _ v u). ring. Qed.

  (** Cauchy-Schwarz. If ||v|| = 0 the quadratic in c is linear, so its slope is 0. *)
  Lemma cauchy_schwarz_square u v : dot u v * dot u v <= dot u u * dot v v.
  Proof.
    destruct (Req_dec (dot v v) 0) as [Z|N].
    - assert (dot u v = 0) as ->; [|rewrite Z; lra].
      destruct (Req_dec (dot u v) 0) as [|D]; [assumption|]. exfalso.
      pose proof (dot_pos _ (plus u (scale (- (dot u u + 1) / (2 * dot u v)) v))) as P.
      rewrite dot_step, Z in P.
      replace (2 * (- (dot u u + 1) / (2 * dot u v)) * dot u v) with (- (dot u u + 1)) in P by (field; assumption).
      lra.
    - assert (0 < dot v v) as V by (pose proof (dot_pos _ v); lra).
      pose proof (dot_pos _ (plus u (scale (- dot u v / dot v v) v))) as P. rewrite dot_step in P.
      assert (dot u u * dot v v - dot u v * dot u v
              = dot v v * (dot u u + 2 * (- dot u v / dot v v) * dot u v
                           + - dot u v / dot v v * (- dot u v / dot v v) * dot v v)) as Eq by (field; lra).
      assert (0 <= dot u u * dot v v - dot u v * dot u v) by (rewrite Eq; apply Rmult_le_pos; lra).
      lra.
  Qed.

  Lemma cauchy_schwarz u v : dot u v <= norm u * norm v.
  Proof.
    apply le_of_squares.
    - apply Rmult_le_pos; apply norm_nonneg.
    - replace (norm u * norm v * (norm u * norm v)) with ((norm u * norm u) * (norm v * norm v)) by ring.
      rewrite !norm_square. apply cauchy_schwarz_square.
  Qed.

  Lemma cauchy_schwarz_below u v : - (norm u * norm v) <= dot u v.
  Proof.
    pose proof (cauchy_schwarz (scale (-1) u) v) as C. rewrite dot_scale in C.
    assert (norm (scale (-1) u) = norm u) as N.
    { unfold norm. f_equal. rewrite dot_scale, dot_scale_r. ring. }
    rewrite N in C. lra.
  Qed.
End Norm.

(** ** R^n: the first n coordinates of a sequence *)

Section Coordinates.
  Variable n : nat.

  Definition rdot (u v : nat -> R) : R := sum (fun i => u i * v i) (seq 0 n).

  Lemma rdot_sym u v : rdot u v = rdot v u.
  Proof. apply sum_ext. intros. ring. Qed.

  Lemma rdot_zero v : rdot (fun _ => 0) v = 0.
  Proof. unfold rdot. rewrite (sum_ext _ (fun _ => 0)) by (intros; ring). apply sum_zero. Qed.

  Lemma rdot_plus u v w : rdot (fun i => u i + v i) w = rdot u w + rdot v w.
  Proof. unfold rdot. rewrite <- sum_plus. apply sum_ext. intros. ring. Qed.

  Lemma rdot_scale c u v : rdot (fun i => c * u i) v = c * rdot u v.
  Proof. unfold rdot. rewrite <- sum_scale. apply sum_ext. intros. ring. Qed.

  Lemma rdot_pos v : 0 <= rdot v v.
  Proof. apply sum_nonneg. intros. apply Rle_0_sqr. Qed.

  Definition Rn : Space := {|
    vec := nat -> R;
    zero := fun _ => 0;
    plus := fun u v i => u i + v i;
    scale := fun c u i => c * u i;
    dot := rdot;
    dot_sym := rdot_sym;
    dot_zero := rdot_zero;
    dot_plus := rdot_plus;
    dot_scale := rdot_scale;
    dot_pos := rdot_pos
  |}.

  (** The unit vectors e_0, e_1, .. *)
  Definition unit (j : nat) : Rn := fun i => if Nat.eqb i j then 1 else 0.

  Lemma sum_unit (f : nat -> R) j : forall m a, (a <= j < a + m)%nat ->
    sum (fun i => (if Nat.eqb i j then 1 else 0) * f i) (seq a m) = f j.
  Proof.
    induction m as [|m IH]; intros a L; [lia|]. cbn [seq sum].
    destruct (Nat.eqb_spec a j) as [->|N].
    - rewrite (sum_ext _ (fun _ => 0)).
      + rewrite sum_zero. lra.
      + intros i I. apply in_seq in I. destruct (Nat.eqb_spec i j); [lia|lra].
    - rewrite IH by lia. lra.
  Qed.

  Lemma unit_orthonormal i j : (i < n)%nat -> (j < n)%nat ->
    dot (unit i) (unit j) = if Nat.eqb i j then 1 else 0.
  Proof. intros Hi Hj. apply (sum_unit (unit j)). lia. Qed.
End Coordinates.

(** ** The space of a kernel: finite combinations of the functions K(z, .) *)

Section Kernel.
  Context {X : Type} (K : X -> X -> R).

  (** f = sum of b_j K(z_j, .), as the list of (b_j, z_j), and its value at x. *)
  Definition combination := list (R * X).
  Definition value (f : combination) (x : X) : R := sum (fun bz => fst bz * K (snd bz) x) f.
  Definition kdot (f g : combination) : R := sum (fun cx => fst cx * value f (snd cx)) g.

  (** K is an inner product: symmetric, and no combination has a negative square. *)
  Hypothesis K_sym : forall x z, K x z = K z x.
  Hypothesis K_pos : forall f, 0 <= kdot f f.

  Lemma kdot_swap f g : kdot f g = sum (fun bz => fst bz * value g (snd bz)) f.
  Proof.
    unfold kdot, value.
    rewrite (sum_ext _ (fun cx => sum (fun bz => fst cx * (fst bz * K (snd bz) (snd cx))) f))
      by (intros; symmetry; apply sum_scale).
    rewrite sum_swap. apply sum_ext. intros bz _. rewrite <- sum_scale. apply sum_ext. intros cx _.
    rewrite (K_sym (snd bz)). ring.
  Qed.

  Lemma kdot_sym f g : kdot f g = kdot g f.
  Proof. rewrite kdot_swap. reflexivity. Qed.

  Lemma kdot_zero g : kdot [] g = 0.
  Proof. unfold kdot. rewrite (sum_ext _ (fun _ => 0)); [apply sum_zero|]. intros. unfold value. simpl. ring. Qed.

  Lemma kdot_plus f g h : kdot (f ++ g) h = kdot f h + kdot g h.
  Proof.
    unfold kdot. rewrite <- sum_plus. apply sum_ext. intros. unfold value. rewrite sum_app. ring.
  Qed.

  Lemma kdot_scale c f g : kdot (map (fun bz => (c * fst bz, snd bz)) f) g = c * kdot f g.
  Proof.
    unfold kdot. rewrite <- sum_scale. apply sum_ext. intros d _. unfold value. rewrite sum_map. simpl.
    rewrite (sum_ext _ (fun bz => c * (fst bz * K (snd bz) (snd d)))) by (intros; ring).
    rewrite sum_scale. ring.
  Qed.

  Definition KernelSpace : Space := {|
    vec := combination;
    zero := [];
    plus := fun f g => f ++ g;
    scale := fun c f => map (fun bz => (c * fst bz, snd bz)) f;
    dot := kdot;
    dot_sym := kdot_sym;
    dot_zero := kdot_zero;
    dot_plus := kdot_plus;
    dot_scale := kdot_scale;
    dot_pos := K_pos
  |}.

  (** The feature of x is K(x, .): <f, feature x> = f(x), and its square is K(x, x). *)
  Definition feature (x : X) : KernelSpace := [(1, x)].

  Lemma dot_feature (f : KernelSpace) x : dot f (feature x) = value f x.
  Proof. unfold feature. simpl. unfold kdot. simpl. ring. Qed.

  Lemma feature_square x : dot (feature x) (feature x) = K x x.
  Proof. rewrite dot_feature. unfold value, feature. simpl. ring. Qed.
End Kernel.
