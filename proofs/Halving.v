(** Halving: predict the label with the most weight among the surviving hypotheses.

    halving_mistakes (src/novikoff/finite/theorems/halving_mistakes.py):

        M  <=  log2( W before / W after ),

    where W is the prior weight of the survivors. A priori M <= log2(W(H) / prior(h) ) for every
    hypothesis h that fits the stream: log2 |H| without a prior, the length of the shortest correct
    program for the prior 2^-length. It holds with any number of labels, any tie rule, and with the
    filter in every round or on mistakes only.

    halving_restarts (src/novikoff/finite/theorems/halving_restarts.py): on a stream that no hypothesis fits, Halving
    begins again with all of H when no survivor is left. With r restarts and w the least prior weight of a hypothesis,

        M  <=  f(W before / w) + 1  +  (r - 1) (f(W(H) / w) + 1)  +  f(W(H) / W after),   f(x) = floor(log2 x),

    if r >= 1. A restart costs every hypothesis an error, so r is at most the errors of the best one. *)

Require Import Reals Arith List Lra Lia.
From Novikoff Require Import Sums Games.
Import ListNotations.
Open Scope R_scope.

Section Halving.
  Context {X Y : Type} (same : forall a b : Y, {a = b} + {a <> b}).
  Local Notation H := (X -> Y).

  Variable prior : H -> R.
  Hypothesis prior_pos : forall h, 0 < prior h.

  Definition right (x : X) (y : Y) (h : H) : bool := if same (h x) y then true else false.
  Definition weight (V : list H) : R := sum prior V.

  (** Weight of the survivors that vote for y. *)
  Definition votes (V : list H) (x : X) (y : Y) : R := weight (filter (right x y) V).

  (** The prediction has at least as many votes as any label; ties are broken in any way. *)
  Variable vote : list H -> X -> Y.
  Hypothesis plurality : forall V x y, votes V x y <= votes V x (vote V x).

  (** Whether hypotheses are removed on mistakes only. *)
  Variable conservative : bool.

  Definition next (V : list H) (x : X) (y : Y) : list H :=
    if same (vote V x) y then (if conservative then V else filter (right x y) V)
    else filter (right x y) V.

  Fixpoint survivors (V : list H) (s : list (X * Y)) : list H :=
    match s with
    | [] => V
    | (x, y) :: rest => survivors (next V x y) rest
    end.

  Fixpoint halving_errs (V : list H) (s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest => (if same (vote V x) y then 0 else 1) + halving_errs (next V x y) rest
    end.

  Lemma weight_nonneg V : 0 <= weight V.
  Proof. apply sum_nonneg. intros. left. apply prior_pos. Qed.

  Lemma weight_filter p V : weight (filter p V) <= weight V.
  Proof. apply sum_filter_le. intros. left. apply prior_pos. Qed.

  (** A mistake leaves at most half: two labels share W, and the wrong one has no less. *)
  Lemma mistake_halves V x y : vote V x <> y -> 2 * weight (filter (right x y) V) <= weight V.
  Proof.
    intros E. pose proof (plurality V x y) as P. unfold votes in P.
    assert (weight (filter (right x y) V) + weight (filter (right x (vote V x)) V) <= weight V).
    { apply sum_filter_disjoint; [intros; left; apply prior_pos|].
      intros h _. unfold right. destruct (same (h x) y), (same (h x) (vote V x)); congruence. }
    lra.
  Qed.

  Lemma no_round_adds V x y : weight (next V x y) <= weight V.
  Proof.
    unfold next. destruct (same (vote V x) y), conservative;
      try apply weight_filter; apply Rle_refl.
  Qed.

  (** The theorem without division: 2^M W(after) <= W(before). *)
  Theorem halving_mistakes_exact : forall s V,
    2 ^ halving_errs V s * weight (survivors V s) <= weight V.
  Proof.
    induction s as [|[x y] s IH]; simpl; intros V; [lra|].
    specialize (IH (next V x y)). pose proof (no_round_adds V x y).
    destruct (same (vote V x) y) as [E|E].
    - simpl. lra.
    - assert (2 * weight (next V x y) <= weight V).
      { unfold next. destruct (same (vote V x) y); [contradiction|]. apply mistake_halves, E. }
      simpl. nra.
  Qed.

  Theorem halving_mistakes : forall s V,
    survivors V s <> [] -> INR (halving_errs V s) <= log2 (weight V / weight (survivors V s)).
  Proof.
    intros s V N. apply le_log2; [|apply halving_mistakes_exact].
    destruct (survivors V s) as [|h rest]; [congruence|].
    unfold weight. simpl. pose proof (prior_pos h). pose proof (weight_nonneg rest).
    unfold weight in *. lra.
  Qed.

  Lemma fitting_survives h : forall s V, In h V -> fits h s -> In h (survivors V s).
  Proof.
    induction s as [|[x y] s IH]; simpl; intros V I F; [assumption|].
    apply fits_cons in F. destruct F as [E F]. apply IH; [|assumption].
    assert (In h (filter (right x y) V)).
    { apply filter_In. split; [assumption|]. unfold right. destruct (same (h x) y); congruence. }
    unfold next. destruct (same (vote V x) y), conservative; assumption.
  Qed.

  (** A priori: log2 of the total weight over the weight of any hypothesis that fits. *)
  Theorem halving_mistakes_prior : forall s V h,
    In h V -> fits h s -> INR (halving_errs V s) <= log2 (weight V / prior h).
  Proof.
    intros s V h I F. apply le_log2; [apply prior_pos|].
    pose proof (halving_mistakes_exact s V) as E.
    assert (prior h <= weight (survivors V s)).
    { apply (sum_member prior); [intros; left; apply prior_pos|]. apply fitting_survives; assumption. }
    assert (0 < 2 ^ halving_errs V s) by (apply pow_lt; lra). nra.
  Qed.

  (** With equal weights, in whole numbers: M <= floor(log2 |H|). *)
  Theorem halving_mistakes_count : (forall h, prior h = 1) -> forall s V h,
    In h V -> fits h s -> (halving_errs V s <= Nat.log2 (length V))%nat.
  Proof.
    intros One s V h I F.
    assert (forall U, weight U = INR (length U)) as Count.
    { intros U. unfold weight. rewrite (sum_ext _ (fun _ => 1)) by (intros; apply One).
      rewrite sum_const. lra. }
    pose proof (halving_mistakes_exact s V) as E. rewrite !Count in E.
    pose proof (fitting_survives h s V I F) as S.
    assert (1 <= length (survivors V s))%nat
      by (destruct (survivors V s); [contradiction|simpl; lia]).
    assert (0 < length V)%nat by (destruct V; [contradiction|simpl; lia]).
    apply Nat.log2_le_pow2; [assumption|].
    apply INR_le. rewrite pow_INR. change (INR 2) with 2.
    assert (1 <= INR (length (survivors V s))) by (apply (le_INR 1); assumption).
    assert (0 < 2 ^ halving_errs V s) by (apply pow_lt; lra). nra.
  Qed.

  (** ** Restarts *)

  Variable class : list H.
  Variable least : R.
  Hypothesis class_some : class <> [].
  Hypothesis least_pos : 0 < least.
  Hypothesis least_le : forall h, least <= prior h.

  Definition restart (V : list H) : list H := match V with [] => class | _ => V end.
  Definition ended (V : list H) : nat := match V with [] => 1 | _ => 0 end.

  (** Survivors at the end, mistakes and restarts of the game that begins with the survivors V. *)
  Fixpoint end_of (V : list H) (s : list (X * Y)) : list H :=
    match s with
    | [] => V
    | (x, y) :: rest => end_of (restart (next V x y)) rest
    end.
  Fixpoint restart_errs (V : list H) (s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest => (if same (vote V x) y then 0 else 1) + restart_errs (restart (next V x y)) rest
    end.
  Fixpoint restarts (V : list H) (s : list (X * Y)) : nat :=
    match s with
    | [] => 0
    | (x, y) :: rest => ended (next V x y) + restarts (restart (next V x y)) rest
    end.

  Lemma weight_least V : V <> [] -> least <= weight V.
  Proof.
    destruct V as [|h V]; [congruence|]. intros _. unfold weight. simpl.
    pose proof (least_le h). pose proof (weight_nonneg V). unfold weight in *. lra.
  Qed.

  (** The round that leaves no survivor is a mistake: all of them voted for another label. *)
  Lemma emptied_is_mistake V x y : V <> [] -> next V x y = [] -> vote V x <> y.
  Proof.
    intros N E R. unfold next in E. destruct (same (vote V x) y) as [_|]; [|contradiction].
    destruct conservative; [contradiction|].
    (* nobody voted for y, so nobody voted at all, but V has weight *)
    pose proof (weight_least V N) as W.
    assert (weight V <= 0); [|lra].
    assert (forall z, votes V x z <= 0) as None.
    { intros z. pose proof (plurality V x z) as P. rewrite R in P. unfold votes at 2 in P. rewrite E in P.
      unfold weight in P. simpl in P. assumption. }
    destruct V as [|h V]; [congruence|]. exfalso.
    specialize (None (h x)). unfold votes, weight, right in None. simpl in None.
    destruct (same (h x) (h x)) as [_|]; [|congruence]. simpl in None.
    pose proof (prior_pos h).
    assert (0 <= sum prior (filter (fun g => if same (g x) (h x) then true else false) V))
      by (apply sum_nonneg; intros; left; apply prior_pos).
    lra.
  Qed.

  (** The same game cut into phases: whole phases, in which the survivors run out, and the last one. [m] mistakes that
      leave a survivor of the weight W at least halve it m times, so 2^m least <= W. *)
  Definition halvings (W w : R) (m : nat) : Prop := 2 ^ m * w <= W.

  Lemma halving_phases : forall s V, V <> [] ->
    exists m0 (phases : list nat),
      (length phases = restarts V s)%nat /\
      (restart_errs V s = fold_right (fun m total => (m + 1 + total)%nat) m0 phases) /\
      match phases with
      | [] => halvings (weight V) (weight (end_of V s)) m0
      | m :: later => halvings (weight V) least m /\ Forall (halvings (weight class) least) later /\
                      halvings (weight class) (weight (end_of V s)) m0
      end.
  Proof.
    induction s as [|[x y] s IH]; intros V N.
    - exists 0%nat, []. simpl. unfold halvings. simpl. repeat split; lra.
    - cbn [restarts restart_errs end_of]. destruct (next V x y) as [|h rest] eqn:E.
      + (* this round ends the phase *)
        pose proof (emptied_is_mistake V x y N E) as Err. cbn [restart ended].
        destruct (same (vote V x) y); [contradiction|].
        destruct (IH class class_some) as [m0 [phases [Len [Sum P]]]].
        exists m0, (0%nat :: phases). split; [simpl; congruence|]. split; [simpl; rewrite Sum; reflexivity|].
        split; [unfold halvings; simpl; pose proof (weight_least V N); lra|].
        destruct phases as [|m later]; [split; [constructor|assumption]|].
        destruct P as [P1 [P2 P3]]. split; [constructor; assumption|assumption].
      + (* a survivor is left: the first phase goes on *)
        cbn [restart ended]. assert (h :: rest <> []) as N' by discriminate.
        destruct (IH (h :: rest) N') as [m0 [phases [Len [Sum P]]]].
        assert (weight (h :: rest) <= weight V) as Le by (rewrite <- E; apply no_round_adds).
        destruct (same (vote V x) y) as [R|R].
        * exists m0, phases. split; [assumption|]. split; [simpl; assumption|].
          destruct phases; unfold halvings in *; [lra|]. destruct P as [P1 P2]. split; [lra|assumption].
        * (* a mistake: one more halving in the first phase *)
          assert (2 * weight (h :: rest) <= weight V) as Half.
          { rewrite <- E. unfold next. destruct (same (vote V x) y); [contradiction|]. apply mistake_halves, R. }
          destruct phases as [|m later]; simpl in *.
          -- exists (S m0), []. simpl. split; [assumption|]. split; [congruence|]. unfold halvings in *. simpl. lra.
          -- exists m0, (S m :: later). simpl. split; [assumption|]. split; [rewrite Sum; reflexivity|].
             destruct P as [P1 P2]. split; [|assumption]. unfold halvings in *. simpl. lra.
  Qed.

  (** a, b and c are whole numbers, so at most the floors of these logarithms. *)
  Theorem halving_restarts : forall s V, V <> [] ->
    match restarts V s with
    | O => INR (restart_errs V s) <= log2 (weight V / weight (end_of V s))
    | S r => exists a b c : nat,
        INR a <= log2 (weight V / least) /\ INR b <= log2 (weight class / least) /\
        INR c <= log2 (weight class / weight (end_of V s)) /\
        (restart_errs V s <= a + 1 + r * (b + 1) + c)%nat
    end.
  Proof.
    intros s V N. destruct (halving_phases s V N) as [c [phases [Len [Sum P]]]].
    assert (0 < weight (end_of V s)) as End.
    { assert (end_of V s <> []) as N'.
      { clear - N class_some. revert V N. induction s as [|[x y] s IH]; intros V N; [assumption|].
        simpl. apply IH. destruct (next V x y); [assumption|discriminate]. }
      pose proof (weight_least _ N'). lra. }
    rewrite <- Len, Sum. destruct phases as [|a later]; [apply le_log2; assumption|]. simpl length.
    destruct P as [Pa [Pb Pc]].
    (* b is the most in one of the later phases *)
    assert (exists b, halvings (weight class) least b /\
              (fold_right (fun m total => m + 1 + total) c later <= length later * (b + 1) + c)%nat) as [b [Hb Le]].
    { clear - Pb least_pos class_some least_le prior_pos. induction Pb as [|m later Hm _ IH].
      - exists 0%nat. unfold halvings. simpl. pose proof (weight_least class class_some). split; [lra|lia].
      - destruct IH as [b [Hb Le]]. exists (Nat.max m b). split.
        + destruct (Nat.max_spec m b) as [[_ ->]|[_ ->]]; assumption.
        + simpl. nia. }
    exists a, b, c. repeat split; try (apply le_log2; assumption). simpl. lia.
  Qed.

  (** Every phase that ended cost each hypothesis an error: r <= m, the errors of the best one. *)
  Theorem restarts_at_most_errors : forall h, In h class -> forall s V,
    (restarts V s <= errors same h s + 1)%nat /\ (In h V -> (restarts V s <= errors same h s)%nat).
  Proof.
    intros h C. induction s as [|[x y] s IH]; intros V; [simpl; split; intros; lia|].
    cbn [restarts errors]. specialize (IH (restart (next V x y))). destruct IH as [IH1 IH2].
    assert (next V x y = [] -> In h (restart (next V x y))) as Again by (intros ->; assumption).
    assert (In h V -> h x = y -> In h (next V x y)) as Keep.
    { intros Hv E. assert (In h (filter (right x y) V)).
      { apply filter_In. split; [assumption|]. unfold right. destruct (same (h x) y); congruence. }
      unfold next. destruct (same (vote V x) y), conservative; assumption. }
    destruct (next V x y) as [|g rest] eqn:E; cbn [ended restart] in *.
    - specialize (IH2 (Again eq_refl)). destruct (same (h x) y) as [R|R]; (split; [lia|intros Hv]); [|lia].
      destruct (Keep Hv R).
    - destruct (same (h x) y) as [R|R]; (split; [lia|intros Hv]); [|lia].
      specialize (IH2 (Keep Hv R)). lia.
  Qed.
End Halving.

(** Two labels, a tie predicts +1 (here [true]): the rule of the software is a plurality vote. *)
Definition majority {X : Type} (prior : (X -> bool) -> R) (V : list (X -> bool)) (x : X) : bool :=
  if Rle_dec (votes Bool.bool_dec prior V x false) (votes Bool.bool_dec prior V x true)
  then true else false.

Lemma majority_plurality {X : Type} (prior : (X -> bool) -> R) V (x : X) y :
  votes Bool.bool_dec prior V x y <= votes Bool.bool_dec prior V x (majority prior V x).
Proof. unfold majority. destruct (Rle_dec _ _), y; lra. Qed.
