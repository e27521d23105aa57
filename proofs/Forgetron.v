(** The Forgetron's mistakes, from the costs of shrinking and removal.

    forgetron_pathwise (src/novikoff/kernel/theorems/forgetron_pathwise.py). The learner keeps f = sum of sigma_i y_i x_i,
    in any space with an inner product. On a mistake it appends the example with weight 1 (f'), shrinks all weights by phi
    in (0, 1], and removes the oldest example r if there are more than B. With lambda the weight of r at that time and
    mu = y_r <f, x_r> before the removal, let

        S1 = sum (1 - phi) ||f'||,   S2 = sum (1 - phi^2) ||f'||^2,
        P = sum (lambda^2 ||x_r||^2 - 2 lambda mu),   Lam = sum lambda.

    For every B, every choice of phi, every g with hinge loss D over ALL rounds, and every R^2 that no ||x||^2 exceeds:

        M  <=  R^2 ||g||^2 + 2 D + 2 ||g|| S1 + (P + 2 R^2 Lam - S2) / R^2. *)

Require Import Reals Arith Bool List Lra Lia Psatz.
From Novikoff Require Import Sums InnerProduct Perceptron.
Import ListNotations.
Open Scope R_scope.

Section Forgetron.
  Context {E : Space}.
  Local Notation round := (vec E * bool)%type.

  Variable B : nat.

  (** A stored example: its weight and the round. The oldest is the first. *)
  Local Notation support := (R * (vec E * bool))%type.
  Definition sigma (c : support) : R := fst c.
  Definition margin_at (v : E) (c : support) : R := margin_of v (snd c).

  (** f = sum of sigma y x. *)
  Fixpoint f (l : list support) : E :=
    match l with
    | [] => zero
    | c :: rest => plus (f rest) (scale (sigma c * sign (snd (snd c))) (fst (snd c)))
    end.

  (** The rule by which phi is chosen, from the list with the new example. *)
  Variable shrink : list support -> R.
  Hypothesis shrink_range : forall l, 0 < shrink l <= 1.

  Record state := { stored : list support; count : nat; P : R; Lam : R; S1 : R; S2 : R }.
  Definition empty : state := {| stored := []; count := 0; P := 0; Lam := 0; S1 := 0; S2 := 0 |}.

  Definition shrunk (phi : R) (l : list support) : list support := map (fun c => (phi * sigma c, snd c)) l.

  (** Append and shrink. *)
  Definition grow (s : state) (r : round) : state :=
    let l := stored s ++ [(1, r)] in
    let phi := shrink l in
    {| stored := shrunk phi l; count := S (count s); P := P s; Lam := Lam s;
       S1 := S1 s + (1 - phi) * norm (f l); S2 := S2 s + (1 - phi * phi) * dot (f l) (f l) |}.

  (** Remove the oldest example, if there are more than B. *)
  Definition trim (s : state) : state :=
    if Nat.leb (length (stored s)) B then s else
    match stored s with
    | [] => s
    | c :: rest =>
        {| stored := rest; count := count s;
           P := P s + (sigma c * sigma c * square (snd c) - 2 * sigma c * margin_at (f (stored s)) c);
           Lam := Lam s + sigma c; S1 := S1 s; S2 := S2 s |}
    end.

  Definition step (s : state) (r : round) : state :=
    if bool_dec (predict (f (stored s)) (fst r)) (snd r) then s else trim (grow s r).

  Fixpoint final (s : state) (rounds : list round) : state :=
    match rounds with
    | [] => s
    | r :: rest => final (step s r) rest
    end.

  (** ** Inner products with f *)

  Lemma dot_f l v : dot (f l) v = sum (fun c => sigma c * margin_at v c) l.
  Proof.
    induction l as [|c l IH]; simpl; [apply dot_zero|]. rewrite dot_plus, dot_scale, IH.
    unfold margin_at, margin_of. rewrite (dot_sym _ (fst (snd c)) v). ring.
  Qed.

  Lemma dot_shrunk phi l v : dot (f (shrunk phi l)) v = phi * dot (f l) v.
  Proof.
    rewrite !dot_f. unfold shrunk. rewrite sum_map, <- sum_scale. apply sum_ext. intros. unfold sigma, margin_at. simpl. ring.
  Qed.

  Lemma dot_append l c v : dot (f (l ++ [c])) v = dot (f l) v + sigma c * margin_at v c.
  Proof. rewrite !dot_f, sum_app. simpl. ring. Qed.

  Variable g : E.
  Variable R2 : R.
  Hypothesis R2_pos : 0 < R2.

  (** Distance from h = R^2 g, less ||h||^2. *)
  Definition distance (l : list support) : R := dot (f l) (f l) - 2 * R2 * dot (f l) g.

  (** Appending on a mistake. *)
  Lemma append_distance l r : predict (f l) (fst r) <> snd r ->
    distance (l ++ [(1, r)]) <= distance l - (2 * R2 * margin_of g r - square r).
  Proof.
    intros N. pose proof (mistake_score (f l) (fst r) (snd r) N) as M.
    unfold distance. set (F := f (l ++ [(1, r)])).
    assert (forall v, dot F v = dot (f l) v + margin_of v r) as App.
    { intros v. unfold F. rewrite dot_append. unfold sigma, margin_at. simpl. ring. }
    assert (dot F F = dot (f l) (f l) + 2 * (sign (snd r) * dot (f l) (fst r)) + square r) as Sq.
    { rewrite App, (dot_sym _ (f l) F), App. unfold margin_of, square.
      replace (sign (snd r) * dot F (fst r)) with (sign (snd r) * (dot (f l) (fst r) + sign (snd r) * dot (fst r) (fst r)))
        by (rewrite App; reflexivity).
      rewrite Rmult_plus_distr_l, <- (Rmult_assoc (sign (snd r)) (sign (snd r))), sign_square. ring. }
    rewrite Sq, (App g). lra.
  Qed.

  (** Shrinking. *)
  Lemma shrink_distance phi l : 0 < phi <= 1 ->
    distance (shrunk phi l)
      <= distance l - ((1 - phi * phi) * dot (f l) (f l) - 2 * (1 - phi) * norm (f l) * (R2 * norm g)).
  Proof.
    intros Hp. unfold distance. rewrite !dot_shrunk, (dot_sym _ (f l) (f (shrunk phi l))), dot_shrunk.
    pose proof (cauchy_schwarz (f l) g) as C.
    assert ((1 - phi) * R2 * dot (f l) g <= (1 - phi) * R2 * (norm (f l) * norm g)).
    { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]. }
    lra.
  Qed.

  (** Removing the first. *)
  Lemma remove_distance c l : distance l
    = distance (c :: l) - (2 * sigma c * margin_at (f (c :: l)) c - 2 * R2 * sigma c * margin_at g c
                           - sigma c * sigma c * square (snd c)).
  Proof.
    unfold distance, margin_at, margin_of, square. simpl f.
    rewrite !dot_plus, !dot_plus_r, !dot_scale, !dot_scale_r, (dot_sym _ (fst (snd c)) (f l)), (dot_sym _ (fst (snd c)) g).
    destruct (snd (snd c)); unfold sign; ring.
  Qed.

  (** ** The invariant *)

  (** [gone] and [lost]: how many examples were removed, and their hinge losses. *)
  Definition slack (s : state) (gone lost : R) : R :=
    distance (stored s) + sum (fun c => 2 * R2 * margin_at g c - square (snd c)) (stored s)
    + R2 * gone - 2 * R2 * lost - (P s + 2 * R2 * Lam s) + S2 s - 2 * R2 * norm g * S1 s.

  Definition invariant (s : state) (gone lost all : R) : Prop :=
    slack s gone lost <= 0 /\ INR (count s) = INR (length (stored s)) + gone /\
    lost + sum (fun c => hinge g (snd c)) (stored s) <= all /\
    (forall c, In c (stored s) -> 0 <= sigma c <= 1 /\ square (snd c) <= R2).

  Lemma grow_invariant s gone lost all r : invariant s gone lost all -> square r <= R2 ->
    predict (f (stored s)) (fst r) <> snd r -> invariant (grow s r) gone lost (all + hinge g r).
  Proof.
    intros [Sl [Co [Lo Ok]]] Sq N. set (l := stored s ++ [(1, r)]). set (phi := shrink l).
    pose proof (shrink_range l) as Ph. fold phi in Ph.
    pose proof (append_distance (stored s) r N) as A. fold l in A.
    pose proof (shrink_distance phi l Ph) as Sh.
    assert (forall (h : round -> R), sum (fun c => h (snd c)) (shrunk phi l) = sum (fun c => h (snd c)) (stored s) + h r) as Sums.
    { intros h. unfold shrunk, l. rewrite sum_map, sum_app. simpl. ring. }
    split; [|split; [|split]].
    - unfold slack, grow in *. fold l phi. cbn [stored P Lam S1 S2].
      unfold margin_at in *. rewrite (Sums (fun r => 2 * R2 * margin_of g r - square r)). lra.
    - unfold grow. fold l phi. cbn [stored count]. rewrite S_INR, Co. unfold shrunk, l.
      rewrite map_length, app_length, plus_INR. simpl. ring.
    - unfold grow. fold l phi. cbn [stored]. rewrite (Sums (hinge g)). lra.
    - unfold grow. fold l phi. cbn [stored]. intros c Hc. unfold shrunk in Hc. apply in_map_iff in Hc.
      destruct Hc as [d [<- Hd]]. unfold l in Hd. apply in_app_or in Hd. unfold sigma. simpl.
      destruct Hd as [Hd|[<-|[]]]; [destruct (Ok d Hd) as [Si Sd]; unfold sigma in Si|]; simpl.
      + split; [nra|assumption].
      + split; [lra|assumption].
  Qed.

  Lemma trim_invariant s gone lost all : invariant s gone lost all ->
    exists gone' lost', invariant (trim s) gone' lost' all.
  Proof.
    intros Inv. unfold trim. destruct (Nat.leb (length (stored s)) B); [exists gone, lost; assumption|].
    destruct (stored s) as [|c rest] eqn:L; [exists gone, lost; assumption|].
    destruct Inv as [Sl [Co [Lo Ok]]]. rewrite L in *.
    assert (0 <= sigma c <= 1 /\ square (snd c) <= R2) as [Si Sq] by (apply Ok; simpl; auto).
    exists (gone + 1), (lost + hinge g (snd c)). split; [|split; [|split]].
    - unfold slack in *. cbn [stored P Lam S1 S2]. rewrite L in Sl. simpl sum in Sl.
      rewrite (remove_distance c rest).
      pose proof (hinge_above g (snd c)) as H1. pose proof (hinge_nonneg g (snd c)) as H0.
      change (margin_of g (snd c)) with (margin_at g c) in H1.
      set (a := margin_at g c) in *. set (hl := hinge g (snd c)) in *.
      (* (1 - lambda) a >= (1 - lambda)(1 - loss) *)
      assert ((1 - sigma c) * (1 - hl) <= (1 - sigma c) * a) by (apply Rmult_le_compat_l; lra).
      assert (0 <= sigma c * hl) by (apply Rmult_le_pos; lra).
      assert (R2 * ((1 - sigma c) * (1 - hl)) <= R2 * ((1 - sigma c) * a)) by (apply Rmult_le_compat_l; lra).
      assert (0 <= R2 * (sigma c * hl)) by (apply Rmult_le_pos; lra).
      lra.
    - cbn [stored count]. rewrite Co. change (length (c :: rest)) with (S (length rest)). rewrite S_INR. ring.
    - cbn [stored]. simpl sum in Lo. lra.
    - cbn [stored]. intros d Hd. apply Ok. simpl. auto.
  Qed.

  Lemma run_invariant : forall rounds s gone lost all, (forall r, In r rounds -> square r <= R2) ->
    invariant s gone lost all ->
    exists gone' lost', invariant (final s rounds) gone' lost' (all + sum (hinge g) rounds).
  Proof.
    induction rounds as [|r rounds IH]; intros s gone lost all Sq Inv; simpl.
    - exists gone, lost. rewrite Rplus_0_r. assumption.
    - assert (square r <= R2) as Sr by (apply Sq; simpl; auto).
      assert (forall q, In q rounds -> square q <= R2) as Sq' by (intros; apply Sq; simpl; auto).
      rewrite <- Rplus_assoc. unfold step. destruct (bool_dec (predict (f (stored s)) (fst r)) (snd r)) as [|N].
      + apply IH with gone lost; [assumption|]. destruct Inv as [I1 [I2 [I3 I4]]].
        pose proof (hinge_nonneg g r). repeat split; try assumption; try lra; apply I4; assumption.
      + pose proof (grow_invariant s gone lost all r Inv Sr N) as G.
        destruct (trim_invariant _ _ _ _ G) as [gone' [lost' T]]. apply IH with gone' lost'; assumption.
  Qed.

  Theorem forgetron_pathwise : forall rounds, (forall r, In r rounds -> square r <= R2) ->
    let s := final empty rounds in
    INR (count s)
      <= R2 * dot g g + 2 * sum (hinge g) rounds + 2 * norm g * S1 s + (P s + 2 * R2 * Lam s - S2 s) / R2.
  Proof.
    intros rounds Sq s.
    assert (invariant empty 0 0 0) as Start.
    { split; [|split; [|split]]; unfold slack, distance; simpl; try (intros; contradiction); try lra.
      rewrite !dot_zero. lra. }
    destruct (run_invariant rounds empty 0 0 0 Sq Start) as [gone [lost [Sl [Co [Lo Ok]]]]]. fold s in Sl, Co, Lo, Ok.
    (* ||f - R^2 g||^2 >= 0 *)
    assert (- (R2 * R2 * dot g g) <= distance (stored s)) as Dist.
    { unfold distance. pose proof (dot_pos _ (plus (f (stored s)) (scale (- R2) g))) as Q. rewrite dot_step in Q. lra. }
    (* a stored example counts R^2 (1 - 2 loss) *)
    assert (R2 * INR (length (stored s)) - 2 * R2 * sum (fun c => hinge g (snd c)) (stored s)
            <= sum (fun c => 2 * R2 * margin_at g c - square (snd c)) (stored s)) as Kept.
    { rewrite <- sum_const, <- sum_scale, <- sum_minus. apply sum_le. intros c Hc. destruct (Ok c Hc) as [_ Sc].
      pose proof (hinge_above g (snd c)) as H. change (margin_of g (snd c)) with (margin_at g c) in H.
      assert (R2 * (1 - margin_at g c) <= R2 * hinge g (snd c)) by (apply Rmult_le_compat_l; lra). lra. }
    assert (R2 * (lost + sum (fun c => hinge g (snd c)) (stored s)) <= R2 * (0 + sum (hinge g) rounds))
      by (apply Rmult_le_compat_l; lra).
    assert (R2 * INR (count s) = R2 * INR (length (stored s)) + R2 * gone) as Cs by (rewrite Co; ring).
    unfold slack in Sl.
    apply Rmult_le_reg_l with R2; [assumption|].
    replace (R2 * (R2 * dot g g + 2 * sum (hinge g) rounds + 2 * norm g * S1 s + (P s + 2 * R2 * Lam s - S2 s) / R2))
      with (R2 * R2 * dot g g + 2 * R2 * sum (hinge g) rounds + 2 * R2 * norm g * S1 s + (P s + 2 * R2 * Lam s - S2 s))
      by (field; lra).
    lra.
  Qed.
End Forgetron.
