(** Experts and forecasters that may sleep.

    - specialists_regret (src/novikoff/experts/theorems/specialists_regret.py): weights begin at w, which sum to at most 1;
      before each label any forecasters may be awake. P = sum of w_i P_i / sum of w_i over those awake, and for these
      w_i *= P_i(y) / P(y). For every i, the sum over the rounds in which i was awake of (loss - loss of i) is at most
      ln 1/w_i.
    - sleeping_regret (sleeping_regret.py): R_i = 0 at first, priors sum to at most 1, rates r_t never rise. An expert that
      is awake has weight proportional to prior_i exp(r_t R_i); h_t and m_t are the mean and the mix loss of the awake
      ones; then R_i grows by m_t - l_{t,i} for those awake. For every expert i and all losses
        sum over its awake rounds of (h_t - l_{t,i})  <=  ln(1/prior_i) / r_T + sum over these of (h_t - m_t),
      and a gap h_t - m_t is at most r_t S^2 / 8 for losses in [0, S]. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums Hoeffding.
Import ListNotations.
Open Scope R_scope.

(** A sum over those awake and one over those asleep make the whole. *)
Lemma sum_awake {I : Type} (awake : I -> bool) (f : I -> R) l :
  sum f l = sum f (filter awake l) + sum f (filter (fun i => negb (awake i)) l).
Proof. induction l as [|i l IH]; simpl; [lra|]. rewrite IH. destruct (awake i); simpl; lra. Qed.

(** ** Forecasters under log loss *)

Section Specialists.
  Context {I : Type}.
  Variable forecasters : list I.

  (** A round: who is awake, and the probability that each gives to the label. *)
  Local Notation round := ((I -> bool) * (I -> R))%type.
  Definition present (t : round) : list I := filter (fst t) forecasters.

  Definition played (w : I -> R) (t : round) : R :=
    sum (fun i => w i * snd t i) (present t) / sum w (present t).
  (** With nobody awake the round is skipped. *)
  Definition updated (w : I -> R) (t : round) : I -> R :=
    match present t with
    | [] => w
    | _ => fun i => if fst t i then w i * snd t i / played w t else w i
    end.

  (** Sum over the rounds in which i was awake of its loss difference. *)
  Fixpoint excess (i : I) (w : I -> R) (s : list round) : R :=
    match s with
    | [] => 0
    | t :: rest => (if fst t i then - ln (played w t) + ln (snd t i) else 0) + excess i (updated w t) rest
    end.

  Lemma present_sum (f : I -> R) t k l : (forall i, 0 < f i) -> present t = k :: l -> 0 < sum f (present t).
  Proof.
    intros P ->. simpl. assert (0 <= sum f l) by (apply sum_nonneg; intros; left; auto). pose proof (P k). lra.
  Qed.

  Lemma played_pos w t k l : (forall i, 0 < w i) -> (forall i, 0 < snd t i) -> present t = k :: l -> 0 < played w t.
  Proof.
    intros W P E. unfold played. apply Rdiv_lt_0_compat.
    - apply (present_sum (fun i => w i * snd t i) t k l); [|assumption]. intros. apply Rmult_lt_0_compat; auto.
    - apply (present_sum w t k l); assumption.
  Qed.

  Lemma updated_pos w t : (forall i, 0 < w i) -> (forall i, 0 < snd t i) -> forall i, 0 < updated w t i.
  Proof.
    intros W P i. unfold updated. destruct (present t) as [|k l] eqn:E; [auto|].
    pose proof (played_pos w t k l W P E). destruct (fst t i); [|auto].
    apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; auto|assumption].
  Qed.

  (** Every round leaves the sum of the weights as it is. *)
  Lemma updated_sum w t : (forall i, 0 < w i) -> (forall i, 0 < snd t i) ->
    sum (updated w t) forecasters = sum w forecasters.
  Proof.
    intros W P. unfold updated. destruct (present t) as [|k l] eqn:E; [reflexivity|].
    pose proof (played_pos w t k l W P E) as Q.
    pose proof (present_sum w t k l W E) as Ws.
    rewrite (sum_awake (fst t)), (sum_awake (fst t) w). fold (present t). f_equal.
    - rewrite (sum_ext _ (fun i => / played w t * (w i * snd t i))).
      + rewrite sum_scale. unfold played in *. field. split; [lra|].
        intros Z. rewrite Z in Q. unfold Rdiv in Q. rewrite Rmult_0_l in Q. lra.
      + intros i Hi. apply filter_In in Hi. rewrite (proj2 Hi). field. lra.
    - apply sum_ext. intros i Hi. apply filter_In in Hi. destruct (fst t i); [|reflexivity].
      destruct Hi. discriminate.
  Qed.

  Theorem specialists_regret : forall s w i,
    (forall j, 0 < w j) -> sum w forecasters <= 1 -> In i forecasters ->
    (forall t, In t s -> forall j, 0 < snd t j) -> excess i w s <= ln (/ w i).
  Proof.
    induction s as [|t s IH]; intros w i W One Hi P; simpl.
    - assert (w i <= 1) by (apply Rle_trans with (sum w forecasters); [apply sum_member; auto using Rlt_le|assumption]).
      assert (ln (w i) <= ln 1) by (apply ln_le; auto). rewrite ln_1 in *. rewrite ln_Rinv by auto. lra.
    - assert (forall j, 0 < snd t j) as Pt by (apply P; simpl; auto).
      assert (excess i (updated w t) s <= ln (/ updated w t i)) as Rest.
      { apply IH; [apply updated_pos; assumption| |assumption|intros; apply P; simpl; auto].
        rewrite updated_sum; assumption. }
      rewrite ln_Rinv in * by auto using updated_pos.
      (* ln w_i has grown by ln P_i - ln P if i was awake *)
      destruct (fst t i) eqn:A.
      + assert (In i (present t)) as K by (apply filter_In; auto).
        unfold updated in Rest at 2. destruct (present t) as [|k l] eqn:E; [contradiction|].
        rewrite A in Rest. pose proof (played_pos w t k l W Pt E).
        rewrite ln_div, ln_mult in Rest by (auto; apply Rmult_lt_0_compat; auto). lra.
      + assert (updated w t i = w i) as Eq by (unfold updated; destruct (present t); [|rewrite A]; reflexivity).
        rewrite Eq in Rest. lra.
  Qed.
End Specialists.

(** ** Experts with losses *)

Section Sleeping.
  Context {I : Type}.
  Variable experts : list I.
  Variable prior : I -> R.
  Hypothesis prior_pos : forall i, 0 < prior i.
  Hypothesis prior_sum : sum prior experts <= 1.

  (** A round: the rate, who is awake, and the losses. *)
  Record turn := { rate : R; awake : I -> bool; losses : I -> R }.
  Definition up (t : turn) : list I := filter (awake t) experts.

  Definition mass (r : R) (G : I -> R) (l : list I) : R := sum (fun i => prior i * exp (r * G i)) l.
  Definition p (t : turn) (G : I -> R) (i : I) : R := prior i * exp (rate t * G i) / mass (rate t) G (up t).

  Definition mean_loss (t : turn) (G : I -> R) : R := sum (fun i => p t G i * losses t i) (up t).
  Definition mix_loss (t : turn) (G : I -> R) : R :=
    - (ln (sum (fun i => p t G i * exp (- (rate t * losses t i))) (up t)) / rate t).
  Definition gains (t : turn) (G : I -> R) : I -> R :=
    fun i => if awake t i then G i + (mix_loss t G - losses t i) else G i.

  (** A sum over the rounds in which i is awake. *)
  Fixpoint while_awake (i : I) (f : turn -> (I -> R) -> R) (G : I -> R) (s : list turn) : R :=
    match s with
    | [] => 0
    | t :: rest => (if awake t i then f t G else 0) + while_awake i f (gains t G) rest
    end.

  Fixpoint falling (s : list turn) : Prop :=
    match s with
    | [] => True
    | t :: rest => 0 < rate t /\ match rest with [] => True | u :: _ => rate u <= rate t end /\ falling rest
    end.
  Fixpoint last_rate (r : R) (s : list turn) : R :=
    match s with
    | [] => r
    | t :: rest => last_rate (rate t) rest
    end.

  Lemma term_pos r (G : I -> R) i : 0 < prior i * exp (r * G i).
  Proof. apply Rmult_lt_0_compat; [auto|apply exp_pos]. Qed.

  Lemma mass_pos r G k l : 0 < mass r G (k :: l).
  Proof.
    unfold mass. simpl. pose proof (term_pos r G k).
    assert (0 <= sum (fun i => prior i * exp (r * G i)) l) by (apply sum_nonneg; intros; left; apply term_pos). lra.
  Qed.

  Lemma p_sum t G k l : up t = k :: l -> sum (p t G) (up t) = 1.
  Proof.
    intros E. unfold p. pose proof (mass_pos (rate t) G k l) as M. rewrite <- E in M.
    rewrite (sum_ext _ (fun i => / mass (rate t) G (up t) * (prior i * exp (rate t * G i)))) by (intros; field; lra).
    rewrite sum_scale. fold (mass (rate t) G (up t)). field. lra.
  Qed.

  Lemma p_pos t G k l i : up t = k :: l -> 0 < p t G i.
  Proof.
    intros E. unfold p. apply Rdiv_lt_0_compat; [apply term_pos|]. rewrite E. apply mass_pos.
  Qed.

  (** The total weight does not change in a round at its own rate: the awake terms are multiplied on average by 1. *)
  Lemma mass_kept t G : 0 < rate t -> mass (rate t) (gains t G) experts = mass (rate t) G experts.
  Proof.
    intros R0. set (r := rate t) in *. unfold mass. rewrite (sum_awake (awake t)), (sum_awake (awake t) (fun i => prior i * exp (r * G i))).
    fold (up t). f_equal.
    - destruct (up t) as [|k l] eqn:E; [reflexivity|]. rewrite <- E.
      pose proof (mass_pos r G k l) as M. rewrite <- E in M.
      set (e := sum (fun i => p t G i * exp (- (r * losses t i))) (up t)).
      assert (0 < e) as E0.
      { unfold e. rewrite E. simpl.
        assert (0 < p t G k * exp (- (r * losses t k))) by (apply Rmult_lt_0_compat; [apply (p_pos t G k l k E)|apply exp_pos]).
        assert (0 <= sum (fun i => p t G i * exp (- (r * losses t i))) l); [|lra].
        apply sum_nonneg. intros. apply Rmult_le_pos; left; [apply (p_pos t G k l a E)|apply exp_pos]. }
      (* exp(r m) = 1/e *)
      assert (exp (r * mix_loss t G) = / e) as Em.
      { unfold mix_loss. fold r e. replace (r * - (ln e / r)) with (- ln e) by (field; lra).
        rewrite exp_Ropp, exp_ln by assumption. reflexivity. }
      rewrite (sum_ext _ (fun i => mass r G (up t) * / e * (p t G i * exp (- (r * losses t i))))).
      + rewrite sum_scale. fold e. fold (mass r G (up t)). field. lra.
      + intros i Hi. apply filter_In in Hi. unfold gains. rewrite (proj2 Hi). unfold p. fold r.
        replace (r * (G i + (mix_loss t G - losses t i))) with (r * G i + (r * mix_loss t G + - (r * losses t i))) by ring.
        rewrite !exp_plus, Em. field. split; lra.
    - apply sum_ext. intros i Hi. apply filter_In in Hi. unfold gains. destruct (awake t i); [|reflexivity].
      destruct Hi. discriminate.
  Qed.

  (** At a lower rate a total of at most 1 stays at most 1. *)
  Lemma mass_lower r r' G : 0 < r' <= r -> mass r G experts <= 1 -> mass r' G experts <= 1.
  Proof.
    intros Hr M. set (theta := r' / r).
    assert (0 <= theta <= 1) as Th.
    { unfold theta. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with r; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    apply Rle_trans with (sum (fun i => theta * (prior i * exp (r * G i)) + (1 - theta) * prior i) experts).
    - apply sum_le. intros i _.
      pose proof (exp_convex theta (r * G i) 0 Th) as C. rewrite exp_0 in C.
      replace (theta * (r * G i) + (1 - theta) * 0) with (r' * G i) in C by (unfold theta; field; lra).
      pose proof (prior_pos i).
      assert (prior i * exp (r' * G i) <= prior i * (theta * exp (r * G i) + (1 - theta) * 1)) by (apply Rmult_le_compat_l; lra).
      lra.
    - rewrite sum_plus, !sum_scale. fold (mass r G experts). nra.
  Qed.

  Lemma sleeping_from i : In i experts -> forall s t G, falling (t :: s) -> mass (rate t) G experts <= 1 ->
    G i + while_awake i (fun t G => mix_loss t G - losses t i) G (t :: s) <= ln (/ prior i) / last_rate (rate t) s.
  Proof.
    intros Hi. induction s as [|u s IH]; intros t G Fall M; destruct Fall as [R0 [Le Fall]].
    - (* one term of a sum that is at most 1 *)
      cbn [while_awake last_rate].
      replace (G i + ((if awake t i then mix_loss t G - losses t i else 0) + 0)) with (gains t G i)
        by (unfold gains; destruct (awake t i); ring).
      rewrite <- mass_kept in M by assumption.
      assert (prior i * exp (rate t * gains t G i) <= 1) as K.
      { eapply Rle_trans; [|apply M]. apply (sum_member (fun i => prior i * exp (rate t * gains t G i))); [|assumption].
        intros. left. apply term_pos. }
      assert (ln (prior i * exp (rate t * gains t G i)) <= ln 1) as K' by (apply ln_le; [apply term_pos|assumption]).
      rewrite ln_mult, ln_exp, ln_1 in K' by (auto; apply exp_pos). rewrite ln_Rinv by auto.
      apply Rmult_le_reg_l with (rate t); [assumption|].
      replace (rate t * (- ln (prior i) / rate t)) with (- ln (prior i)) by (field; lra). lra.
    - assert (0 < rate u) as U0 by (destruct Fall; assumption).
      assert (mass (rate u) (gains t G) experts <= 1) as M'.
      { apply mass_lower with (rate t); [lra|]. rewrite mass_kept; assumption. }
      specialize (IH u (gains t G) Fall M').
      change (while_awake i (fun t G => mix_loss t G - losses t i) G (t :: u :: s))
        with ((if awake t i then mix_loss t G - losses t i else 0)
              + while_awake i (fun t G => mix_loss t G - losses t i) (gains t G) (u :: s)).
      change (last_rate (rate t) (u :: s)) with (last_rate (rate u) s).
      unfold gains in IH at 1. destruct (awake t i); lra.
  Qed.

  Local Notation start := (fun _ : I => 0).

  Lemma mass_start r : mass r start experts <= 1.
  Proof.
    unfold mass. rewrite (sum_ext _ prior); [assumption|]. intros. cbv beta. rewrite Rmult_0_r, exp_0. ring.
  Qed.

  Theorem sleeping_regret : forall s t i, In i experts -> falling (t :: s) ->
    while_awake i (fun t G => mean_loss t G - losses t i) start (t :: s)
      <= ln (/ prior i) / last_rate (rate t) s
         + while_awake i (fun t G => mean_loss t G - mix_loss t G) start (t :: s).
  Proof.
    intros s t i Hi Fall. pose proof (sleeping_from i Hi s t start Fall (mass_start (rate t))) as H.
    assert (forall s G, while_awake i (fun t G => mean_loss t G - losses t i) G s
              = while_awake i (fun t G => mix_loss t G - losses t i) G s
                + while_awake i (fun t G => mean_loss t G - mix_loss t G) G s) as E.
    { clear. induction s as [|t s IH]; intros G; simpl; [lra|]. rewrite IH. destruct (awake t i); lra. }
    rewrite E. lra.
  Qed.

  (** The gap of a round, for losses in [0, S]. *)
  Theorem sleeping_gap : forall t G S i, 0 < rate t -> In i experts -> awake t i = true ->
    (forall j, 0 <= losses t j <= S) -> mean_loss t G - mix_loss t G <= rate t * (S * S) / 8.
  Proof.
    intros t G S i R0 Hi A Range.
    destruct (up t) as [|k l] eqn:E.
    { assert (In i (up t)) as K by (apply filter_In; auto). rewrite E in K. contradiction. }
    pose proof (hoeffding (up t) (p t G) (losses t) S (fun j _ => Rlt_le _ _ (p_pos t G k l j E)) (p_sum t G k l E)
                  (fun j _ => Range j) (rate t)) as H.
    fold (mean_loss t G) in H. unfold mix_loss.
    set (e := sum (fun i => p t G i * exp (- (rate t * losses t i))) (up t)) in *.
    assert (0 < e) as E0.
    { unfold e. rewrite E. simpl.
      assert (0 < p t G k * exp (- (rate t * losses t k))) by (apply Rmult_lt_0_compat; [apply (p_pos t G k l k E)|apply exp_pos]).
      assert (0 <= sum (fun i => p t G i * exp (- (rate t * losses t i))) l); [|lra].
      apply sum_nonneg. intros. apply Rmult_le_pos; left; [apply (p_pos t G k l a E)|apply exp_pos]. }
    assert (ln e <= - (rate t * mean_loss t G) + rate t * rate t * (S * S) / 8) as K.
    { rewrite <- (ln_exp (- (rate t * mean_loss t G) + rate t * rate t * (S * S) / 8)). apply ln_le; assumption. }
    apply Rmult_le_reg_l with (rate t); [assumption|].
    replace (rate t * (mean_loss t G - - (ln e / rate t))) with (rate t * mean_loss t G + ln e) by (field; lra).
    replace (rate t * (rate t * (S * S) / 8)) with (rate t * rate t * (S * S) / 8) by field. lra.
  Qed.
End Sleeping.
