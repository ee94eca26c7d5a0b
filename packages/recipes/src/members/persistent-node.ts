import { type Client, isZkError, type NodeData, type Payload, type Watched } from "@zooid/client";
import { rules, type Shape, shape, wordRule } from "@zooid/model";
import { BehaviorSubject, filter, type Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { firstOf, keepOn, LossAlarm, unlessAborted } from "../leases/waiting.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { RecipeError } from "../recipe-error.ts";

export interface PersistentNodeOptions {
  readonly path: string;
  readonly data: Payload;
  /**
   * Default `ephemeral`. A sequential node gets its number once and keeps it: its path is then
   * `_c_<uuid>-` before the name and the number behind.
   */
  readonly mode?: "persistent" | "ephemeral" | "persistent-sequential" | "ephemeral-sequential";
}

/** Overrides for recipes that are built on a persistent node. */
export interface Keeping {
  /** Creates the node, which did not exist a moment ago. */
  readonly make: (data: Buffer, signal: AbortSignal) => Promise<unknown>;
  /** What to do with the node when this is closed. */
  readonly atEnd: "delete" | "leave";
}

const SHAPE: Shape<PersistentNodeOptions> = shape<PersistentNodeOptions>({
  path: rules.text,
  data: rules.payload,
  mode: wordRule("persistent", "ephemeral", "persistent-sequential", "ephemeral-sequential"),
});

/**
 * Maintains a node: creates it again when it is deleted or its session ends, and writes it again
 * when its data are changed. Curator's PersistentNode. A node of the same name of an earlier
 * session, or of another client, is taken over.
 */
export class PersistentNode implements AsyncDisposable {
  readonly #zk: Client;
  readonly #mode: "persistent" | "ephemeral";
  readonly #keeping: Keeping;
  readonly #closing = new AbortController();
  readonly #isThere$ = new BehaviorSubject(false);
  readonly #ended: Promise<void>;
  #path: string;
  #isNumbered: boolean;
  #data: Buffer;
  #changed = Promise.withResolvers<void>();

  constructor(zk: Client, options: PersistentNodeOptions);
  /** @internal */
  constructor(zk: Client, options: PersistentNodeOptions, keeping: Keeping);
  constructor(zk: Client, options: PersistentNodeOptions, keeping?: Keeping) {
    // The name before the number may be empty.
    const isNumbered = options?.mode?.endsWith?.("sequential") === true;
    checkArguments("PersistentNode", zk, isNumbered ? `${options.path}0` : options?.path, options, SHAPE);
    const { path, data, mode = "ephemeral" } = options;
    this.#zk = zk;
    this.#keeping = keeping ?? {
      make: (data, signal) => makeNamed(zk, { path: this.path, data, mode: this.#mode, signal }),
      atEnd: "delete",
    };
    this.#path = path;
    this.#isNumbered = mode === "persistent" || mode === "ephemeral";
    this.#mode = mode === "persistent" || mode === "persistent-sequential" ? "persistent" : "ephemeral";
    this.#data = payloadBytes(data);
    this.#ended = this.#run();
  }

  /** With its number, as soon as it has one. */
  get path(): string {
    return this.#path;
  }

  /** Whether the node is known to exist as wanted. Fails with permanent errors. */
  get isThere$(): Observable<boolean> {
    return this.#isThere$.asObservable();
  }

  /**
   * Waits until the node exists as wanted.
   *
   * @throws the signal's reason, RECIPE_CLOSED, or a permanent error
   */
  async ready({ signal = new AbortController().signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const isThere = await firstOf(this.#isThere$.pipe(filter((isThere) => isThere)), signal);
    if (isThere === undefined) throw new RecipeError("RECIPE_CLOSED", `the node ${this.path} is kept no more`);
  }

  /** Changes the wanted data; written now or as soon as there is a connection. */
  setData(data: Payload): void {
    this.#data = payloadBytes(data);
    this.#isThere$.next(false);
    this.#changed.resolve();
  }

  /** Stops maintaining the node, and deletes its own. May be repeated. */
  async close(): Promise<void> {
    this.#closing.abort(new RecipeError("RECIPE_CLOSED", `the node ${this.path} is kept no more`));
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    try {
      await keepOn(this.#zk, signal, () => this.#keep(signal));
    } catch (error) {
      if (!signal.aborted && !isZkError(error, "CLIENT_CLOSED")) this.#isThere$.error(error);
    } finally {
      using loss = new LossAlarm(this.#zk);
      await Promise.race([this.#delete().catch(() => {}), loss.rung]);
      this.#isThere$.complete();
    }
  }

  /** One check of the node: repairs it, or waits for a change. */
  async #keep(signal: AbortSignal): Promise<void> {
    const zk = this.#zk;
    using loss = new LossAlarm(zk);
    const changed = Promise.withResolvers<void>();
    this.#changed = changed;
    const data = this.#data;
    if (!this.#isNumbered) {
      const mode = `${this.#mode}-sequential` as const;
      const made = await zk.create(this.path, data, { mode, protect: true, parents: "container", signal });
      this.#path = made.path;
      this.#isNumbered = true;
    }
    const found = await this.#read(signal);
    if (found === null) {
      await this.#keeping.make(data, signal);
      return;
    }
    using watch = found.watch;
    const { version } = found.stat;
    if (!this.#isOurs(found.stat.ephemeralOwner)) {
      // It would be removed with its session.
      await zk.delete(this.path, { version, missingOk: true, signal }).catch(ifChanged);
    } else if (!data.equals(payloadBytes(found.data))) {
      await zk.set(this.path, data, { version, signal }).catch(ifChanged);
    } else {
      this.#isThere$.next(true);
      await unlessAborted(Promise.race([watch.fired, loss.rung, changed.promise]), signal);
      this.#isThere$.next(false);
    }
  }

  async #read(signal: AbortSignal): Promise<(NodeData & Watched) | null> {
    try {
      return await this.#zk.get(this.path, { watch: true, signal });
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return null;
      throw error;
    }
  }

  #isOurs(owner: bigint): boolean {
    return owner === (this.#mode === "ephemeral" ? this.#zk.sessionId : 0n);
  }

  /** Only its own: another client may have taken the name. */
  async #delete(): Promise<void> {
    if (!this.#isNumbered || this.#keeping.atEnd === "leave") return;
    const stat = await this.#zk.exists(this.path);
    if (stat === null || !this.#isOurs(stat.ephemeralOwner)) return;
    await this.#zk.delete(this.path, { version: stat.version, missingOk: true, guaranteed: "session" });
  }
}

/** Another client was faster: the next check shows the current state. */
function ifChanged(error: unknown): void {
  if (!isZkError(error, "BAD_VERSION") && !isZkError(error, "NO_NODE")) throw error;
}
