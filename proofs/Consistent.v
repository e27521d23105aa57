(** Consistent: follow any hypothesis that has been right in every round so far.

    consistent_mistakes (src/novikoff/finite/theorems/consistent_mistakes.py):

        M  <=  |V before| - |V after|  <=  |H| - 1,

    where V is the list of hypotheses that fit every round so far, if one is left at the end. Each
    mistake removes at least the hypothesis that was followed. The bound is attained by thresholds in
    increasing order. *)

Require Import Arith List Lia.
From Novikoff Require Import Games.
Import ListNotations.

Section Consistent.
  Context {X Y : Type} (same : forall a b : Y, {a = b} + {a <> b}).
  Local Notation H := (X -> Y).

  Definition right (x : X) (y : Y) (h : H) : bool := if same (h x) y then true else false.

  (** The hypothesis that is followed: any rule that takes one of the survivors. *)
  Variable follow : list H -> X -> H.
  Hypothesis follow_survivor : forall V x, V <> [] -> In (follow V x) V.

  Fixpoint survivors (V : list H) (s : list (X * Y)) : list H :=
    match s with
    | [] => V
    | (x, y) :: rest => survivors (filter (right x y) V) rest
    end.

  Fixpoint consistent_errs (V : list H) (s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest =>
        (if same (follow V x x) y then 0 else 1) + consistent_errs (filter (right x y) V) rest
    end.

  Lemma filter_shorter (p : H -> bool) V : length (filter p V) <= length V.
  Proof. induction V as [|h V IH]; simpl; [lia|]. destruct (p h); simpl; lia. Qed.

  Lemma filter_removes (p : H -> bool) V h :
    In h V -> p h = false -> length (filter p V) + 1 <= length V.
  Proof.
    induction V as [|g V IH]; simpl; intros I F; [contradiction|].
    destruct I as [->|I].
    - rewrite F. pose proof (filter_shorter p V). lia.
    - specialize (IH I F). destruct (p g); simpl; lia.
  Qed.

  Lemma survivors_nil s : survivors [] s = [].
  Proof. induction s as [|[x y] s IH]; simpl; auto. Qed.

  Theorem consistent_mistakes : forall s V,
    survivors V s <> [] -> consistent_errs V s + length (survivors V s) <= length V.
  Proof.
    induction s as [|[x y] s IH]; simpl; intros V N; [lia|].
    specialize (IH _ N).
    assert (V <> []) by (intros ->; simpl in N; rewrite survivors_nil in N; congruence).
    destruct (same (follow V x x) y) as [E|E].
    - pose proof (filter_shorter (right x y) V). lia.
    - assert (length (filter (right x y) V) + 1 <= length V).
      { apply filter_removes with (follow V x); [auto|].
        unfold right. destruct (same (follow V x x) y); congruence. }
      lia.
  Qed.

  Lemma fitting_survives h : forall s V, In h V -> fits h s -> In h (survivors V s).
  Proof.
    induction s as [|[x y] s IH]; simpl; intros V I F; [assumption|].
    apply fits_cons in F. destruct F as [E F]. apply IH; [|assumption].
    apply filter_In. split; [assumption|]. unfold right. destruct (same (h x) y); congruence.
  Qed.

  (** A priori: if some hypothesis of the class fits the stream, at most |H| - 1 mistakes. *)
  Theorem consistent_mistakes_a_priori : forall s V h,
    In h V -> fits h s -> consistent_errs V s <= length V - 1.
  Proof.
    intros s V h I F.
    pose proof (fitting_survives h s V I F) as S.
    assert (survivors V s <> []) as N by (intros E; rewrite E in S; contradiction).
    pose proof (consistent_mistakes s V N).
    destruct (survivors V s); [contradiction|]. simpl in *. lia.
  Qed.
End Consistent.

(** Tightness: the thresholds 0 .. n+1 in increasing order, the first survivor followed, the stream
    0, 1, .., n, all labelled -1 (here [false]). Every round is a mistake: n + 1 = |H| - 1. *)
Section Tight.
  Definition threshold (k i : nat) : bool := Nat.leb k i.
  Definition first (V : list (nat -> bool)) (_ : nat) : nat -> bool := hd (fun _ => true) V.

  Lemma first_survivor V (x : nat) : V <> [] -> In (first V x) V.
  Proof. destruct V; [congruence|]. simpl. auto. Qed.

  Lemma filter_thresholds i m :
    filter (right Bool.bool_dec i false) (map threshold (seq i (S m))) = map threshold (seq (S i) m).
  Proof.
    simpl. unfold right at 1. unfold threshold at 1.
    destruct (Bool.bool_dec (Nat.leb i i) false) as [E|_];
      [rewrite Nat.leb_refl in E; discriminate|].
    assert (forall j, i < j -> filter (right Bool.bool_dec i false) (map threshold (seq j m))
                               = map threshold (seq j m)) as K; [|apply K; lia].
    induction m as [|m IH]; simpl; intros j L; [reflexivity|].
    unfold right at 1. unfold threshold at 1.
    destruct (Bool.bool_dec (Nat.leb j i) false) as [_|E];
      [|exfalso; apply E, Nat.leb_gt; lia].
    rewrite IH; [reflexivity|lia].
  Qed.

  Theorem consistent_tight : forall n,
    consistent_errs Bool.bool_dec first (map threshold (seq 0 (n + 2)))
      (map (fun i => (i, false)) (seq 0 (n + 1))) = n + 1.
  Proof.
    intros n.
    assert (forall m i, consistent_errs Bool.bool_dec first (map threshold (seq i (S m)))
                          (map (fun i => (i, false)) (seq i m)) = m) as K.
    { induction m as [|m IH]; intros i; [reflexivity|].
      change (map (fun i => (i, false)) (seq i (S m)))
        with ((i, false) :: map (fun i => (i, false)) (seq (S i) m)).
      change (consistent_errs Bool.bool_dec first (map threshold (seq i (S (S m))))
                ((i, false) :: map (fun i => (i, false)) (seq (S i) m)))
        with ((if Bool.bool_dec (threshold i i) false then 0 else 1)
              + consistent_errs Bool.bool_dec first
                  (filter (right Bool.bool_dec i false) (map threshold (seq i (S (S m)))))
                  (map (fun i => (i, false)) (seq (S i) m))).
      rewrite filter_thresholds, IH. unfold threshold.
      destruct (Bool.bool_dec (Nat.leb i i) false) as [E|_];
        [rewrite Nat.leb_refl in E; discriminate|reflexivity]. }
    replace (n + 2) with (S (n + 1)) by lia. apply K.
  Qed.
End Tight.
