(** Labels that arrive late, in any order, or never.

    delayed_mistakes (src/novikoff/game/delayed/theorems/delayed_mistakes.py). The game is played in the order of arrival,
    and a theorem of the learner allows it B mistakes there. M counts the labelled rounds whose served answer was wrong, F
    those whose served answer differs from the prediction when the label arrives. Then M <= B + F. *)

Require Import List Lia.
Import ListNotations.

Section Delayed.
  Context {Y : Type} (same : forall a b : Y, {a = b} + {a <> b}).

  (** A labelled round: the answer served, the prediction when the label arrived, and the label. *)
  Record arrival := { served : Y; predicted : Y; label : Y }.

  Fixpoint count (wrong : arrival -> Y * Y) (s : list arrival) : nat :=
    match s with
    | [] => 0
    | a :: rest => (if same (fst (wrong a)) (snd (wrong a)) then 0 else 1) + count wrong rest
    end.

  Definition M := count (fun a => (served a, label a)).
  Definition U := count (fun a => (predicted a, label a)).
  Definition F := count (fun a => (served a, predicted a)).

  (** A wrong answer equals the prediction on arrival, which is then wrong too, or differs from it. *)
  Lemma wrong_answers s : M s <= U s + F s.
  Proof.
    unfold M, U, F. induction s as [|a s IH]; simpl; [lia|].
    destruct (same (served a) (label a)), (same (predicted a) (label a)), (same (served a) (predicted a));
      try lia; congruence.
  Qed.

  Theorem delayed_mistakes : forall s B, U s <= B -> M s <= B + F s.
  Proof. intros s B H. pose proof (wrong_answers s). lia. Qed.
End Delayed.
