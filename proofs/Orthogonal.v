(** Orthonormal examples: Novikoff's bound is attained, and learners with few examples cannot learn.

    - orthogonal_forced (src/novikoff/adversaries/theorems/orthogonal_forced.py): on k orthonormal vectors every
      deterministic learner can be made to err k times, though some u with ||u||^2 = k has margin 1 on all of them.
    - perceptron_margin is tight: on e_1 .. e_k, all labelled -1, the Perceptron makes exactly k = R^2 ||u||^2 mistakes.
    - budget_forced (budget_forced.py): if the score is a combination of at most B of B + 1 orthonormal vectors, and a
      score of 0 predicts +1, the learner can be made to err in every round, for ever, while one u with
      ||u||^2 = B + 1 has no hinge loss. So no bound for a memory of B examples is finite for every such u. *)

Require Import Reals Bool Arith List Lra Lia.
From Novikoff Require Import Sums Games InnerProduct Perceptron LowerBounds.
Import ListNotations.
Open Scope R_scope.

Section Orthonormal.
  Context {E : Space}.
  Variable e : nat -> E.
  Variable k : nat.
  Hypothesis orthonormal : forall i j, (i < k)%nat -> (j < k)%nat ->
    dot (e i) (e j) = if Nat.eqb i j then 1 else 0.

  (** u = sum of y_i e_i over the indices [l]. *)
  Fixpoint combine (y : nat -> R) (l : list nat) : E :=
    match l with
    | [] => zero
    | i :: rest => plus (combine y rest) (scale (y i) (e i))
    end.

  Lemma combine_dot y j : forall l, (forall i, In i l -> (i < k)%nat) -> (j < k)%nat -> NoDup l ->
    dot (combine y l) (e j) = if in_dec Nat.eq_dec j l then y j else 0.
  Proof.
    induction l as [|i l IH]; intros B Hj N; [apply dot_zero|].
    inversion N as [|? ? Out N']; subst.
    assert (i < k)%nat as Hi by (apply B; simpl; auto).
    assert (forall j, In j l -> (j < k)%nat) as B' by (intros; apply B; simpl; auto).
    simpl combine. rewrite dot_plus, dot_scale, IH, orthonormal by assumption.
    destruct (Nat.eqb_spec i j) as [->|Ne].
    - destruct (in_dec Nat.eq_dec j l); [contradiction|].
      destruct (in_dec Nat.eq_dec j (j :: l)) as [|O]; [lra|exfalso; apply O; simpl; auto].
    - destruct (in_dec Nat.eq_dec j l) as [J|J], (in_dec Nat.eq_dec j (i :: l)) as [I|I]; try lra; exfalso.
      + apply I. simpl. auto.
      + destruct I; contradiction.
  Qed.

  Lemma combine_square y : (forall i, y i * y i = 1) -> forall l, (forall i, In i l -> (i < k)%nat) -> NoDup l ->
    dot (combine y l) (combine y l) = INR (length l).
  Proof.
    intros One. induction l as [|i l IH]; intros B N; [apply dot_zero|].
    inversion N as [|? ? Out N']; subst.
    assert (i < k)%nat as Hi by (apply B; simpl; auto).
    assert (forall j, In j l -> (j < k)%nat) as B' by (intros; apply B; simpl; auto).
    simpl combine. rewrite dot_step, IH, combine_dot, orthonormal, Nat.eqb_refl, One by assumption.
    destruct (in_dec Nat.eq_dec i l); [contradiction|].
    change (length (i :: l)) with (S (length l)). rewrite S_INR. lra.
  Qed.

  Lemma below i : In i (seq 0 k) -> (i < k)%nat.
  Proof. intros I. apply in_seq in I. lia. Qed.

  (** Any labels are separated by a vector of square k with margin 1. *)
  Lemma labels_separated (f : nat -> bool) :
    exists u : E, dot u u = INR k /\ forall i, (i < k)%nat -> sign (f i) * dot u (e i) = 1.
  Proof.
    exists (combine (fun i => sign (f i)) (seq 0 k)). split.
    - rewrite combine_square; [rewrite seq_length; reflexivity|intros; apply sign_square|apply below|apply seq_NoDup].
    - intros i Hi. rewrite combine_dot; [|apply below|assumption|apply seq_NoDup].
      destruct (in_dec Nat.eq_dec i (seq 0 k)) as [|O]; [apply sign_square|].
      exfalso. apply O, in_seq. lia.
  Qed.

  (** orthogonal_forced. The learner is any function of the past and of the index of the vector shown. *)
  Theorem orthogonal_forced : forall L : learner nat bool,
    exists (f : nat -> bool) (u : E),
      mistakes bool_dec L [] (map (fun i => (i, f i)) (seq 0 k)) = k /\
      dot u u = INR k /\ forall i, (i < k)%nat -> dot (e i) (e i) = 1 /\ sign (f i) * dot u (e i) = 1.
  Proof.
    intros L. destruct (majority_flip_forced nat Nat.eq_dec L (seq 0 k) (seq_NoDup k 0)) as [f [_ M]].
    destruct (labels_separated f) as [u [U Sep]].
    exists f, u. rewrite M, seq_length. repeat split; [assumption| |apply Sep; assumption].
    rewrite orthonormal by assumption. rewrite Nat.eqb_refl. reflexivity.
  Qed.

  (** The Perceptron on e_0 .. e_(k-1), all labelled -1: every score is 0, so every round is a mistake. *)
  Lemma perceptron_all : forall m i (w : E), (i + m <= k)%nat ->
    (forall j, (i <= j < i + m)%nat -> dot w (e j) = 0) ->
    perceptron_errs w (map (fun j => (e j, false)) (seq i m)) = m.
  Proof.
    induction m as [|m IH]; intros i w B Orth; [reflexivity|].
    unfold perceptron_errs in *. cbn [seq map erred].
    assert (predict w (e i) = true) as P.
    { unfold predict. rewrite Orth by lia. destruct (Rle_dec 0 0); [reflexivity|lra]. }
    rewrite P. destruct (bool_dec true false); [discriminate|]. cbn [length]. f_equal.
    apply IH; [lia|]. intros j Hj. unfold update. rewrite dot_plus, dot_scale, Orth, orthonormal by lia.
    destruct (Nat.eqb_spec i j); [lia|lra].
  Qed.

  (** perceptron_margin is attained: M = k = R^2 ||u||^2 / margin^2 with R = 1 and margin 1. *)
  Theorem perceptron_margin_tight :
    let s := map (fun j => (e j, false)) (seq 0 k) in
    perceptron_errs zero s = k /\
    exists u : E, (forall r, In r s -> square r <= 1 * 1) /\ (forall r, In r s -> 1 <= margin_of u r) /\
      INR (perceptron_errs zero s) * (1 * 1) = 1 * 1 * dot u u.
  Proof.
    intros s. assert (perceptron_errs zero s = k) as M.
    { apply perceptron_all; [lia|]. intros. apply dot_zero. }
    split; [assumption|]. rewrite M.
    destruct (labels_separated (fun _ => false)) as [u [U Sep]]. exists u. split; [|split].
    - intros r I. apply in_map_iff in I. destruct I as [j [<- I]]. unfold square. simpl.
      rewrite orthonormal by (apply below; assumption). rewrite Nat.eqb_refl. lra.
    - intros r I. apply in_map_iff in I. destruct I as [j [<- I]]. unfold margin_of. simpl fst. simpl snd.
      rewrite Sep by (apply below; assumption). lra.
    - rewrite U. lra.
  Qed.
End Orthonormal.

(** Not vacuous: R^k has such vectors. *)
Theorem perceptron_margin_tight_Rn : forall k,
  perceptron_errs (E := Rn k) zero (map (fun j => (unit k j, false)) (seq 0 k)) = k.
Proof. intros k. apply (perceptron_margin_tight (unit k) k (unit_orthonormal k)). Qed.

(** ** A memory of B examples *)

Section Budget.
  Context {E : Space}.
  Variable B : nat.
  Variable e : nat -> E.
  Hypothesis orthonormal : forall i j, (i < B + 1)%nat -> (j < B + 1)%nat ->
    dot (e i) (e j) = if Nat.eqb i j then 1 else 0.

  (** What the learner stores after the past: at most B pairs (coefficient, index), chosen in any way. *)
  Variable stored : list (nat * bool) -> list (R * nat).
  Hypothesis budget : forall past, (length (stored past) <= B)%nat.
  Hypothesis own : forall past a i, In (a, i) (stored past) -> (i < B + 1)%nat.

  Definition score (past : list (nat * bool)) (j : nat) : R :=
    sum (fun ai => fst ai * dot (e (snd ai)) (e j)) (stored past).
  Definition budget_learner : learner nat bool :=
    fun past j => if Rle_dec 0 (score past j) then true else false.

  (** One of B + 1 indices is not among B. *)
  Lemma free_index past : exists j, (j < B + 1)%nat /\ ~ In j (map snd (stored past)).
  Proof.
    destruct (Forall_dec (fun j => In j (map snd (stored past)))
                (fun j => in_dec Nat.eq_dec j _) (seq 0 (B + 1))) as [All|Some].
    - exfalso.
      assert (incl (seq 0 (B + 1)) (map snd (stored past))) as I
        by (rewrite Forall_forall in All; exact All).
      pose proof (NoDup_incl_length (seq_NoDup (B + 1) 0) I) as Len.
      rewrite seq_length, map_length in Len. specialize (budget past). lia.
    - apply neg_Forall_Exists_neg in Some; [|intros j; apply in_dec, Nat.eq_dec].
      apply Exists_exists in Some. destruct Some as [j [I O]]. exists j. split; [|assumption].
      apply in_seq in I. lia.
  Qed.

  Lemma score_free past j : (j < B + 1)%nat -> ~ In j (map snd (stored past)) -> score past j = 0.
  Proof.
    intros Hj O. unfold score. rewrite (sum_ext _ (fun _ => 0)); [apply sum_zero|].
    intros [a i] I. simpl. rewrite orthonormal; [|eapply own; eassumption|assumption].
    destruct (Nat.eqb_spec i j) as [->|]; [|lra].
    exfalso. apply O. apply in_map_iff. exists (a, j). split; [reflexivity|assumption].
  Qed.

  Lemma always_wrong : forall T past, exists s,
    length s = T /\ (forall j y, In (j, y) s -> (j < B + 1)%nat /\ y = false) /\
    mistakes bool_dec budget_learner past s = T.
  Proof.
    induction T as [|T IH]; intros past; [exists []; repeat split; contradiction|].
    destruct (free_index past) as [j [Hj O]].
    destruct (IH ((j, false) :: past)) as [s [Len [Own M]]].
    exists ((j, false) :: s). split; [simpl; congruence|]. split.
    - intros j' y [Eq|I]; [injection Eq; intros; subst; auto|apply Own; assumption].
    - assert (budget_learner past j = true) as P.
      { unfold budget_learner. rewrite (score_free past j Hj O). destruct (Rle_dec 0 0); [reflexivity|lra]. }
      simpl. rewrite M, P. destruct (bool_dec true false); [discriminate|reflexivity].
  Qed.

  (** budget_forced: T mistakes in T rounds, for every T, and one u of square B + 1 with margin 1 in all of them. *)
  Theorem budget_forced : forall T, exists s (u : E),
    length s = T /\ mistakes bool_dec budget_learner [] s = T /\ dot u u = INR (B + 1) /\
    forall j y, In (j, y) s -> dot (e j) (e j) = 1 /\ sign y * dot u (e j) = 1.
  Proof.
    intros T. destruct (always_wrong T []) as [s [Len [Own M]]].
    destruct (labels_separated e (B + 1) orthonormal (fun _ => false)) as [u [U Sep]].
    exists s, u. split; [assumption|]. split; [assumption|]. split; [assumption|].
    intros j y I. destruct (Own j y I) as [Hj ->]. split; [|apply Sep; assumption].
    rewrite orthonormal by assumption. rewrite Nat.eqb_refl. reflexivity.
  Qed.
End Budget.
