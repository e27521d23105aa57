(** The mixture over the prunings of a growing tree.

    tree_pruning (src/novikoff/trees/theorems/tree_pruning.py). A node v forecasts p_v, any function of the past, and
    s_v = 1/(1 + e^-beta_v) is the weight of stopping there. On the path of x the mixture is q_v = p_v at the leaf,
    q_v = s_v p_v + (1 - s_v) q_child above, and the tree plays q_root. After the label y, beta_v += ln p_v(y) - ln
    q_child(y). A leaf may be split after any round. A_v is the loss of v until it was split, B_v since then, and pi_v
    the weight of stopping at the split. Then the log loss of the tree is L = Q_root, where

        Q_v = A_v at a leaf,   Q_v = A_v - ln( pi_v e^-B_v + (1 - pi_v) e^-(Q_left + Q_right) )  above,

    and for every pruning, a subtree with the root,

        L  <=  sum over its leaves of (A_v + B_v + ln 1/pi_v if v was split)
               + sum over its inner nodes of (A_v + ln 1/(1 - pi_v)).

    The least right side is computed from the leaves up. Only the probabilities of the labels that came enter, so the
    number of labels is arbitrary. *)

Require Import Reals List Lra Lia Psatz.
From Novikoff Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** The state: the loss A of a node until its split, the loss B since then, the weight beta of stopping, with its value
    [prior] at the split. *)
Inductive tree :=
| Leaf (A : R)
| Node (A B beta prior : R) (lo hi : tree).

(** An address is the turns from the root; [true] is left (lo). A round has, for each address, the probability that the node
    there gives to the label, and the child to which x goes. Both are arbitrary: any forecasts, any cuts, and different
    ones in every round. *)
Record round := { p : list bool -> R; turn : list bool -> bool }.
Definition positive (r : round) : Prop := forall v, 0 < p r v.

Definition logistic (beta : R) : R := 1 / (1 + exp (- beta)).

(** Probability that the mixture at address v gives to the label. *)
Fixpoint q (t : tree) (r : round) (v : list bool) : R :=
  match t with
  | Leaf _ => p r v
  | Node _ _ beta _ lo hi =>
      let child := if turn r v then q lo r (true :: v) else q hi r (false :: v) in
      logistic beta * p r v + (1 - logistic beta) * child
  end.

Fixpoint learn (t : tree) (r : round) (v : list bool) : tree :=
  match t with
  | Leaf A => Leaf (A - ln (p r v))
  | Node A B beta prior lo hi =>
      if turn r v
      then Node A (B - ln (p r v)) (beta + ln (p r v) - ln (q lo r (true :: v))) prior
             (learn lo r (true :: v)) hi
      else Node A (B - ln (p r v)) (beta + ln (p r v) - ln (q hi r (false :: v))) prior
             lo (learn hi r (false :: v))
  end.

(** Split the leaf that the turns lead to; nothing happens if they lead to no leaf. *)
Fixpoint split (t : tree) (turns : list bool) (prior : R) : tree :=
  match t, turns with
  | Leaf A, [] => Node A 0 prior prior (Leaf 0) (Leaf 0)
  | Node A B beta b lo hi, true :: rest => Node A B beta b (split lo rest prior) hi
  | Node A B beta b lo hi, false :: rest => Node A B beta b lo (split hi rest prior)
  | _, _ => t
  end.

(** A run: rounds, with splits between them. *)
Inductive event := Round (r : round) | Split (turns : list bool) (prior : R).

Fixpoint final (t : tree) (es : list event) : tree :=
  match es with
  | [] => t
  | Round r :: rest => final (learn t r []) rest
  | Split turns prior :: rest => final (split t turns prior) rest
  end.

(** Log loss of the run. *)
Fixpoint loss (t : tree) (es : list event) : R :=
  match es with
  | [] => 0
  | Round r :: rest => - ln (q t r []) + loss (learn t r []) rest
  | Split turns prior :: rest => loss (split t turns prior) rest
  end.

Definition all_positive (es : list event) : Prop := forall r, In (Round r) es -> positive r.

(** The formula, from the stored sums; pi is the weight of stopping at the split. *)
Fixpoint Q (t : tree) : R :=
  match t with
  | Leaf A => A
  | Node A B _ prior lo hi =>
      A - ln (logistic prior * exp (- B) + (1 - logistic prior) * exp (- (Q lo + Q hi)))
  end.

(** What beta is at every node: prior + Q_left + Q_right - B. *)
Fixpoint sound (t : tree) : Prop :=
  match t with
  | Leaf _ => True
  | Node _ B beta prior lo hi => beta = prior + Q lo + Q hi - B /\ sound lo /\ sound hi
  end.

Lemma logistic_range b : 0 < logistic b < 1.
Proof.
  unfold logistic. pose proof (exp_pos (- b)). split.
  - apply Rdiv_lt_0_compat; lra.
  - apply Rmult_lt_reg_r with (1 + exp (- b)); [lra|].
    replace (1 / (1 + exp (- b)) * (1 + exp (- b))) with 1 by (field; lra). lra.
Qed.

(** 1 - s = s e^-beta *)
Lemma logistic_rest b : 1 - logistic b = logistic b * exp (- b).
Proof. unfold logistic. pose proof (exp_pos (- b)). field. lra. Qed.

Lemma q_positive r : positive r -> forall t v, 0 < q t r v.
Proof.
  intros P. induction t as [A|A B beta prior lo IHl hi IHr]; intros v; simpl; [apply P|].
  pose proof (logistic_range beta). pose proof (P v).
  assert (0 < if turn r v then q lo r (true :: v) else q hi r (false :: v)) by (destruct (turn r v); auto).
  nra.
Qed.

(** The two terms a = pi e^-B and c = (1 - pi) e^-(Q_left + Q_right) at a node. Their ratio is e^beta, so that
    a/(a + c) is the weight of stopping. *)
Lemma terms_ratio prior B C : let beta := prior + C - B in
  let a := logistic prior * exp (- B) in let c := (1 - logistic prior) * exp (- C) in
  0 < a /\ 0 < c /\ a = logistic beta * (a + c) /\ c = (1 - logistic beta) * (a + c).
Proof.
  intros beta a c. pose proof (logistic_range prior). pose proof (exp_pos (- B)). pose proof (exp_pos (- C)).
  assert (0 < a) by (apply Rmult_lt_0_compat; lra). assert (0 < c) by (apply Rmult_lt_0_compat; lra).
  assert (c = a * exp (- beta)) as Ratio.
  { unfold c, a, beta. rewrite logistic_rest.
    replace (- (prior + C - B)) with (- prior + (- C + B)) by ring. rewrite !exp_plus.
    assert (exp (- B) * exp B = 1) as Inv by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
    replace (logistic prior * exp (- B) * (exp (- prior) * (exp (- C) * exp B)))
      with (logistic prior * exp (- prior) * exp (- C) * (exp (- B) * exp B)) by ring.
    rewrite Inv. ring. }
  pose proof (exp_pos (- beta)).
  assert (a = logistic beta * (a + c)) as Ea by (rewrite Ratio; unfold logistic; field; lra).
  repeat split; try assumption. lra.
Qed.

(** A round adds the loss of the mixture to Q, and beta stays what it should be. *)
Lemma learn_identity r : positive r -> forall t v, sound t ->
  Q (learn t r v) = Q t - ln (q t r v) /\ sound (learn t r v).
Proof.
  intros P. induction t as [A|A B beta prior lo IHl hi IHr]; intros v S; [simpl; split; [reflexivity|exact I]|].
  destruct S as [Beta [Sl Sr]]. pose proof (P v) as Pv.
  specialize (IHl (true :: v) Sl). specialize (IHr (false :: v) Sr). destruct IHl as [Ql Tl], IHr as [Qr Tr].
  pose proof (q_positive r P lo (true :: v)) as ql. pose proof (q_positive r P hi (false :: v)) as qr.
  (* one step at this node, for the child that x passes *)
  assert (forall child, 0 < child ->
            - ln (logistic prior * exp (- (B - ln (p r v)))
                  + (1 - logistic prior) * exp (- (Q lo + Q hi - ln child)))
            = - ln (logistic prior * exp (- B) + (1 - logistic prior) * exp (- (Q lo + Q hi)))
              - ln (logistic beta * p r v + (1 - logistic beta) * child)) as Step.
  { intros child Hc. subst beta.
    replace (prior + Q lo + Q hi - B) with (prior + (Q lo + Q hi) - B) by ring.
    destruct (terms_ratio prior B (Q lo + Q hi)) as [a0 [c0 [Ea Ec]]].
    set (a := logistic prior * exp (- B)) in *.
    set (c := (1 - logistic prior) * exp (- (Q lo + Q hi))) in *.
    set (s := logistic (prior + (Q lo + Q hi) - B)) in *.
    replace (logistic prior * exp (- (B - ln (p r v)))) with (a * p r v).
    2:{ unfold a. replace (- (B - ln (p r v))) with (- B + ln (p r v)) by ring. rewrite exp_plus, exp_ln by assumption. ring. }
    replace ((1 - logistic prior) * exp (- (Q lo + Q hi - ln child))) with (c * child).
    2:{ unfold c. replace (- (Q lo + Q hi - ln child)) with (- (Q lo + Q hi) + ln child) by ring.
        rewrite exp_plus, exp_ln by assumption. ring. }
    pose proof (logistic_range (prior + (Q lo + Q hi) - B)) as Sr'. fold s in Sr'.
    assert (0 < s * p r v + (1 - s) * child) by nra.
    replace (a * p r v + c * child) with ((a + c) * (s * p r v + (1 - s) * child)).
    2:{ transitivity (s * (a + c) * p r v + (1 - s) * (a + c) * child); [ring|rewrite <- Ea, <- Ec; reflexivity]. }
    rewrite ln_mult by lra. ring. }
  simpl. destruct (turn r v); simpl.
  - rewrite Ql. split.
    + replace (Q lo - ln (q lo r (true :: v)) + Q hi) with (Q lo + Q hi - ln (q lo r (true :: v))) by ring.
      pose proof (Step _ ql). lra.
    + split; [subst beta; ring|split; assumption].
  - rewrite Qr. split.
    + replace (Q lo + (Q hi - ln (q hi r (false :: v)))) with (Q lo + Q hi - ln (q hi r (false :: v))) by ring.
      pose proof (Step _ qr). lra.
    + split; [subst beta; ring|split; assumption].
Qed.

(** A split changes neither. *)
Lemma split_identity prior : forall t turns, sound t -> Q (split t turns prior) = Q t /\ sound (split t turns prior).
Proof.
  induction t as [A|A B beta b lo IHl hi IHr]; intros turns S.
  - destruct turns as [|d turns]; simpl; [|split; [reflexivity|exact I]].
    rewrite Rplus_0_r, Ropp_0, exp_0.
    replace (logistic prior * 1 + (1 - logistic prior) * 1) with 1 by ring. rewrite ln_1.
    split; [ring|split; [ring|split; exact I]].
  - destruct S as [Beta [Sl Sr]]. destruct turns as [|[|] turns]; simpl.
    + split; [reflexivity|]. split; [assumption|split; assumption].
    + destruct (IHl turns Sl) as [E S']. rewrite E. split; [reflexivity|split; [assumption|split; assumption]].
    + destruct (IHr turns Sr) as [E S']. rewrite E. split; [reflexivity|split; [assumption|split; assumption]].
Qed.

(** The identity L = Q_root. *)
Theorem tree_identity : forall es t, all_positive es -> sound t -> Q (final t es) = Q t + loss t es.
Proof.
  induction es as [|[r|turns prior] es IH]; intros t P S; simpl; [lra| |].
  - assert (positive r) as Pr by (apply P; simpl; auto).
    destruct (learn_identity r Pr t [] S) as [E S'].
    rewrite IH; [rewrite E; ring|intros r' I; apply P; simpl; auto|assumption].
  - destruct (split_identity prior t turns S) as [E S'].
    rewrite IH; [rewrite E; reflexivity|intros r' I; apply P; simpl; auto|assumption].
Qed.

(** ** Prunings *)

Inductive pruning := Stop | Go (lo hi : pruning).

(** A pruning goes on only at nodes that were split. *)
Fixpoint prunes (P : pruning) (t : tree) : Prop :=
  match P, t with
  | Stop, _ => True
  | Go l r, Node _ _ _ _ lo hi => prunes l lo /\ prunes r hi
  | Go _ _, Leaf _ => False
  end.

(** The right side of the theorem. *)
Fixpoint cost (P : pruning) (t : tree) : R :=
  match P, t with
  | Stop, Leaf A => A
  | Stop, Node A B _ prior _ _ => A + B + ln (/ logistic prior)
  | Go l r, Node A _ _ prior lo hi => A + ln (/ (1 - logistic prior)) + cost l lo + cost r hi
  | Go _ _, Leaf A => A
  end.

(** Keep one of the two terms at every node of the pruning. *)
Lemma formula_at_most_cost : forall t P, prunes P t -> Q t <= cost P t.
Proof.
  induction t as [A|A B beta prior lo IHl hi IHr]; intros P H.
  - destruct P; [simpl; lra|contradiction].
  - pose proof (logistic_range prior). pose proof (exp_pos (- B)). pose proof (exp_pos (- (Q lo + Q hi))).
    destruct P as [|l r]; simpl.
    + rewrite ln_Rinv by lra.
      assert (ln (logistic prior * exp (- B))
              <= ln (logistic prior * exp (- B) + (1 - logistic prior) * exp (- (Q lo + Q hi)))) as K.
      { apply ln_le; [apply Rmult_lt_0_compat; lra|]. nra. }
      rewrite ln_mult, ln_exp in K by lra. lra.
    + destruct H as [Hl Hr]. specialize (IHl l Hl). specialize (IHr r Hr). rewrite ln_Rinv by lra.
      assert (ln ((1 - logistic prior) * exp (- (Q lo + Q hi)))
              <= ln (logistic prior * exp (- B) + (1 - logistic prior) * exp (- (Q lo + Q hi)))) as K.
      { apply ln_le; [apply Rmult_lt_0_compat; lra|]. nra. }
      rewrite ln_mult, ln_exp in K by lra. lra.
Qed.

(** tree_pruning: from one empty node, whatever is forecast and however the tree grows. *)
Theorem tree_pruning : forall es P, all_positive es -> prunes P (final (Leaf 0) es) ->
  loss (Leaf 0) es <= cost P (final (Leaf 0) es).
Proof.
  intros es P Pos H. pose proof (tree_identity es (Leaf 0) Pos I) as E. simpl in E.
  pose proof (formula_at_most_cost _ P H). lra.
Qed.

(** The least cost, from the leaves up, is that of some pruning. *)
Fixpoint least (t : tree) : R :=
  match t with
  | Leaf A => A
  | Node A B _ prior lo hi =>
      A + Rmin (B + ln (/ logistic prior)) (least lo + least hi + ln (/ (1 - logistic prior)))
  end.

Theorem least_cost : forall t,
  (forall P, prunes P t -> least t <= cost P t) /\ exists P, prunes P t /\ cost P t = least t.
Proof.
  induction t as [A|A B beta prior lo [Ll [Pl [Hl El]]] hi [Lr [Pr [Hr Er]]]].
  - split; [|exists Stop; split; [exact I|reflexivity]].
    intros [|] H; [simpl; lra|contradiction].
  - simpl. split.
    + intros [|l r] H; simpl.
      * pose proof (Rmin_l (B + ln (/ logistic prior)) (least lo + least hi + ln (/ (1 - logistic prior)))). lra.
      * destruct H as [H1 H2]. specialize (Ll l H1). specialize (Lr r H2).
        pose proof (Rmin_r (B + ln (/ logistic prior)) (least lo + least hi + ln (/ (1 - logistic prior)))). lra.
    + unfold Rmin. destruct (Rle_dec _ _).
      * exists Stop. split; [exact I|simpl; lra].
      * exists (Go Pl Pr). split; [split; assumption|simpl; lra].
Qed.
