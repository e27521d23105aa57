(** Regret of AdaHedge, whose rate is set by the cost of mixing so far.

    ada_hedge_regret (src/novikoff/experts/theorems/ada_hedge_regret.py). N >= 2 experts begin with equal weights. D_t is
    the sum of the gaps h - m of rounds 1 .. t. In round t the rate is ln N / D_{t-1}; while D is 0 the rate is infinite:
    all the weight is on the leaders, the experts with the least loss so far, in equal parts, and m is the growth of the
    least loss. For all losses, of any size and sign, and every expert i

        sum of h_t  <=  L_i + D_T + D_{T-1}. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums Hoeffding ExponentialWeights.
Import ListNotations.
Open Scope R_scope.

Section AdaHedge.
  Context {I : Type}.
  Variable experts : list I.
  Hypothesis two_experts : (2 <= length experts)%nat.

  Let N : R := INR (length experts).
  Let prior (_ : I) : R := / N.

  Lemma N_ge_2 : 2 <= N.
  Proof. apply (le_INR 2). assumption. Qed.

  Lemma ln_N_pos : 0 < ln N.
  Proof. rewrite <- ln_1. apply ln_increasing; pose proof N_ge_2; lra. Qed.

  Lemma prior_pos i : 0 < prior i.
  Proof. apply Rinv_0_lt_compat. pose proof N_ge_2. lra. Qed.

  Lemma prior_sum : sum prior experts <= 1.
  Proof. unfold prior. rewrite sum_const. fold N. rewrite Rinv_l by (pose proof N_ge_2; lra). lra. Qed.

  Lemma some_expert : experts <> [].
  Proof. intros E. rewrite E in two_experts. simpl in *. lia. Qed.

  (** ** The least loss *)

  Fixpoint least_of (L : I -> R) (l : list I) (best : R) : R :=
    match l with
    | [] => best
    | i :: rest => least_of L rest (Rmin best (L i))
    end.
  Definition least (L : I -> R) : R :=
    match experts with
    | [] => 0
    | i :: rest => least_of L rest (L i)
    end.

  Lemma least_of_spec L : forall l best,
    least_of L l best <= best /\ (forall i, In i l -> least_of L l best <= L i) /\
    (least_of L l best = best \/ exists i, In i l /\ least_of L l best = L i).
  Proof.
    induction l as [|j l IH]; intros best; simpl; [repeat split; [lra|contradiction|left; reflexivity]|].
    destruct (IH (Rmin best (L j))) as [H1 [H2 H3]].
    pose proof (Rmin_l best (L j)). pose proof (Rmin_r best (L j)). split; [lra|]. split.
    - intros i [->|Hi]; [lra|auto].
    - destruct H3 as [H3|[i [Hi Ei]]]; [|right; exists i; auto].
      unfold Rmin in H3 at 2. destruct (Rle_dec best (L j)); [left; assumption|right; exists j; auto].
  Qed.

  Lemma least_le L i : In i experts -> least L <= L i.
  Proof.
    unfold least. destruct experts as [|j l]; [contradiction|].
    destruct (least_of_spec L l (L j)) as [H1 [H2 _]]. intros [->|Hi]; [assumption|auto].
  Qed.

  Lemma least_attained L : exists i, In i experts /\ least L = L i.
  Proof.
    pose proof some_expert as Some. unfold least. destruct experts as [|j l]; [congruence|].
    destruct (least_of_spec L l (L j)) as [_ [_ [H|[i [Hi Ei]]]]]; [exists j|exists i]; simpl; auto.
  Qed.

  Lemma least_ext L L' : (forall i, L i = L' i) -> least L = least L'.
  Proof.
    intros E. apply Rle_antisym.
    - destruct (least_attained L') as [i [Hi Ei]]. rewrite Ei, <- E. apply least_le. assumption.
    - destruct (least_attained L) as [i [Hi Ei]]. rewrite Ei, E. apply least_le. assumption.
  Qed.

  (** The leaders, and the mean of l over them. *)
  Definition leads (L : I -> R) (i : I) : bool := if Rle_dec (L i) (least L) then true else false.
  Definition leaders (L : I -> R) : list I := filter (leads L) experts.
  Definition leader_mean (L l : I -> R) : R := sum l (leaders L) / INR (length (leaders L)).

  Lemma leaders_count L : 0 < INR (length (leaders L)).
  Proof.
    apply lt_0_INR. destruct (least_attained L) as [i [Hi Ei]].
    assert (In i (leaders L)) as K.
    { apply filter_In. split; [assumption|]. unfold leads. destruct (Rle_dec (L i) (least L)); [reflexivity|lra]. }
    destruct (leaders L); [contradiction|simpl; lia].
  Qed.

  (** ** The rule *)

  Let w := ExponentialWeights.w experts prior.
  Let F := ExponentialWeights.F experts prior.

  (** Mean loss and mix loss of a round, given the losses L and the gaps D so far. *)
  Definition h (L : I -> R) (D : R) (l : I -> R) : R :=
    if Req_EM_T D 0 then leader_mean L l else mean_loss experts prior L (ln N / D, l).
  Definition m (L : I -> R) (D : R) (l : I -> R) : R :=
    if Req_EM_T D 0 then least (fun i => L i + l i) - least L else mix_loss experts prior L (ln N / D, l).
  Definition gap (L : I -> R) (D : R) (l : I -> R) : R := h L D l - m L D l.
  Definition grown (L l : I -> R) : I -> R := fun i => L i + l i.

  (** Sum of h, the final losses, and D after and before the last round. *)
  Fixpoint total_h (L : I -> R) (D : R) (s : list (I -> R)) : R :=
    match s with
    | [] => 0
    | l :: rest => h L D l + total_h (grown L l) (D + gap L D l) rest
    end.
  Fixpoint final_L (L : I -> R) (s : list (I -> R)) : I -> R :=
    match s with
    | [] => L
    | l :: rest => final_L (grown L l) rest
    end.
  Fixpoint D_end (L : I -> R) (D : R) (s : list (I -> R)) : R :=
    match s with
    | [] => D
    | l :: rest => D_end (grown L l) (D + gap L D l) rest
    end.
  Fixpoint D_before (L : I -> R) (D : R) (s : list (I -> R)) : R :=
    match s with
    | [] => D
    | [_] => D
    | l :: rest => D_before (grown L l) (D + gap L D l) rest
    end.

  (** A gap is never negative. *)
  Lemma gap_nonneg L D l : 0 <= D -> 0 <= gap L D l.
  Proof.
    intros HD. unfold gap, h, m. destruct (Req_EM_T D 0) as [_|ND].
    - (* the leaders all have the least loss *)
      pose proof (leaders_count L) as C. unfold leader_mean.
      assert (INR (length (leaders L)) * (least (fun i => L i + l i) - least L) <= sum l (leaders L)) as K.
      { rewrite Rmult_comm, <- sum_const. apply sum_le. intros i Hi. apply filter_In in Hi. destruct Hi as [Hi Le].
        unfold leads in Le. destruct (Rle_dec (L i) (least L)); [|discriminate].
        pose proof (least_le (fun i => L i + l i) i Hi). simpl in *. lra. }
      assert (least (fun i => L i + l i) - least L <= sum l (leaders L) / INR (length (leaders L))); [|lra].
      apply Rmult_le_reg_l with (INR (length (leaders L))); [assumption|].
      replace (INR (length (leaders L)) * (sum l (leaders L) / INR (length (leaders L)))) with (sum l (leaders L))
        by (field; lra). assumption.
    - (* exp lies above its tangent at the mean *)
      set (r := ln N / D). assert (0 < r) as R0 by (apply Rdiv_lt_0_compat; [apply ln_N_pos|lra]).
      unfold mean_loss, mix_loss. simpl fst. simpl snd.
      set (mu := sum (fun i => ExponentialWeights.w experts prior r L i * l i) experts).
      set (E := sum (fun i => ExponentialWeights.w experts prior r L i * exp (- (r * l i))) experts).
      assert (exp (- (r * mu)) <= E) as J.
      { replace (exp (- (r * mu))) with
          (sum (fun i => ExponentialWeights.w experts prior r L i
                         * (exp (- (r * mu)) * (1 + (- (r * l i) - - (r * mu))))) experts).
        - apply sum_le. intros i _. apply Rmult_le_compat_l; [|apply exp_tangent].
          left. apply (w_pos experts prior prior_pos prior_sum some_expert).
        - rewrite (sum_ext _ (fun i => exp (- (r * mu)) * ((1 + r * mu) * ExponentialWeights.w experts prior r L i
                                         - r * (ExponentialWeights.w experts prior r L i * l i)))) by (intros; ring).
          rewrite sum_scale, sum_minus, !sum_scale, (w_sum experts prior prior_pos prior_sum some_expert). fold mu. ring. }
      assert (- (r * mu) <= ln E).
      { rewrite <- (ln_exp (- (r * mu))). apply ln_le; [apply exp_pos|assumption]. }
      assert (- mu <= ln E / r); [|lra].
      apply Rmult_le_reg_l with r; [assumption|]. replace (r * (ln E / r)) with (ln E) by (field; lra). lra.
  Qed.

  (** The potential before a round: F at its rate, which is the least loss at an infinite rate. *)
  Definition potential (D : R) (L : I -> R) : R := if Req_EM_T D 0 then least L else F (ln N / D) L.

  Lemma m_telescopes L D l : 0 <= D -> m L D l = potential D (grown L l) - potential D L.
  Proof.
    intros HD. unfold m, potential. destruct (Req_EM_T D 0); [reflexivity|].
    apply (mix_loss_telescopes experts prior prior_pos prior_sum some_expert L (ln N / D, l)). simpl.
    assert (0 < ln N / D) by (apply Rdiv_lt_0_compat; [apply ln_N_pos|lra]). lra.
  Qed.

  (** More gaps, a lower rate, a larger potential. *)
  Lemma potential_grows D D' L : 0 <= D <= D' -> potential D L <= potential D' L.
  Proof.
    intros H. pose proof ln_N_pos as P. unfold potential.
    destruct (Req_EM_T D 0) as [Z|NZ], (Req_EM_T D' 0) as [Z'|NZ']; try lra.
    - (* from an infinite rate: the total weight is at most exp(-r least) *)
      set (r := ln N / D'). assert (0 < r) as R0 by (apply Rdiv_lt_0_compat; lra).
      unfold F, ExponentialWeights.F.
      assert (total experts prior r L <= exp (- (r * least L))) as T.
      { unfold total. apply Rle_trans with (sum (fun i => exp (- (r * least L)) * prior i) experts).
        - apply sum_le. intros i Hi. rewrite Rmult_comm. apply Rmult_le_compat_r; [left; apply prior_pos|].
          pose proof (least_le L i Hi).
          assert (r * least L <= r * L i) by (apply Rmult_le_compat_l; lra).
          destruct (Req_dec (- (r * L i)) (- (r * least L))) as [->|Ne]; [lra|left; apply exp_increasing; lra].
        - rewrite sum_scale. pose proof prior_sum. pose proof (exp_pos (- (r * least L))). nra. }
      assert (ln (total experts prior r L) <= - (r * least L)).
      { rewrite <- (ln_exp (- (r * least L))). apply ln_le; [apply (total_pos experts prior prior_pos prior_sum some_expert)|assumption]. }
      assert (ln (total experts prior r L) / r <= - least L); [|lra].
      apply Rmult_le_reg_l with r; [assumption|].
      replace (r * (ln (total experts prior r L) / r)) with (ln (total experts prior r L)) by (field; lra). lra.
    - apply (F_rate experts prior prior_pos prior_sum some_expert). split; [apply Rdiv_lt_0_compat; lra|].
      unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  Qed.

  (** At the end: potential <= L_i + D, as ln(1/prior) / rate = D. *)
  Lemma potential_expert D L i : 0 <= D -> In i experts -> potential D L <= L i + D.
  Proof.
    intros HD Hi. pose proof ln_N_pos as P. unfold potential. destruct (Req_EM_T D 0) as [Z|NZ].
    - pose proof (least_le L i Hi). lra.
    - assert (0 < ln N / D) as R0 by (apply Rdiv_lt_0_compat; lra).
      pose proof (F_expert experts prior prior_pos (ln N / D) L i R0 Hi) as E.
      unfold prior in E at 2. rewrite Rinv_inv in E. replace (ln N / (ln N / D)) with D in E by (field; lra). exact E.
  Qed.

  (** From any state: the sum of h is D_T - D plus the mix losses, which telescope. *)
  Lemma ada_hedge_from i : In i experts -> forall s L D, 0 <= D -> s <> [] ->
    total_h L D s <= final_L L s i + D_before L D s + D_end L D s - D - potential D L.
  Proof.
    intros Hi. induction s as [|l s IH]; intros L D HD NE; [congruence|].
    pose proof (gap_nonneg L D l HD) as G. pose proof (m_telescopes L D l HD) as T.
    assert (h L D l = m L D l + gap L D l) as Eh by (unfold gap; ring).
    destruct s as [|l' s].
    - cbn [total_h final_L D_before D_end]. pose proof (potential_expert D (grown L l) i HD Hi). lra.
    - specialize (IH (grown L l) (D + gap L D l) ltac:(lra) ltac:(discriminate)).
      change (total_h L D (l :: l' :: s)) with (h L D l + total_h (grown L l) (D + gap L D l) (l' :: s)).
      change (final_L L (l :: l' :: s)) with (final_L (grown L l) (l' :: s)).
      change (D_before L D (l :: l' :: s)) with (D_before (grown L l) (D + gap L D l) (l' :: s)).
      change (D_end L D (l :: l' :: s)) with (D_end (grown L l) (D + gap L D l) (l' :: s)).
      pose proof (potential_grows D (D + gap L D l) (grown L l) ltac:(lra)). lra.
  Qed.

  Local Notation start := (fun _ : I => 0).

  Theorem ada_hedge_regret : forall s i, In i experts -> s <> [] ->
    total_h start 0 s <= final_L start s i + D_end start 0 s + D_before start 0 s.
  Proof.
    intros s i Hi NE. pose proof (ada_hedge_from i Hi s start 0 ltac:(lra) NE) as H.
    assert (potential 0 start = 0) as Z.
    { unfold potential. destruct (Req_EM_T 0 0); [|congruence].
      destruct (least_attained start) as [j [_ E]]. exact E. }
    rewrite Z in H. lra.
  Qed.

  (** The final losses are the sums of the losses. *)
  Lemma final_L_sum i : forall s L, final_L L s i = L i + sum (fun l => l i) s.
  Proof. induction s as [|l s IH]; intros L; simpl; [lra|]. rewrite IH. unfold grown. lra. Qed.
End AdaHedge.
