import { type Client, isZkError, type Payload, pause } from "@zooid/client";
import { joinPath, parentPath, rules, type Shape, shape, wholeNumberRule } from "@zooid/model";
import type { Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { FailureReports } from "../failure-reports.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import { unlessAborted } from "../leases/waiting.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { isMade } from "../nodes/refusals.ts";
import { PersistentNode, type PersistentNodeState } from "./persistent-node.ts";

export interface PersistentTtlNodeOptions {
  readonly path: string;
  readonly data: Payload;
  /** How long it remains after its maintainer has ended, in milliseconds. */
  readonly ttlMs: number;
}

const TOUCHED = "touch";

const SHAPE: Shape<PersistentTtlNodeOptions> = shape<PersistentTtlNodeOptions>({
  path: rules.text,
  data: rules.payload,
  ttlMs: wholeNumberRule(1, Number.MAX_SAFE_INTEGER),
});

/**
 * A node that outlives its maintainer for a while: Curator's PersistentTtlNode, on the same znodes,
 * `<path>` and `<path>/touch`, both with a TTL. The second is written again after half of it.
 * Servers need `extendedTypesEnabled` for such nodes.
 */
export class PersistentTtlNode implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #ttlMs: number;
  readonly #node: PersistentNode;
  readonly #reports: FailureReports;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;

  constructor(zk: Client, options: PersistentTtlNodeOptions) {
    checkArguments("PersistentTtlNode", zk, options?.path, options, SHAPE, ["ttlMs", "data"]);
    const { path, data, ttlMs } = options;
    this.#zk = zk;
    this.path = path;
    this.#ttlMs = ttlMs;
    this.#reports = new FailureReports(zk, undefined);
    const make = (data: Buffer, signal: AbortSignal): Promise<void> => this.#make(data, signal);
    const there = Promise.withResolvers<void>();
    const entered = (state: PersistentNodeState): void => {
      if (state === "there") there.resolve();
    };
    const ended = (): void => this.#closing.abort();
    this.#node = new PersistentNode(zk, { path, data, mode: "persistent" }, { make, entered, ended });
    this.#ended = this.#touchAgain(there.promise, this.#closing.signal);
  }

  /** Whether the node is known to exist as wanted. Fails with permanent errors. */
  get isThere$(): Observable<boolean> {
    return this.#node.isThere$;
  }

  /**
   * Waits until the node exists as wanted.
   *
   * @throws UNIMPLEMENTED where the server does not support such nodes
   */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#node.ready(options);
  }

  /**
   * Changes the wanted data; written now or as soon as there is a connection. @throws as
   * {@link PersistentNode.setData}
   */
  setData(data: Payload): void {
    this.#node.setData(data);
  }

  /** Stops maintaining the node; the server removes it after its TTL. May be repeated. */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort();
    await within(Promise.all([this.#node.close(), this.#ended]), options, `close ${this.path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #touched(): string {
    return joinPath(this.path, TOUCHED);
  }

  /** Both in one transaction: a crash between the two would leave one without the other. */
  async #make(data: Buffer, signal: AbortSignal): Promise<void> {
    const lasting = { mode: "persistent-with-ttl", ttlMs: this.#ttlMs } as const;
    try {
      await this.#zk
        .transaction()
        .create(this.path, data, lasting)
        .create(this.#touched, "", lasting)
        .commit({ signal });
    } catch (error) {
      // The next check shows the current state.
      if (isZkError(error, "NODE_EXISTS")) return;
      if (!isZkError(error, "NO_NODE")) throw error;
      await makeNamed(this.#zk, { path: parentPath(this.path), data: "", mode: "container", signal });
    }
  }

  /** From the time on at which the node is there. */
  async #touchAgain(there: Promise<void>, signal: AbortSignal): Promise<void> {
    await unlessAborted(there, signal).catch(() => {});
    while (!signal.aborted) {
      await this.#touch(signal).catch((error: unknown) => {
        // Repeated in time.
        if (!signal.aborted && isZkError(error) && !error.retriable && error.code !== "CLIENT_CLOSED") {
          this.#reports.report(`${this.#touched} was not written, and ${this.path} may expire`, error);
        }
      });
      await pause(this.#ttlMs / 2, { signal }).catch(() => {});
    }
  }

  async #touch(signal: AbortSignal): Promise<void> {
    if (await isMade(this.#zk.set(this.#touched, "", { signal }), "NO_NODE")) return;
    await this.#zk.create(this.#touched, "", { mode: "persistent-with-ttl", ttlMs: this.#ttlMs, signal });
  }
}
