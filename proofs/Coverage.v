(** Coverage of the prediction sets of a conformal learner, on every stream and around any model.

    coverage_deviation (src/novikoff/conformal/theorems/coverage_deviation.py). Scores are from 0 to B. The set of round t
    contains all y whose score is at most q_t; it is everything if q_t >= B, and empty if q_t < 0. An outcome outside is a
    miss. q_1 is from 0 to B, and q_{t+1} = q_t + step (miss_t - alpha), 0 <= alpha <= 1. Then for every T

        |misses / T - alpha|  <=  (B + step) / (step T).

    A score stands for an arbitrary model and outcome: the stream is the list of the scores of the outcomes. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Section Coverage.
  Variables B step alpha : R.
  Hypothesis B_nonneg : 0 <= B.
  Hypothesis step_pos : 0 < step.
  Hypothesis alpha_range : 0 <= alpha <= 1.

  (** 1 if the outcome with this score is outside the set. *)
  Definition miss (q score : R) : R :=
    if Rle_dec B q then 0 else if Rlt_dec q 0 then 1 else if Rle_dec score q then 0 else 1.
  Definition move (q score : R) : R := q + step * (miss q score - alpha).

  Fixpoint threshold (q : R) (s : list R) : R :=
    match s with
    | [] => q
    | score :: rest => threshold (move q score) rest
    end.

  Fixpoint misses (q : R) (s : list R) : R :=
    match s with
    | [] => 0
    | score :: rest => miss q score + misses (move q score) rest
    end.

  (** An equality: the threshold has moved by step times the excess misses. *)
  Theorem coverage_equality : forall s q, threshold q s - q = step * (misses q s - alpha * INR (length s)).
  Proof.
    induction s as [|score s IH]; intros q; [simpl; lra|].
    change (length (score :: s)) with (S (length s)). rewrite S_INR. simpl. specialize (IH (move q score)).
    unfold move at 2 in IH. lra.
  Qed.

  (** The threshold stays between -step alpha and B + step (1 - alpha): it rises only from below B, falls only from 0
      or above. *)
  Definition inside (q : R) : Prop := - (step * alpha) <= q <= B + step * (1 - alpha).

  Lemma move_inside q score : inside q -> inside (move q score).
  Proof.
    unfold inside, move, miss. intros H.
    assert (0 <= step * alpha) by (apply Rmult_le_pos; lra). assert (0 <= step * (1 - alpha)) by (apply Rmult_le_pos; lra).
    destruct (Rle_dec B q), (Rlt_dec q 0), (Rle_dec score q); lra.
  Qed.

  Lemma threshold_inside : forall s q, inside q -> inside (threshold q s).
  Proof. induction s as [|score s IH]; intros q H; [assumption|]. simpl. apply IH, move_inside, H. Qed.

  Theorem coverage_deviation : forall s q, 0 <= q <= B -> s <> [] ->
    Rabs (misses q s / INR (length s) - alpha) <= (B + step) / (step * INR (length s)).
  Proof.
    intros s q Hq N. set (T := INR (length s)).
    assert (0 < T) as T0 by (apply lt_0_INR; destruct s; [congruence|simpl; lia]).
    pose proof (coverage_equality s q) as E. fold T in E.
    assert (inside q) as Start.
    { unfold inside. assert (0 <= step * alpha) by (apply Rmult_le_pos; lra).
      assert (0 <= step * (1 - alpha)) by (apply Rmult_le_pos; lra). lra. }
    pose proof (threshold_inside s q Start) as [Low High]. destruct Start as [Low' High'].
    assert (Rabs (threshold q s - q) <= B + step) as Moved by (apply Rabs_le; lra).
    assert (0 < step * T) as ST by (apply Rmult_lt_0_compat; assumption).
    replace (misses q s / T - alpha) with ((threshold q s - q) / (step * T)) by (rewrite E; field; lra).
    unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ (step * T))) by (apply Rle_ge; left; apply Rinv_0_lt_compat; assumption).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|assumption].
  Qed.
End Coverage.
