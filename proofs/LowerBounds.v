(** Mistakes that can be forced on every deterministic learner.

    - bisection_forced (src/novikoff/adversaries/theorems/bisection_forced.py): against thresholds over
      the reals a mistake in every round, M = T, though one threshold fits every label.
    - grid_bisection_forced (grid_bisection_forced.py): on the grid 0 .. n, M >= min(T, floor(log2(n+2))).
    - plane_bisection_forced (plane_bisection_forced.py): the same for halfplanes through the origin.
    - contrarian_regret (contrarian_regret.py): M = T, while the better of the two constants errs in at
      most T/2 rounds.
    - majority_flip_forced (majority_flip_forced.py): on k points with any labels, k mistakes.

    "Forced" means: for every learner, a function of the past and of x, there is a stream on which it
    errs so often, and a hypothesis of the class that fits the whole stream. The adversaries of the
    software play the streams built in these proofs. *)

Require Import Reals Arith Bool List Lra Lia.
From Novikoff Require Import Games.
Import ListNotations.
Open Scope R_scope.

Local Notation errs := (mistakes bool_dec).

(** A round whose label is the opposite of the prediction is a mistake. *)
Lemma opposite_errs {X : Type} (L : learner X bool) past x s :
  errs L past ((x, negb (L past x)) :: s) = S (errs L ((x, negb (L past x)) :: past) s).
Proof.
  simpl. destruct (bool_dec (L past x) (negb (L past x))) as [E|]; [|reflexivity].
  destruct (L past x); discriminate.
Qed.

(** ** Thresholds over the reals *)

(** [h_theta(x) = +1] (true) if [x >= theta]. *)
Definition threshold (theta x : R) : bool := if Rle_dec theta x then true else false.

(** All thresholds strictly between a and b fit the labels so far; x is the middle. *)
Lemma bisection_between (L : learner R bool) : forall T past a b, a < b ->
  exists s theta, length s = T /\ a < theta < b /\ fits (threshold theta) s /\
    (forall x y, In (x, y) s -> a < x < b /\ x <> theta) /\ errs L past s = T.
Proof.
  induction T as [|T IH]; intros past a b Hab.
  - exists [], ((a + b) / 2). repeat split; simpl; try lra; unfold fits; simpl; contradiction.
  - set (x := (a + b) / 2). assert (a < x < b) as Hx by (unfold x; lra).
    set (y := negb (L past x)).
    assert (exists a' b', a <= a' /\ a' < b' /\ b' <= b /\
              forall theta, a' < theta < b' -> threshold theta x = y /\ x <> theta) as [a' [b' [H1 [H2 [H3 Agree]]]]].
    { unfold threshold. destruct y.
      - exists a, x. repeat split; try lra. destruct (Rle_dec theta x); [reflexivity|lra].
      - exists x, b. repeat split; try lra. destruct (Rle_dec theta x); [lra|reflexivity]. }
    destruct (IH ((x, y) :: past) a' b' H2) as [s [theta [Len [Ht [Fit [Inside M]]]]]].
    destruct (Agree theta Ht) as [Fx Nx].
    exists ((x, y) :: s), theta. split; [simpl; congruence|]. split; [lra|]. split.
    { apply fits_cons. split; assumption. }
    split.
    { intros x' y' [E|I]; [injection E; intros; subst x' y'; split; assumption|].
      specialize (Inside x' y' I). split; [lra|apply Inside]. }
    unfold y. rewrite opposite_errs. fold y. rewrite M. reflexivity.
Qed.

(** bisection_forced: T mistakes in T rounds, points and threshold in (0, 1). *)
Theorem bisection_forced : forall (L : learner R bool) (T : nat),
  exists s theta, length s = T /\ 0 < theta < 1 /\ (forall x y, In (x, y) s -> 0 < x < 1) /\
    fits (threshold theta) s /\ errs L [] s = T.
Proof.
  intros L T. destruct (bisection_between L T [] 0 1 ltac:(lra)) as [s [theta [H1 [H2 [H3 [H4 H5]]]]]].
  exists s, theta. split; [assumption|]. split; [assumption|]. split; [|split; assumption].
  intros x y I. destruct (H4 x y I). assumption.
Qed.

(** Boxes in two dimensions (more add nothing): the points (x, 0), and the box [theta, 2] x [-1, 1]. *)
Definition box (theta : R) (p : R * R) : bool :=
  if Rle_dec theta (fst p) then if Rle_dec (fst p) 2 then
    if Rle_dec (-1) (snd p) then if Rle_dec (snd p) 1 then true else false else false else false else false.

Theorem box_bisection_forced : forall (L : learner (R * R) bool) (T : nat),
  exists s theta, length s = T /\ fits (box theta) s /\ errs L [] s = T.
Proof.
  intros L T.
  set (lift := map (fun r : R * bool => ((fst r, 0), snd r))).
  (* the learner of thresholds that asks L about (x, 0) *)
  destruct (bisection_forced (fun past x => L (lift past) (x, 0)) T) as [s [theta [Len [Ht [In01 [Fit M]]]]]].
  exists (lift s), theta. split; [unfold lift; rewrite map_length; assumption|]. split.
  - intros p y I. unfold lift in I. apply in_map_iff in I. destruct I as [[x y'] [E I]].
    injection E; intros; subst p y'. rewrite <- (Fit x y I). specialize (In01 x y I).
    unfold box, threshold. simpl. destruct (Rle_dec theta x), (Rle_dec x 2); try reflexivity; try lra.
    destruct (Rle_dec (-1) 0), (Rle_dec 0 1); try reflexivity; lra.
  - rewrite <- M. clear - s.
    assert (forall past, errs L (lift past) (lift s) = errs (fun past x => L (lift past) (x, 0)) past s) as K.
    { induction s as [|[x y] s IH]; intros past; simpl; [reflexivity|].
      rewrite <- (IH ((x, y) :: past)). reflexivity. }
    apply (K []).
Qed.

(** Halfplanes through the origin: u(t) = (1 - t^2, 2t) labels (-2m, 1 - m^2) with the sign of t - m. *)
Definition dot2 (u x : R * R) : R := fst u * fst x + snd u * snd x.
Definition direction (t : R) : R * R := (1 - t * t, 2 * t).
Definition point (m : R) : R * R := (- 2 * m, 1 - m * m).

Lemma plane_identity t m : dot2 (direction t) (point m) = 2 * (t - m) * (1 + t * m).
Proof. unfold dot2, direction, point. simpl. ring. Qed.

(** plane_bisection_forced: T mistakes in T rounds, while some direction separates all points strictly. *)
Theorem plane_bisection_forced : forall (L : learner (R * R) bool) (T : nat),
  exists s u, length s = T /\
    (forall x (y : bool), In (x, y) s -> if y then 0 < dot2 u x else dot2 u x < 0) /\ errs L [] s = T.
Proof.
  intros L T.
  set (lift := map (fun r : R * bool => (point (fst r), negb (snd r)))).
  (* a label +1 of the plane is t > m: the opposite of a threshold at t *)
  set (L' := fun (past : list (R * bool)) (m : R) => negb (L (lift past) (point m))).
  destruct (bisection_between L' T [] 0 1 ltac:(lra)) as [s [t [Len [Ht [Fit [Inside M]]]]]].
  exists (lift s), (direction t). split; [unfold lift; rewrite map_length; assumption|]. split.
  - intros p y I. unfold lift in I. apply in_map_iff in I. destruct I as [[m y'] [E I]].
    injection E; intros; subst p y. destruct (Inside m y' I) as [In01 Ne].
    pose proof (Fit m y' I) as F. unfold threshold in F. rewrite plane_identity. cbn [fst snd].
    assert (0 < 1 + t * m) by nra.
    destruct (Rle_dec t m); subst y'; simpl; nra.
  - rewrite <- M. clear - s.
    assert (forall past, errs L (lift past) (lift s) = errs L' past s) as K.
    { induction s as [|[m y] s IH]; intros past; simpl; [reflexivity|].
      rewrite <- (IH ((m, y) :: past)). unfold L'. f_equal.
      destruct (L (lift past) (point m)), y; reflexivity. }
    apply (K []).
Qed.

(** ** Thresholds on a grid *)

Definition grid_threshold (k i : nat) : bool := Nat.leb k i.

(** The thresholds lo .. hi fit the labels so far; the middle point splits them into halves. *)
Lemma grid_between (L : learner nat bool) : forall T past lo hi, (lo <= hi)%nat -> (2 ^ T <= hi - lo + 1)%nat ->
  exists s k, length s = T /\ (lo <= k <= hi)%nat /\ fits (grid_threshold k) s /\
    (forall i y, In (i, y) s -> (lo <= i < hi)%nat) /\ errs L past s = T.
Proof.
  induction T as [|T IH]; intros past lo hi Hle Hpow.
  - exists [], lo. repeat split; simpl; try lia; unfold fits; simpl; contradiction.
  - simpl in Hpow. assert (1 <= 2 ^ T)%nat by (clear; induction T; simpl; lia).
    set (i := ((lo + hi - 1) / 2)%nat).
    assert (2 * i <= lo + hi - 1 < 2 * i + 2)%nat as Hi.
    { unfold i. pose proof (Nat.div_mod (lo + hi - 1) 2 ltac:(lia)).
      pose proof (Nat.mod_upper_bound (lo + hi - 1) 2 ltac:(lia)). lia. }
    set (y := negb (L past i)).
    assert (exists lo' hi', (lo <= lo' /\ lo' <= hi' /\ hi' <= hi /\ 2 ^ T <= hi' - lo' + 1)%nat /\
              forall k, (lo' <= k <= hi')%nat -> grid_threshold k i = y) as [lo' [hi' [[H1 [H2 [H3 H4]]] Agree]]].
    { unfold grid_threshold. destruct y.
      - exists lo, i. split; [lia|]. intros k Hk. apply Nat.leb_le. lia.
      - exists (i + 1)%nat, hi. split; [lia|]. intros k Hk. apply Nat.leb_gt. lia. }
    destruct (IH ((i, y) :: past) lo' hi' H2 H4) as [s [k [Len [Hk [Fit [Inside M]]]]]].
    exists ((i, y) :: s), k. split; [simpl; congruence|]. split; [lia|]. split.
    { apply fits_cons. split; [apply Agree, Hk|assumption]. }
    split.
    { intros i' y' [E|I]; [injection E; intros; subst i' y'; lia|]. specialize (Inside i' y' I). lia. }
    unfold y. rewrite opposite_errs. fold y. rewrite M. reflexivity.
Qed.

Lemma mistakes_app {X Y : Type} (same : forall a b : Y, {a = b} + {a <> b}) (L : learner X Y) s' : forall s past,
  (mistakes same L past s <= mistakes same L past (s ++ s'))%nat.
Proof.
  induction s as [|[x y] s IH]; simpl; intros past; [lia|]. specialize (IH ((x, y) :: past)). lia.
Qed.

(** grid_bisection_forced: points 0 .. n, thresholds 0 .. n+1, any number T of rounds. After the last
    forced mistake the rounds may repeat any point with its label. *)
Theorem grid_bisection_forced : forall (L : learner nat bool) (n T : nat),
  exists s k, length s = T /\ (k <= n + 1)%nat /\ fits (grid_threshold k) s /\
    (forall i y, In (i, y) s -> (i <= n)%nat) /\ (Nat.min T (Nat.log2 (n + 2)) <= errs L [] s)%nat.
Proof.
  intros L n T. set (F := Nat.min T (Nat.log2 (n + 2))).
  assert (2 ^ F <= n + 2)%nat as Pow.
  { apply Nat.le_trans with (2 ^ Nat.log2 (n + 2))%nat; [apply Nat.pow_le_mono_r; lia|].
    apply Nat.log2_spec. lia. }
  destruct (grid_between L F [] 0 (n + 1) ltac:(lia) ltac:(lia)) as [s [k [Len [Hk [Fit [Inside M]]]]]].
  set (more := repeat (0%nat, grid_threshold k 0) (T - F)).
  exists (s ++ more), k. split.
  { unfold more. rewrite app_length, repeat_length, Len. lia. }
  split; [lia|]. split.
  { intros i y I. apply in_app_or in I. destruct I as [I|I]; [apply Fit, I|].
    apply repeat_spec in I. injection I; intros; subst. reflexivity. }
  split.
  { intros i y I. apply in_app_or in I. destruct I as [I|I]; [specialize (Inside i y I); lia|].
    apply repeat_spec in I. injection I; intros; subst. lia. }
  rewrite <- M at 1. apply mistakes_app.
Qed.

(** ** Two constants *)

Lemma contradicted {X : Type} (L : learner X bool) (x : X) : forall T past,
  exists s, length s = T /\ errs L past s = T.
Proof.
  induction T as [|T IH]; intros past; [exists []; split; reflexivity|].
  destruct (IH ((x, negb (L past x)) :: past)) as [s [Len M]].
  exists ((x, negb (L past x)) :: s). split; [simpl; congruence|]. rewrite opposite_errs, M. reflexivity.
Qed.

Lemma constants_share {X : Type} (s : list (X * bool)) :
  (errors bool_dec (fun _ => true) s + errors bool_dec (fun _ => false) s = length s)%nat.
Proof.
  induction s as [|[x y] s IH]; simpl; [reflexivity|].
  destruct y; simpl; lia.
Qed.

(** contrarian_regret: M = T, some constant c errs m <= T/2 times, so M - m >= T/2. *)
Theorem contrarian_regret : forall (X : Type) (x : X) (L : learner X bool) (T : nat),
  exists s c, length s = T /\ errs L [] s = T /\ (2 * errors bool_dec (fun _ => c) s <= T)%nat /\
    (T <= 2 * (errs L [] s - errors bool_dec (fun _ => c) s))%nat.
Proof.
  intros X x L T. destruct (contradicted L x T []) as [s [Len M]].
  pose proof (constants_share s) as C.
  destruct (le_lt_dec (errors bool_dec (fun _ => true) s) (errors bool_dec (fun _ => false) s)).
  - exists s, true. repeat split; lia.
  - exists s, false. repeat split; lia.
Qed.

(** ** Any function on k points *)

Lemma flip {X : Type} (L : learner X bool) (eq : forall a b : X, {a = b} + {a <> b}) : forall xs past,
  NoDup xs -> exists f : X -> bool, errs L past (map (fun x => (x, f x)) xs) = length xs.
Proof.
  induction xs as [|x xs IH]; intros past N; [exists (fun _ => true); reflexivity|].
  inversion N as [|? ? Out N']; subst.
  destruct (IH ((x, negb (L past x)) :: past) N') as [f M].
  set (g := fun z => if eq z x then negb (L past x) else f z).
  exists g. cbn [map length].
  assert (g x = negb (L past x)) as Gx by (unfold g; destruct (eq x x); congruence).
  rewrite Gx, opposite_errs. f_equal.
  rewrite <- M. f_equal. apply map_ext_in. intros z Iz. f_equal. unfold g.
  destruct (eq z x); [subst; contradiction|reflexivity].
Qed.

(** majority_flip_forced: whatever the learner, some labelling of k different points makes it err on all. *)
Theorem majority_flip_forced : forall (X : Type) (eq : forall a b : X, {a = b} + {a <> b}) (L : learner X bool) xs,
  NoDup xs -> exists f : X -> bool,
    let s := map (fun x => (x, f x)) xs in fits f s /\ errs L [] s = length xs.
Proof.
  intros X eq L xs N. destruct (flip L eq xs [] N) as [f M]. exists f. split; [|assumption].
  intros x y I. apply in_map_iff in I. destruct I as [z [E _]]. injection E; intros; subst; reflexivity.
Qed.
