(** Regret of Fixed Share against every path of experts.

    fixed_share_regret (src/novikoff/experts/theorems/fixed_share_regret.py). The weights begin with the prior, which is
    positive and sums to 1. After each exponential update v of the weights with the rate r they are shared:
    w = (1 - alpha) v + alpha prior. For losses in [0, S] and every path of experts over the T rounds with k switches, its
    segments played by e_0 .. e_k,

        sum of h_t  <=  L(path) + (1/r) [ sum of ln(1/prior(e)) + k ln(1/alpha) + (T - k - 1) ln(1/(1 - alpha)) ]
                        + sum of (h_t - m_t),

    and a gap h_t - m_t is at most r S^2 / 8. It is switching_regret (Bayes.v) for the "probabilities" exp(-r l). *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums Hoeffding Bayes.
Import ListNotations.
Open Scope R_scope.

Section FixedShare.
  Context {I : Type}.
  Variable experts : list I.
  Variable eq_dec : forall i j : I, {i = j} + {i <> j}.
  Variable prior : I -> R.
  Hypothesis prior_pos : forall i, 0 < prior i.
  Hypothesis prior_sum : sum prior experts = 1.
  Variables r alpha : R.
  Hypothesis r_pos : 0 < r.
  Hypothesis alpha_range : 0 < alpha < 1.

  Definition likelihood (l : I -> R) : I -> R := fun i => exp (- (r * l i)).
  Definition next (w : I -> R) (l : I -> R) : I -> R := share prior alpha (posterior experts w (likelihood l)).

  Definition mean_loss (w : I -> R) (l : I -> R) : R := sum (fun i => w i * l i) experts.
  Definition mix_loss (w : I -> R) (l : I -> R) : R := - (ln (mix experts w (likelihood l)) / r).

  (** Sums over the game, from the weights w on. *)
  Fixpoint over (f : (I -> R) -> (I -> R) -> R) (w : I -> R) (s : list (I -> R)) : R :=
    match s with
    | [] => 0
    | l :: rest => f w l + over f (next w l) rest
    end.

  (** Loss and price of a path: [i] in this round, then [path]. *)
  Fixpoint path_loss (i : I) (path : list I) (s : list (I -> R)) : R :=
    match s, path with
    | l :: rest, j :: path' => l i + path_loss j path' rest
    | l :: _, [] => l i
    | [], _ => 0
    end.
  Fixpoint price (i : I) (path : list I) : R :=
    match path with
    | [] => 0
    | j :: path' => (if eq_dec i j then ln (/ (1 - alpha)) else ln (/ alpha) + ln (/ prior j)) + price j path'
    end.

  (** In closed form for equal priors: k switches cost k (ln 1/alpha + ln N), the other rounds ln 1/(1 - alpha) each. *)
  Fixpoint switches (i : I) (path : list I) : nat :=
    match path with
    | [] => 0
    | j :: path' => (if eq_dec i j then 0 else 1) + switches j path'
    end.

  Lemma price_equal_priors N : (forall j, prior j = / N) -> 0 < N -> forall path i,
    price i path = INR (switches i path) * (ln (/ alpha) + ln N)
                   + (INR (length path) - INR (switches i path)) * ln (/ (1 - alpha)).
  Proof.
    intros Equal HN. induction path as [|j path IH]; intros i; [simpl; ring|].
    change (length (j :: path)) with (S (length path)). rewrite S_INR. cbn [price switches]. rewrite IH.
    destruct (eq_dec i j); rewrite plus_INR.
    - simpl INR. ring.
    - rewrite Equal, Rinv_inv. simpl INR. ring.
  Qed.

  Definition rounds (s : list (I -> R)) : list ((I -> R) * R) := map (fun l => (likelihood l, alpha)) s.

  (** The losses of [shared] in Bayes.v are r m_t. *)
  Lemma mix_losses_as_log_loss : forall s w, loss (shared experts prior w (rounds s)) = r * over mix_loss w s.
  Proof.
    unfold loss. induction s as [|l s IH]; intros w; simpl; [ring|].
    change (share prior alpha (posterior experts w (likelihood l))) with (next w l).
    rewrite IH. unfold mix_loss. field. lra.
  Qed.

  (** A path costs there at most r L(path) + price: staying costs ln 1/(1 - alpha + alpha prior), which is less. *)
  Lemma path_cost_le : forall s i path, S (length path) = length s ->
    path_cost prior eq_dec i path (rounds s) <= r * path_loss i path s + price i path.
  Proof.
    induction s as [|l s IH]; intros i path Len; [simpl in Len; lia|].
    destruct path as [|j path]; cbn [rounds map path_cost path_loss price].
    - unfold likelihood. rewrite ln_exp. lra.
    - simpl in Len. specialize (IH j path ltac:(lia)). fold (rounds s).
      unfold likelihood at 1. rewrite ln_exp. unfold move. pose proof (prior_pos j) as P.
      assert (0 < alpha * prior j) by (apply Rmult_lt_0_compat; lra).
      destruct (eq_dec i j).
      + assert (ln (1 - alpha) <= ln (1 - alpha + alpha * prior j)) by (apply ln_le; lra).
        rewrite !ln_Rinv in * by lra. lra.
      + rewrite !ln_Rinv, ln_mult by lra. lra.
  Qed.

  Lemma always_positive : forall s i path, path_positive i path (rounds s).
  Proof.
    induction s as [|l s IH]; intros i path; [destruct path; exact Logic.I|].
    destruct path as [|j path]; simpl; [apply exp_pos|split; [apply exp_pos|apply IH]].
  Qed.

  (** The sum of the mix losses. *)
  Theorem fixed_share_mix_loss : forall s i path,
    (forall j, In j (i :: path) -> In j experts) -> S (length path) = length s ->
    over mix_loss prior s <= path_loss i path s + (ln (/ prior i) + price i path) / r.
  Proof.
    intros s i path J Len.
    pose proof (switching_regret experts prior prior_pos ltac:(lra) eq_dec (rounds s) prior i path) as H.
    rewrite mix_losses_as_log_loss in H.
    assert (r * over mix_loss prior s <= path_cost prior eq_dec i path (rounds s) + ln (/ prior i)) as K.
    { apply H; auto using always_positive.
      - intros. left. apply prior_pos.
      - lra.
      - intros p a Hp. unfold rounds in Hp. apply in_map_iff in Hp. destruct Hp as [l [E _]].
        injection E; intros; subst. split; [intros; left; apply exp_pos|assumption].
      - unfold rounds. rewrite map_length. assumption. }
    pose proof (path_cost_le s i path Len).
    apply Rmult_le_reg_l with r; [assumption|].
    replace (r * (path_loss i path s + (ln (/ prior i) + price i path) / r))
      with (r * path_loss i path s + ln (/ prior i) + price i path) by (field; lra). lra.
  Qed.

  (** ** Losses in [0, S] *)

  Variable S : R.
  Definition within (s : list (I -> R)) : Prop := forall l, In l s -> forall i, 0 <= l i <= S.

  Definition weights (w : I -> R) : Prop := (forall i, 0 < w i) /\ sum w experts = 1.

  Lemma some_expert : exists i, In i experts.
  Proof. destruct experts as [|i l]; [simpl in prior_sum; lra|exists i; simpl; auto]. Qed.

  Lemma mix_pos w l : weights w -> 0 < mix experts w (likelihood l).
  Proof.
    intros [P _]. destruct some_expert as [i Hi].
    apply Rlt_le_trans with (w i * likelihood l i); [apply Rmult_lt_0_compat; [auto|apply exp_pos]|].
    apply mix_member; [intros; left; auto|intros; left; apply exp_pos|assumption].
  Qed.

  Lemma next_weights w l : weights w -> weights (next w l).
  Proof.
    intros W. pose proof (mix_pos w l W) as M. destruct W as [P One]. split.
    - intros i. unfold next, share. pose proof (prior_pos i).
      assert (0 <= posterior experts w (likelihood l) i).
      { apply posterior_nonneg; [intros; left; auto|intros; left; apply exp_pos|assumption]. }
      assert (0 <= (1 - alpha) * posterior experts w (likelihood l) i) by (apply Rmult_le_pos; lra).
      assert (0 < alpha * prior i) by (apply Rmult_lt_0_compat; lra). lra.
    - unfold next, share. rewrite sum_plus, !sum_scale, posterior_sums, prior_sum by lra. ring.
  Qed.

  (** Hoeffding's lemma. *)
  Lemma gap w l : weights w -> (forall i, 0 <= l i <= S) -> mean_loss w l - mix_loss w l <= r * (S * S) / 8.
  Proof.
    intros W Range. pose proof (mix_pos w l W) as M. destruct W as [P One].
    pose proof (hoeffding experts w l S (fun i _ => Rlt_le _ _ (P i)) One (fun i _ => Range i) r) as H.
    change (sum (fun i => w i * exp (- (r * l i))) experts) with (mix experts w (likelihood l)) in H.
    change (sum (fun i => w i * l i) experts) with (mean_loss w l) in H.
    assert (ln (mix experts w (likelihood l)) <= - (r * mean_loss w l) + r * r * (S * S) / 8).
    { rewrite <- (ln_exp (- (r * mean_loss w l) + r * r * (S * S) / 8)). apply ln_le; assumption. }
    unfold mix_loss. apply Rmult_le_reg_l with r; [assumption|].
    replace (r * (mean_loss w l - - (ln (mix experts w (likelihood l)) / r)))
      with (r * mean_loss w l + ln (mix experts w (likelihood l))) by (field; lra).
    replace (r * (r * (S * S) / 8)) with (r * r * (S * S) / 8) by field. lra.
  Qed.

  Lemma gaps : forall s w, weights w -> within s ->
    over mean_loss w s <= over mix_loss w s + r * INR (length s) * (S * S) / 8.
  Proof.
    induction s as [|l s IH]; intros w W Range; [simpl; lra|].
    change (length (l :: s)) with (1 + length s)%nat. rewrite plus_INR. cbn [over].
    assert (within s) as Later by (intros u U; apply Range; simpl; auto).
    specialize (IH (next w l) (next_weights w l W) Later).
    pose proof (gap w l W (Range l (or_introl eq_refl))). simpl INR. lra.
  Qed.

  Theorem fixed_share_regret : forall s i path, within s ->
    (forall j, In j (i :: path) -> In j experts) -> Datatypes.S (length path) = length s ->
    over mean_loss prior s
      <= path_loss i path s + (ln (/ prior i) + price i path) / r + r * INR (length s) * (S * S) / 8.
  Proof.
    intros s i path Range J Len. pose proof (fixed_share_mix_loss s i path J Len).
    pose proof (gaps s prior (conj prior_pos prior_sum) Range). lra.
  Qed.
End FixedShare.
