import { type Client, isZkError, type NodeData, type Payload, type Stat, startTimer } from "@zooid/client";
import {
  ArgumentError,
  checkArgument,
  formatSessionId,
  type Rule,
  rules,
  type SessionId,
  type Shape,
  shape,
  wordRule,
  type Zxid,
} from "@zooid/model";
import { BehaviorSubject, distinctUntilChanged, filter, map, type Observable } from "rxjs";
import { checkArguments, signalOf } from "../arguments.ts";
import { failStream } from "../failure-reports.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import { RetryPace } from "../leases/retry-pace.ts";
import { firstOf, keepOn, LossAlarm, unlessAborted } from "../leases/waiting.ts";
import { makeNamed, namesBelow } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { watchedNode } from "../nodes/refusals.ts";
import { RecipeError } from "../recipe-error.ts";
import { warn } from "../warn.ts";
import { type Claimant, NameClaims } from "./name-claims.ts";

/**
 * The act where the node is another's: that of another live session, of another maintainer of this
 * client, or, for an ephemeral one, a node without a session, which another program has made:
 *
 * - `wait`: until it is gone, and create it then. A node without a session stays until a program
 *   deletes it, so one warning names it
 * - `fail`: end with NAME_TAKEN
 * - `takeOver`: replace it, once, or end with NAME_TAKEN where the mode is ephemeral and the node
 *   has children. The newest owner wins: a node that another session replaces later is maintained
 *   no more
 *
 * A node of an earlier session of this maintainer is replaced at once. In the persistent modes a
 * node without a session is this maintainer's, since one of an earlier process cannot be told from
 * another program's.
 */
export type WhenTaken = "wait" | "fail" | "takeOver";

/**
 * - `making`: the node is not as wanted, or not known to be so
 * - `waiting`: another live session has the name, or another maintainer of this client, or a node
 *   without a session
 * - `there`: the node is as wanted
 * - `replaced`: another session or maintainer has taken the name over; the node is maintained no
 *   more
 * - `closed`: by {@link PersistentNode.close}, or with the client
 */
export type PersistentNodeState = "making" | "waiting" | "there" | "replaced" | "closed";

export interface PersistentNodeOptions {
  readonly path: string;
  readonly data: Payload;
  /**
   * Default `ephemeral`. A sequential node gets its number once and keeps it: its path is then
   * `_c_<uuid>-` before the name and the number behind.
   */
  readonly mode?: "persistent" | "ephemeral" | "persistent-sequential" | "ephemeral-sequential";
  /** Default `wait`. */
  readonly whenTaken?: WhenTaken;
}

/** The acts in which recipes that are built on a persistent node differ. */
export interface Keeping {
  /** Creates the node, which did not exist a moment ago, and leaves it when this is closed. */
  readonly make?: (data: Buffer, signal: AbortSignal) => Promise<unknown>;
  /** Called with each state. A subscriber to the states would count as one that sees its end. */
  readonly entered?: (state: PersistentNodeState) => void;
  /** Called when it is maintained no more: when it has closed, or failed. */
  readonly ended?: () => void;
}

/** One generation of the wanted data: equal bytes of a later call are another one. */
interface Wanted {
  readonly data: Buffer;
}

/** A write whose answer may be lost, by what the node shows where it was made. */
interface Attempt {
  /** Undefined for a create. */
  readonly czxid: Zxid | undefined;
  readonly version: number;
  readonly data: Buffer;
}

export const whenTakenRule: Rule = wordRule("wait", "fail", "takeOver");

const SHAPE: Shape<PersistentNodeOptions> = shape<PersistentNodeOptions>({
  path: rules.text,
  data: rules.payload,
  mode: wordRule("persistent", "ephemeral", "persistent-sequential", "ephemeral-sequential"),
  whenTaken: whenTakenRule,
});

/**
 * How long a deleted node is left to a successor that deletes it and creates its own in two
 * requests, as Curator's service discovery does: with the name taken in between it would give up,
 * without an error.
 */
const SUCCESSOR_MS = 500;

/**
 * Earlier sessions of a maintainer that are kept in mind: their nodes end within a session timeout.
 */
const SESSIONS_KEPT = 8;

/** The pause before the fourth repair within a minute or so, at which there is a warning. */
const CONTESTED_MS = 400;

/** Children that an error names. */
const NAMED_MAX = 3;

/** Writes without an answer that are kept in mind: each needs a lost connection. */
const ATTEMPTS_KEPT = 8;

/**
 * Maintains a node: creates it again when it is deleted or its session ends, and writes it again
 * when its data are changed, at once the first time and then with growing pauses of 10 s at most.
 * Curator's PersistentNode. Another's node is neither changed nor deleted, unless `whenTaken` is
 * `takeOver`.
 */
export class PersistentNode implements AsyncDisposable {
  readonly #zk: Client;
  readonly #mode: "persistent" | "ephemeral";
  readonly #whenTaken: WhenTaken;
  readonly #keeping: Keeping;
  readonly #closing = new AbortController();
  readonly #claims: NameClaims;
  readonly #claimant: Claimant = { replaced: () => this.#replaced() };
  readonly #state$ = new BehaviorSubject<PersistentNodeState>("making");
  readonly #pace = new RetryPace();
  /** Sessions in which the node was this maintainer's. */
  readonly #sessions = new Set<bigint>();
  readonly #ended: Promise<void>;
  #path: string;
  #isNumbered: boolean;
  #wanted: Wanted;
  /** The newest wanted data that the node has had. */
  #written: Wanted | undefined;
  /** The node's last change that this maintainer made, or found to be as wanted. */
  #mzxid: Zxid | undefined;
  /** Writes since then. */
  #attempts: readonly Attempt[] = [];
  #state: PersistentNodeState = "making";
  /** The permanent error that ended it. */
  #failure: { readonly error: unknown } | undefined;
  #changed = Promise.withResolvers<void>();
  /** A persistent node may be this maintainer's, whatever its requests' outcomes. */
  #mayHaveMade = false;
  /** There was a warning since the node was last this maintainer's. */
  #hasWarned = false;
  /** There was a warning since the first of the repairs that follow each other. */
  #isContested = false;

  constructor(zk: Client, options: PersistentNodeOptions);
  /** @internal */
  constructor(zk: Client, options: PersistentNodeOptions, keeping: Keeping);
  constructor(zk: Client, options: PersistentNodeOptions, keeping: Keeping = {}) {
    // The name before the number may be empty.
    const isNumbered = options?.mode?.endsWith?.("sequential") === true;
    checkArguments("PersistentNode", zk, isNumbered ? `${options.path}0` : options?.path, options, SHAPE, ["data"]);
    const { path, data, mode = "ephemeral", whenTaken = "wait" } = options;
    if (path === "/" && !isNumbered)
      throw new ArgumentError("PersistentNode", [
        'the path is one of a node that can be created and deleted, found "/"',
      ]);
    this.#zk = zk;
    this.#claims = new NameClaims(zk);
    this.#keeping = keeping;
    this.#path = path;
    this.#isNumbered = mode === "persistent" || mode === "ephemeral";
    this.#mode = mode === "persistent" || mode === "persistent-sequential" ? "persistent" : "ephemeral";
    this.#whenTaken = whenTaken;
    this.#wanted = { data: payloadBytes(data) };
    this.#ended = this.#run();
  }

  /** With its number, as soon as it has one. */
  get path(): string {
    return this.#path;
  }

  /** Whether the node is known to exist as wanted. Fails as {@link state$}. */
  get isThere$(): Observable<boolean> {
    return this.state$.pipe(
      map((state) => state === "there"),
      distinctUntilChanged(),
    );
  }

  /**
   * Starts with the current state; completes after `closed`. Fails with permanent errors, and with
   * NAME_TAKEN.
   */
  get state$(): Observable<PersistentNodeState> {
    return this.#state$.pipe(distinctUntilChanged());
  }

  /**
   * Waits until the node exists as wanted.
   *
   * @throws the signal's reason, NAME_TAKEN, RECIPE_CLOSED, or a permanent error
   */
  async ready(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signal = signalOf("PersistentNode.ready", options);
    const isEnd = (state: PersistentNodeState): boolean => state === "there" || state === "replaced";
    const end = await firstOf(this.#state$.pipe(filter(isEnd)), signal);
    if (end === "replaced") throw this.#taken();
    if (end === undefined) throw this.#ending();
  }

  /**
   * Changes the wanted data; written now or as soon as there is a connection.
   *
   * @throws NAME_TAKEN once it is replaced, RECIPE_CLOSED once it is closed, the error with which
   *   it ended
   */
  setData(data: Payload): void {
    checkArgument("setData", "data", data, rules.payload);
    this.#assertMaintained();
    this.#wanted = { data: payloadBytes(data) };
    if (this.#state === "there") this.#enter("making");
    this.#changed.resolve();
  }

  /**
   * Stops maintaining the node, and deletes its own. In the persistent modes that is one whose last
   * change is this maintainer's, or that was as wanted; one with children stays. May be repeated.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort(this.#ending());
    await within(this.#ended, options, `close ${this.path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #assertMaintained(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isReplaced) throw this.#taken();
    if (this.#closing.signal.aborted || this.#state === "closed") throw this.#ending();
  }

  #taken(): RecipeError {
    return new RecipeError("NAME_TAKEN", `another owner has taken ${this.path} over`);
  }

  #ending(): RecipeError {
    return new RecipeError("RECIPE_CLOSED", `the node ${this.path} is kept no more`);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    try {
      await keepOn(this.#zk, signal, () => this.#keep(signal));
    } catch (error) {
      if (!signal.aborted && !isZkError(error, "CLIENT_CLOSED")) {
        this.#failure = { error };
        failStream(this.#zk, this.#state$, `the node ${this.path} is kept no more`, error);
      }
    } finally {
      if (!this.#isReplaced) {
        using loss = new LossAlarm(this.#zk);
        await Promise.race([this.#delete().catch(() => {}), loss.rung]);
      }
      this.#claims.release(this.path, this.#claimant);
      this.#enter("closed");
      this.#state$.complete();
      this.#keeping.ended?.();
    }
  }

  /** One check of the node: repairs it, or waits for a change. */
  async #keep(signal: AbortSignal): Promise<void> {
    if (this.#isReplaced) return await this.#yield(signal);
    using loss = new LossAlarm(this.#zk);
    const changed = Promise.withResolvers<void>();
    this.#changed = changed;
    if (!this.#isNumbered) await this.#number(signal);
    const claimed = this.#claim();
    if (claimed !== undefined) {
      this.#enter("waiting");
      await unlessAborted(claimed, signal);
      this.#enter("making");
      return;
    }
    const found = await watchedNode(this.#zk, this.path, signal);
    if (found === null) return await this.#make(signal);
    using watch = found.watch;
    const next = this.#nextStep(found);
    if (next === "replace") return await this.#replace(found.stat, signal);
    if (next === "write") return await this.#write(found.stat, signal);
    if (next === "yield") return await this.#yield(signal);
    if (next === "stay") this.#note(this.#wanted, found.stat);
    this.#enter(next === "stay" ? "there" : "waiting");
    await unlessAborted(Promise.race([watch.fired, loss.rung, changed.promise]), signal);
    this.#enter("making");
  }

  /**
   * @returns a promise of the end of another maintainer's claim, if it has the name. @throws
   *   NAME_TAKEN
   */
  #claim(): Promise<void> | undefined {
    const claimed = this.#claims.take(this.path, this.#claimant);
    if (claimed === undefined) return undefined;
    if (this.#whenTaken === "fail") {
      throw new RecipeError("NAME_TAKEN", `${this.path} is maintained by this client already`);
    }
    if (this.#whenTaken === "wait") return claimed;
    this.#claims.takeOver(this.path, this.#claimant);
    return undefined;
  }

  /** Another maintainer of this client has the name. */
  #replaced(): void {
    this.#enter("replaced");
    this.#changed.resolve();
  }

  /** @throws NAME_TAKEN */
  #nextStep(found: NodeData): "stay" | "write" | "replace" | "yield" | "wait" {
    const owner = found.stat.ephemeralOwner;
    const takesOver = this.#whenTaken === "takeOver";
    if (this.#isOurs(owner)) {
      if (this.#wanted.data.equals(payloadBytes(found.data))) return "stay";
      return takesOver && this.#isTakenOver(found) ? "yield" : "write";
    }
    // It would be removed with its session.
    if (this.#sessions.has(owner)) return "replace";
    if (takesOver) return this.#hasStood ? "yield" : "replace";
    if (this.#whenTaken === "fail") throw new RecipeError("NAME_TAKEN", `${this.path} ${ownedBy(owner)}`);
    if (owner === 0n) this.#warnOfWait();
    return "wait";
  }

  /**
   * Whether a node without a session has another owner, which shows by the last change: it is none
   * of this maintainer's. With `takeOver`, new data of an older owner do not take the name back.
   */
  #isTakenOver({ stat, data }: NodeData): boolean {
    if (!this.#isForeign(stat)) return false;
    return !this.#attempts.some(
      ({ czxid = stat.czxid, version, data: sent }) =>
        czxid === stat.czxid && version === stat.version && sent.equals(payloadBytes(data)),
    );
  }

  /** Whether another owner may have made the last change to a node without a session. */
  #isForeign({ mzxid }: Stat): boolean {
    return this.#mode === "persistent" && this.#hasStood && mzxid !== this.#mzxid;
  }

  /** Such a node stays until a program deletes it. */
  #warnOfWait(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const message = `${this.path} ${ownedBy(0n)}, and is waited for: delete it, or choose whenTaken: "takeOver"`;
    warn(this.#zk, "ZOOID_NAME_TAKEN", message, { path: this.path });
  }

  async #number(signal: AbortSignal): Promise<void> {
    const mode = `${this.#mode}-sequential` as const;
    const wanted = this.#wanted;
    const made = await this.#zk.create(this.path, wanted.data, { mode, protect: true, parents: "container", signal });
    this.#path = made.path;
    this.#isNumbered = true;
    this.#note(wanted, made.stat);
  }

  async #make(signal: AbortSignal): Promise<void> {
    // In a new session it is made for the first time: no other program has deleted it.
    if (this.#sessions.has(this.#zk.sessionId)) {
      if (this.#whenTaken === "takeOver" && (await this.#hasSuccessor(signal))) return;
      await this.#pauseBeforeRepair(signal);
    }
    if (this.#isReplaced) return;
    const wanted = this.#wanted;
    const { data } = wanted;
    if (this.#keeping.make !== undefined) return void (await this.#keeping.make(data, signal));
    this.#mayHaveMade = true;
    this.#attempt({ czxid: undefined, version: 0, data });
    const made = await makeNamed(this.#zk, { path: this.path, data, mode: this.#mode, signal });
    if (made !== null) this.#note(wanted, made.stat);
    else this.#mayHaveMade = this.#hasStood;
  }

  /** Waits for a node of the newest owner. @returns false if none comes */
  async #hasSuccessor(signal: AbortSignal): Promise<boolean> {
    const { stat, watch } = await this.#zk.exists(this.path, { watch: true, signal });
    using _ = watch;
    if (stat !== null) return true;
    using loss = new LossAlarm(this.#zk);
    const over = Promise.withResolvers<boolean>();
    using _timer = startTimer(SUCCESSOR_MS, () => over.resolve(false));
    const isMade = Promise.race([watch.fired, loss.rung]).then(() => true);
    return await unlessAborted(Promise.race([isMade, over.promise]), signal);
  }

  /** Only repairs are paced: data that were not written yet neither wait nor make others wait. */
  async #pauseBeforeRepair(signal: AbortSignal): Promise<void> {
    if (this.#isDataNew) return;
    const pauseMs = this.#pace.pauseMs(performance.now());
    if (pauseMs >= CONTESTED_MS) this.#warnOfContest();
    if (pauseMs > 0) return await this.#pause(pauseMs, signal);
    this.#isContested = false;
  }

  async #pause(pauseMs: number, signal: AbortSignal): Promise<void> {
    const over = Promise.withResolvers<void>();
    using _timer = startTimer(pauseMs, () => over.resolve());
    using loss = new LossAlarm(this.#zk);
    await unlessAborted(Promise.race([over.promise, this.#changed.promise, loss.rung]), signal);
  }

  #warnOfContest(): void {
    if (this.#isContested) return;
    this.#isContested = true;
    const message = `${this.path} is changed or deleted by another program repeatedly, and restored here after pauses`;
    warn(this.#zk, "ZOOID_CONTESTED", message, { path: this.path });
  }

  async #write({ czxid, version }: Stat, signal: AbortSignal): Promise<void> {
    await this.#pauseBeforeRepair(signal);
    if (this.#isReplaced) return;
    const wanted = this.#wanted;
    const { data } = wanted;
    this.#attempt({ czxid, version: version + 1, data });
    try {
      this.#note(wanted, await this.#zk.set(this.path, data, { version, signal }));
    } catch (error) {
      ifChanged(error);
    }
  }

  /** In one transaction: there is no moment at which a third client finds the name free. */
  async #replace({ version }: Stat, signal: AbortSignal): Promise<void> {
    this.#mayHaveMade = true;
    const wanted = this.#wanted;
    const { data } = wanted;
    const deletion = this.#zk.transaction().delete(this.path, { version });
    try {
      if (this.#keeping.make !== undefined) return void (await deletion.commit({ signal }));
      this.#attempt({ czxid: undefined, version: 0, data });
      const [, made] = await deletion.create(this.path, data, { mode: this.#mode }).commit({ signal });
      this.#note(wanted, made.stat);
    } catch (error) {
      if (isZkError(error, "NOT_EMPTY")) throw await this.#blocked(error, signal);
      ifChanged(error);
      this.#mayHaveMade = this.#hasStood;
    }
  }

  /** Only a node without a session has children, and this maintainer's is ephemeral. */
  async #blocked(cause: unknown, signal: AbortSignal): Promise<RecipeError> {
    const names = await namesBelow(this.#zk, this.path, signal);
    const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
    const children = `${names.slice(0, NAMED_MAX).join(", ")}${more}`;
    const message = `${this.path} ${ownedBy(0n)}, and has children, ${children}: an ephemeral node has none, so it replaces the node once they are deleted`;
    return new RecipeError("NAME_TAKEN", message, { cause });
  }

  #attempt(attempt: Attempt): void {
    this.#attempts = [...this.#attempts, attempt].slice(-ATTEMPTS_KEPT);
  }

  /** The newest owner has it. */
  async #yield(signal: AbortSignal): Promise<void> {
    this.#enter("replaced");
    this.#claims.release(this.path, this.#claimant);
    await unlessAborted(new Promise<never>(() => {}), signal);
  }

  #isOurs(owner: bigint): boolean {
    return owner === (this.#mode === "ephemeral" ? this.#zk.sessionId : 0n);
  }

  #enter(state: PersistentNodeState): void {
    if (this.#isReplaced && state !== "closed") return;
    this.#state = state;
    this.#state$.next(state);
    this.#keeping.entered?.(state);
  }

  get #isReplaced(): boolean {
    return this.#state === "replaced";
  }

  /** The wanted data have not been in the node yet. */
  get #isDataNew(): boolean {
    return this.#written !== this.#wanted;
  }

  get #hasStood(): boolean {
    return this.#sessions.size > 0;
  }

  /** The node is this maintainer's in the current session, with these data. */
  #note(wanted: Wanted, { czxid, mzxid, version }: Stat): void {
    this.#written = wanted;
    this.#mzxid = mzxid;
    // A server that is behind may show the node before a write whose answer was lost.
    this.#attempts = this.#attempts.filter((attempt) => attempt.czxid === czxid && attempt.version > version);
    this.#hasWarned = false;
    this.#mayHaveMade = true;
    const { sessionId } = this.#zk;
    this.#sessions.delete(sessionId);
    this.#sessions.add(sessionId);
    const [oldest] = this.#sessions;
    if (this.#sessions.size > SESSIONS_KEPT && oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** Only its own: another client may have taken the name. */
  async #delete(): Promise<void> {
    if (!this.#isNumbered || this.#keeping.make !== undefined) return;
    if (this.#mode === "persistent" && !this.#mayHaveMade) return;
    // A node of this session may be another maintainer's.
    if (!this.#claims.holds(this.path, this.#claimant)) return;
    const stat = await this.#zk.exists(this.path);
    if (stat === null || !this.#isOurs(stat.ephemeralOwner)) return;
    if (this.#isForeign(stat)) {
      const found = await this.#zk.getOrNull(this.path);
      if (found === null || this.#isTakenOver(found)) return;
    }
    await this.#zk.delete(this.path, { version: stat.version, missingOk: true, guaranteed: "session" });
  }
}

/** Why a name is taken, with the path before it. */
function ownedBy(owner: bigint): string {
  if (owner === 0n) return "is a node without a session, which another program has made";
  return `belongs to another session, ${formatSessionId(owner as SessionId)}`;
}

/** Another client was faster: the next check shows the current state. */
function ifChanged(error: unknown): void {
  const isExpected = ["BAD_VERSION", "NO_NODE", "NODE_EXISTS"] as const;
  if (!isExpected.some((code) => isZkError(error, code))) throw error;
}
