(** Bayes mixtures under log loss.

    - mixture_regret (src/novikoff/mixtures/theorems/mixture_regret.py): N forecasters with the prior pi play P_i, the
      mixture plays P = sum of w_i P_i, w the posterior. For every forecaster j
        L  <=  L_j + ln 1/pi_j.
    - switching_regret (switching_regret.py): if after each round w = (1 - a) v + a pi, v the posterior, then for every
      path, which names one forecaster for each round, L is at most the loss of the path + its price: ln 1/pi of its first
      forecaster, + ln 1/(1 - a + a pi_i) for each round in which it stays with i, + ln 1/(a pi_i) for each change to i.
      a may differ from round to round; the software takes a = 1/(t + 1) after round t.

    Losses are -ln of the probability given to the label that came. Only these probabilities matter, so a round is the
    function [p] from forecasters to the probability of its label. The number of labels is arbitrary. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Section Bayes.
  Context {I : Type}.
  Variable forecasters : list I.
  Local Notation round := (I -> R).

  (** Probability that the mixture with weights w gives to the label. *)
  Definition mix (w : I -> R) (p : round) : R := sum (fun i => w i * p i) forecasters.

  Definition posterior (w : I -> R) (p : round) : I -> R := fun i => w i * p i / mix w p.

  (** The probabilities played, from the weights w on. *)
  Fixpoint played (w : I -> R) (s : list round) : list R :=
    match s with
    | [] => []
    | p :: rest => mix w p :: played (posterior w p) rest
    end.

  Definition loss (ps : list R) : R := sum (fun p => - ln p) ps.
  Definition loss_of (j : I) (s : list round) : R := sum (fun p => - ln (p j)) s.

  Definition valid (s : list round) : Prop := forall p, In p s -> forall i, 0 <= p i.

  Lemma mix_nonneg w p : (forall i, 0 <= w i) -> (forall i, 0 <= p i) -> 0 <= mix w p.
  Proof. intros W P. apply sum_nonneg. intros. apply Rmult_le_pos; auto. Qed.

  (** One forecaster with a positive weight that gives the label a positive probability makes P(y) positive. *)
  Lemma mix_member w p j : (forall i, 0 <= w i) -> (forall i, 0 <= p i) -> In j forecasters -> w j * p j <= mix w p.
  Proof.
    intros W P J. apply (sum_member (fun i => w i * p i)); [|assumption].
    intros. apply Rmult_le_pos; auto.
  Qed.

  Lemma posterior_nonneg w p : (forall i, 0 <= w i) -> (forall i, 0 <= p i) -> 0 < mix w p ->
    forall i, 0 <= posterior w p i.
  Proof.
    intros W P M i. unfold posterior. apply Rmult_le_pos; [apply Rmult_le_pos; auto|].
    left. apply Rinv_0_lt_compat. assumption.
  Qed.

  Lemma posterior_sums w p : mix w p <> 0 -> sum (posterior w p) forecasters = 1.
  Proof.
    intros N. unfold posterior.
    rewrite (sum_ext _ (fun i => / mix w p * (w i * p i))) by (intros; field; assumption).
    rewrite sum_scale. change (sum (fun i => w i * p i) forecasters) with (mix w p). field. assumption.
  Qed.

  (** From any weights that sum to at most 1: the product of the P(y) is at least w_j times that of the P_j(y). In
      logarithms ln w_j grows by the loss of the mixture less that of j, and w_j never exceeds 1. *)
  Theorem mixture_regret : forall s w j,
    (forall i, 0 <= w i) -> sum w forecasters <= 1 -> valid s ->
    In j forecasters -> 0 < w j -> (forall p, In p s -> 0 < p j) ->
    loss (played w s) <= loss_of j s + ln (/ w j).
  Proof.
    induction s as [|p s IH]; intros w j W One V J Wj Pj; unfold loss, loss_of in *; simpl.
    - rewrite ln_Rinv by assumption.
      assert (w j <= 1) by (apply Rle_trans with (sum w forecasters); [apply sum_member; auto|assumption]).
      assert (ln (w j) <= ln 1) by (apply ln_le; assumption). rewrite ln_1 in *. lra.
    - assert (forall i, 0 <= p i) as P by (apply V; simpl; auto).
      assert (0 < p j) as PJ by (apply Pj; simpl; auto).
      assert (0 < w j * p j) by (apply Rmult_lt_0_compat; assumption).
      assert (0 < mix w p) as M by (apply Rlt_le_trans with (w j * p j); [assumption|apply mix_member; assumption]).
      assert (0 < posterior w p j) as W'.
      { unfold posterior. apply Rmult_lt_0_compat; [assumption|apply Rinv_0_lt_compat; assumption]. }
      specialize (IH (posterior w p) j (posterior_nonneg w p W P M)).
      rewrite posterior_sums in IH by lra.
      assert (sum (fun p => - ln p) (played (posterior w p) s)
              <= sum (fun p => - ln (p j)) s + ln (/ posterior w p j)) as H'.
      { apply IH; [lra| |assumption|assumption|].
        - intros q Q. apply V. simpl. auto.
        - intros q Q. apply Pj. simpl. auto. }
      rewrite !ln_Rinv in * by assumption. unfold posterior in H' at 2.
      rewrite ln_div, ln_mult in H' by assumption. lra.
  Qed.

  (** ** Changes between forecasters *)

  Variable pi : I -> R.
  Hypothesis pi_pos : forall i, 0 < pi i.
  Hypothesis pi_sum : sum pi forecasters <= 1.

  (** After a round the weights are shared: a round is the probabilities and the share that follows it. *)
  Definition share (a : R) (v : I -> R) : I -> R := fun i => (1 - a) * v i + a * pi i.

  Fixpoint shared (w : I -> R) (s : list (round * R)) : list R :=
    match s with
    | [] => []
    | (p, a) :: rest => mix w p :: shared (share a (posterior w p)) rest
    end.

  Variable eq_dec : forall i j : I, {i = j} + {i <> j}.

  (** Price of going from i to j at a share of a. *)
  Definition move (a : R) (i j : I) : R :=
    if eq_dec i j then ln (/ (1 - a + a * pi j)) else ln (/ (a * pi j)).

  (** Loss and price of the path: [i] in this round, then [path]. *)
  Fixpoint path_cost (i : I) (path : list I) (s : list (round * R)) : R :=
    match s, path with
    | (p, a) :: rest, j :: path' => - ln (p i) + move a i j + path_cost j path' rest
    | (p, a) :: _, [] => - ln (p i)
    | [], _ => 0
    end.

  (** Every forecaster of the path gave its label a positive probability. *)
  Fixpoint path_positive (i : I) (path : list I) (s : list (round * R)) : Prop :=
    match s, path with
    | (p, _) :: rest, j :: path' => 0 < p i /\ path_positive j path' rest
    | (p, _) :: _, [] => 0 < p i
    | [], _ => True
    end.

  (** The path names a forecaster for each round: [i] for the first and |s| - 1 more. *)
  Theorem switching_regret : forall s w i path,
    (forall k, 0 <= w k) -> sum w forecasters <= 1 ->
    (forall p a, In (p, a) s -> (forall k, 0 <= p k) /\ 0 < a < 1) ->
    (forall j, In j (i :: path) -> In j forecasters) -> 0 < w i ->
    S (length path) = length s -> path_positive i path s ->
    loss (shared w s) <= path_cost i path s + ln (/ w i).
  Proof.
    induction s as [|[p a] s IH]; intros w i path W One V J Wi Len PP; [simpl in Len; lia|].
    destruct (V p a (or_introl eq_refl)) as [P A].
    assert (In i forecasters) as Ji by (apply J; simpl; auto).
    assert (0 < p i) as Pi by (destruct path; simpl in PP; tauto).
    assert (0 < w i * p i) as Wp by (apply Rmult_lt_0_compat; assumption).
    assert (w i * p i <= mix w p) as Mi by (apply mix_member; assumption).
    assert (0 < mix w p) as M by lra.
    assert (- ln (mix w p) <= - ln (p i) + ln (/ w i)) as First.
    { rewrite ln_Rinv by assumption. assert (ln (w i * p i) <= ln (mix w p)) by (apply ln_le; assumption).
      rewrite ln_mult in * by assumption. lra. }
    destruct path as [|j path].
    - (* the last round *)
      destruct s; [|simpl in Len; lia]. unfold loss. simpl. lra.
    - simpl in PP. destruct PP as [_ PP].
      set (v := posterior w p) in *.
      assert (forall k, 0 <= v k) as V0 by (apply posterior_nonneg; assumption).
      assert (0 < v i) as Vi.
      { unfold v, posterior. apply Rmult_lt_0_compat; [assumption|apply Rinv_0_lt_compat; assumption]. }
      assert (sum v forecasters = 1) as V1 by (apply posterior_sums; lra).
      assert (forall k, 0 < share a v k) as Sk.
      { intros k. unfold share. pose proof (pi_pos k).
        assert (0 <= (1 - a) * v k) by (apply Rmult_le_pos; [lra|apply V0]). nra. }
      (* v_i <= 1, so what w'_j has from v_i alone is at least the share of the path *)
      assert (v i <= 1) as Vle by (rewrite <- V1; apply sum_member; auto).
      assert (ln (/ share a v j) <= ln (/ v i) + move a i j) as Step.
      { pose proof (pi_pos j) as Pj. unfold move. destruct (eq_dec i j) as [<-|N].
        - assert (0 < 1 - a + a * pi i) by nra.
          rewrite !ln_Rinv by (assumption || apply Sk).
          assert (ln (v i * (1 - a + a * pi i)) <= ln (share a v i)).
          { apply ln_le; [apply Rmult_lt_0_compat; assumption|]. unfold share.
            assert (0 <= a * pi i * (1 - v i)) by (apply Rmult_le_pos; nra). nra. }
          rewrite ln_mult in * by assumption. lra.
        - assert (0 < a * pi j) by nra.
          rewrite !ln_Rinv by (assumption || apply Sk).
          assert (ln (v i * (a * pi j)) <= ln (share a v j)).
          { apply ln_le; [apply Rmult_lt_0_compat; assumption|]. unfold share.
            assert (0 <= a * pi j * (1 - v i)) by (apply Rmult_le_pos; nra).
            assert (0 <= (1 - a) * v j) by (apply Rmult_le_pos; [lra|apply V0]). nra. }
          rewrite ln_mult in * by assumption. lra. }
      assert (sum (share a v) forecasters <= 1) as S1.
      { unfold share. rewrite sum_plus, !sum_scale, V1. nra. }
      assert (loss (shared (share a v) s) <= path_cost j path s + ln (/ share a v j)) as Rest.
      { apply IH; auto.
        - intros k. left. apply Sk.
        - intros q b Q. apply V. simpl. auto.
        - intros k K. apply J. simpl in *. tauto. }
      (* ln 1/v_i = ln P(y) - ln p_i - ln w_i *)
      assert (ln (/ v i) = ln (mix w p) - ln (p i) - ln (w i)) as Vln.
      { rewrite ln_Rinv by assumption. unfold v, posterior.
        rewrite ln_div, ln_mult by assumption. lra. }
      unfold loss in *. cbn [shared sum path_cost]. fold v. rewrite (ln_Rinv (w i)) by assumption. lra.
  Qed.
End Bayes.
