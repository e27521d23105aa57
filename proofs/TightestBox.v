(** The tightest box on a grid.

    tightest_box_mistakes (src/novikoff/finite/theorems/tightest_box_mistakes.py). The learner predicts +1 exactly inside the
    smallest box that contains the positives so far. On the grid {0 .. m-1}^dim, if no -1 falls inside the box of the
    earlier positives,

        M  <=  [no box before, one after] + sum_i (s_i after - s_i before)  <=  1 + dim (m - 1),

    s_i the sides of the box. It holds on every stream that some box labels perfectly. *)

Require Import ZArith Bool List Lia.
Import ListNotations.
Open Scope Z_scope.

Section TightestBox.
  Variable dim : nat.

  (** A point is its coordinates 0 .. dim-1; a box is its lower and upper corner. *)
  Local Notation point := (nat -> Z).
  Definition box := option (point * point).
  Definition axes : list nat := seq 0 dim.

  Definition inside (b : box) (x : point) : bool :=
    match b with
    | None => false
    | Some (low, high) => forallb (fun i => (low i <=? x i) && (x i <=? high i)) axes
    end.

  Definition grow (b : box) (x : point) : box :=
    match b with
    | None => Some (x, x)
    | Some (low, high) => Some (fun i => Z.min (low i) (x i), fun i => Z.max (high i) (x i))
    end.

  Definition next (b : box) (x : point) (y : bool) : box := if y then grow b x else b.

  Fixpoint final (b : box) (s : list (point * bool)) : box :=
    match s with
    | [] => b
    | (x, y) :: rest => final (next b x y) rest
    end.
  Fixpoint box_errs (b : box) (s : list (point * bool)) : Z :=
    match s with
    | [] => 0
    | (x, y) :: rest => (if bool_dec (inside b x) y then 0 else 1) + box_errs (next b x y) rest
    end.

  (** No -1 falls inside the box of the earlier positives. *)
  Fixpoint outside (b : box) (s : list (point * bool)) : Prop :=
    match s with
    | [] => True
    | (x, y) :: rest => (y = false -> inside b x = false) /\ outside (next b x y) rest
    end.

  Fixpoint total (f : nat -> Z) (l : list nat) : Z :=
    match l with
    | [] => 0
    | i :: rest => f i + total f rest
    end.

  (** The sum of the sides, and 1 for the box itself. *)
  Definition size (b : box) : Z :=
    match b with
    | None => 0
    | Some (low, high) => 1 + total (fun i => high i - low i) axes
    end.

  Lemma total_le f g l : (forall i, In i l -> f i <= g i) -> total f l <= total g l.
  Proof.
    induction l as [|i l IH]; simpl; intros H; [lia|].
    assert (f i <= g i) by auto. assert (total f l <= total g l) by auto. lia.
  Qed.

  (** A side that grows makes the sum grow. *)
  Lemma total_lt f g l : (forall i, In i l -> f i <= g i) -> (exists i, In i l /\ f i < g i) -> total f l + 1 <= total g l.
  Proof.
    induction l as [|i l IH]; simpl; intros H [j [Hj Lt]]; [contradiction|].
    assert (f i <= g i) by auto. assert (forall k, In k l -> f k <= g k) as H' by auto.
    destruct Hj as [->|Hj].
    - pose proof (total_le f g l H'). lia.
    - assert (total f l + 1 <= total g l) by (apply IH; [assumption|exists j; auto]). lia.
  Qed.

  Lemma grow_size b x : size b + (if inside b x then 0 else 1) <= size (grow b x).
  Proof.
    destruct b as [[low high]|]; cbn [size grow inside].
    - destruct (forallb _ axes) eqn:In_.
      + assert (total (fun i => high i - low i) axes
                <= total (fun i => Z.max (high i) (x i) - Z.min (low i) (x i)) axes) by (apply total_le; intros; lia).
        lia.
      + (* the point lies beyond the box on some axis *)
        assert (exists i, In i axes /\ (x i < low i \/ high i < x i)) as [i [Hi Out]].
        { clear - In_. induction axes as [|i l IH]; simpl in In_; [discriminate|].
          apply andb_false_iff in In_. destruct In_ as [H|H].
          - exists i. split; [simpl; auto|]. apply andb_false_iff in H. rewrite !Z.leb_gt in H. lia.
          - destruct (IH H) as [j [Hj Out]]. exists j. split; [simpl; auto|assumption]. }
        assert (total (fun i => high i - low i) axes + 1
                <= total (fun i => Z.max (high i) (x i) - Z.min (low i) (x i)) axes).
        { apply total_lt; [intros; lia|]. exists i. split; [assumption|lia]. }
        lia.
    - assert (total (fun i => x i - x i) axes = 0).
      { clear. induction axes as [|i l IH]; cbn [total]; lia. }
      lia.
  Qed.

  (** Pathwise: M <= size after - size before. *)
  Theorem tightest_box_mistakes : forall s b, outside b s -> box_errs b s <= size (final b s) - size b.
  Proof.
    induction s as [|[x y] s IH]; intros b O; cbn [box_errs final]; [lia|]. destruct O as [Neg O].
    specialize (IH (next b x y) O). unfold next in *. destruct y.
    - pose proof (grow_size b x) as G. destruct (inside b x); destruct (bool_dec _ true); try lia; congruence.
    - rewrite (Neg eq_refl). destruct (bool_dec false false); [lia|congruence].
  Qed.

  (** If a box labels the stream perfectly, the learner's box stays inside it, and no -1 falls inside. *)
  Definition within (b : box) (low high : point) : Prop :=
    match b with
    | None => True
    | Some (l, h) => forall i, In i axes -> low i <= l i /\ h i <= high i
    end.

  Lemma inside_spec l h x : inside (Some (l, h)) x = true <-> forall i, In i axes -> l i <= x i <= h i.
  Proof.
    cbn [inside]. rewrite forallb_forall. split; intros H i Hi; specialize (H i Hi).
    - apply andb_true_iff in H. rewrite !Z.leb_le in H. lia.
    - apply andb_true_iff. rewrite !Z.leb_le. lia.
  Qed.

  Theorem fitted_stream : forall low high s b, within b low high ->
    (forall x y, In (x, y) s -> inside (Some (low, high)) x = y) -> outside b s.
  Proof.
    intros low high. induction s as [|[x y] s IH]; intros b W Fit; [exact I|]. split.
    - intros ->. assert (inside (Some (low, high)) x = false) as F by (apply Fit; left; reflexivity).
      destruct b as [[l h]|]; [|reflexivity]. destruct (inside (Some (l, h)) x) eqn:In_; [|reflexivity].
      rewrite <- F. symmetry. apply inside_spec. rewrite inside_spec in In_. intros i Hi.
      specialize (In_ i Hi). specialize (W i Hi). lia.
    - apply IH; [|intros; apply Fit; right; assumption].
      unfold next. destruct y; [|assumption].
      assert (inside (Some (low, high)) x = true) as T by (apply Fit; left; reflexivity). rewrite inside_spec in T.
      destruct b as [[l h]|]; cbn [grow within] in *; intros i Hi; specialize (T i Hi); [specialize (W i Hi)|]; lia.
  Qed.

  (** On the grid {0 .. m-1}^dim, from no box: at most 1 + dim (m - 1). *)
  Definition on_grid (m : Z) (x : point) : Prop := forall i, 0 <= x i <= m - 1.

  Lemma size_on_grid m : 1 <= m -> forall s b,
    (match b with None => True | Some (low, high) => on_grid m low /\ on_grid m high end) ->
    (forall x y, In (x, y) s -> on_grid m x) -> size (final b s) <= 1 + Z.of_nat dim * (m - 1).
  Proof.
    intros Hm. induction s as [|[x y] s IH]; intros b B G.
    - cbn [final]. destruct b as [[low high]|]; cbn [size]; [|nia]. destruct B as [L H].
      assert (total (fun i => high i - low i) axes <= total (fun _ => m - 1) axes).
      { apply total_le. intros i _. specialize (L i). specialize (H i). lia. }
      assert (total (fun _ => m - 1) axes = Z.of_nat dim * (m - 1)).
      { unfold axes. generalize 0%nat. clear. induction dim as [|d IH]; intros a; [reflexivity|].
        cbn [seq total]. rewrite IH, Nat2Z.inj_succ. lia. }
      lia.
    - cbn [final]. apply IH; [|intros; eapply G; right; eassumption].
      assert (on_grid m x) as X by (eapply G; left; reflexivity).
      unfold next. destruct y; [|assumption]. destruct b as [[low high]|]; simpl; [|split; assumption].
      destruct B as [L H]. split; intros i; specialize (L i); specialize (H i); specialize (X i); lia.
  Qed.

  Theorem tightest_box_a_priori : forall m s, 1 <= m -> outside None s -> (forall x y, In (x, y) s -> on_grid m x) ->
    box_errs None s <= 1 + Z.of_nat dim * (m - 1).
  Proof.
    intros m s Hm O G. pose proof (tightest_box_mistakes s None O) as M.
    pose proof (size_on_grid m Hm s None I G). cbn [size] in M. lia.
  Qed.
End TightestBox.
