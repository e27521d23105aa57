(** The game that all learners play, and its mistakes.

    A round shows x, the learner predicts a label, and the true label y is revealed. A deterministic
    learner is any function from the past rounds and x to a label: nothing about its computation is
    assumed, so a lower bound against [learner] is a lower bound against every program. *)

Require Import List Lia.
Import ListNotations.

Section Game.
  Context {X Y : Type} (same : forall a b : Y, {a = b} + {a <> b}).

  (** The past is a list of rounds, the newest first. *)
  Definition learner := list (X * Y) -> X -> Y.

  (** Mistakes on the stream [s], played after the rounds [past]. *)
  Fixpoint mistakes (L : learner) (past s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest => (if same (L past x) y then 0 else 1) + mistakes L ((x, y) :: past) rest
    end.

  Lemma mistakes_at_most_rounds L s : forall past, mistakes L past s <= length s.
  Proof.
    induction s as [|[x y] s IH]; simpl; intros past; [lia|].
    specialize (IH ((x, y) :: past)). destruct (same (L past x) y); lia.
  Qed.

  (** Errors of a fixed hypothesis. *)
  Fixpoint errors (h : X -> Y) (s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest => (if same (h x) y then 0 else 1) + errors h rest
    end.

  (** A hypothesis fits a stream if it gives every label. *)
  Definition fits (h : X -> Y) (s : list (X * Y)) : Prop := forall x y, In (x, y) s -> h x = y.

  Lemma fits_cons h x y s : fits h ((x, y) :: s) <-> h x = y /\ fits h s.
  Proof.
    unfold fits. simpl. split.
    - intros H. split; intros; apply H; auto.
    - intros [H1 H2] x' y' [E|I]; [injection E; intros; subst; reflexivity|auto].
  Qed.

  Lemma fits_no_errors h s : fits h s -> errors h s = 0.
  Proof.
    induction s as [|[x y] s IH]; simpl; intros F; [reflexivity|].
    apply fits_cons in F. destruct F as [E F]. destruct (same (h x) y); [auto|contradiction].
  Qed.
End Game.

Arguments learner : clear implicits.
