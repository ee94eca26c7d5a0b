import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Client, WatchEvent } from "@zooid/client";
import { formatZxid } from "@zooid/client";
import { BUDGETS } from "@zooid/model";
import { EventStream } from "../http/event-stream.ts";
import { refuse } from "../http/problem.ts";

/** Time for which changes are gathered. */
const BATCH_MS = 200;
/** More changes than these in a batch are not listed, and none are watched for {@link REST_MS}. */
const BATCH_MAX = 500;
/** Each event costs the server time that its clients need, also if no page shows it. */
const REST_MS = 1_000;
const { count: STREAMS_MAX, ofAddress: STREAMS_PER_KEY_MAX } = BUDGETS.consoleStreams;

/** One change, as the stream sends it. */
export interface ChangeJson {
  readonly type: WatchEvent["type"];
  readonly path: string;
  readonly zxid: string | null;
}

/** The event streams of all browsers, and how many there may be. */
export class LiveChanges {
  readonly #byKey = new Map<string, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * Streams the changes below a path until the browser goes away, by one recursive watch that all
   * streams of a user share. The server judges each event by the user's identities.
   *
   * @param key the browser's address, of which only some streams are accepted
   */
  async stream(client: Client, { path, key, response, signal }: StreamOptions): Promise<void> {
    const ofKey = this.#byKey.get(key) ?? 0;
    if (this.#count >= STREAMS_MAX || ofKey >= STREAMS_PER_KEY_MAX) {
      throw refuse(429, "TOO_MANY_STREAMS", "Too many event streams are open", { retryAfterSeconds: 30 });
    }
    this.#count++;
    this.#byKey.set(key, ofKey + 1);
    try {
      await streamChanges(client, { path, response, signal });
    } finally {
      this.#count--;
      const rest = (this.#byKey.get(key) ?? 1) - 1;
      if (rest > 0) this.#byKey.set(key, rest);
      else this.#byKey.delete(key);
    }
  }
}

export interface StreamOptions {
  readonly path: string;
  readonly key: string;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

async function streamChanges(client: Client, { path, response, signal }: Omit<StreamOptions, "key">): Promise<void> {
  const stream = new EventStream(response);
  const end = new AbortController();
  let batch: ChangeJson[] = [];
  let droppedCount = 0;
  let needsReady = false;
  let needsResync = false;
  let error: unknown;
  const flush = (): void => {
    if (needsReady && stream.send("ready", {})) needsReady = false;
    if (needsResync && stream.send("resync", {})) needsResync = false;
    if (batch.length === 0 && droppedCount === 0) return;
    if (stream.send("changes", { changes: batch, droppedCount })) [batch, droppedCount] = [[], 0];
  };
  const timer = setInterval(flush, BATCH_MS);
  const states = client.state$.subscribe(({ kind }) => stream.send("state", { state: kind }));
  const done = AbortSignal.any([signal, end.signal]);
  let changes: { unsubscribe(): void } | undefined;
  let restTimer: NodeJS.Timeout | undefined;
  const watch = (armed: () => void): void => {
    changes = client.events$(path, { mode: "persistent-recursive" }).subscribe({
      next: (event) => {
        if (event.type === "resync") needsResync = true;
        else if (batch.length < BATCH_MAX) batch.push(jsonOf(event));
        else rest();
      },
      error: (reason: unknown) => {
        error = reason;
        end.abort();
      },
      complete: () => end.abort(),
    });
    // Requests of a session are carried out in order: behind this answer the watch is armed.
    client.exists(path, { signal: done }).then(armed, () => {});
  };
  const rest = (): void => {
    droppedCount++;
    changes?.unsubscribe();
    restTimer ??= setTimeout(() => {
      restTimer = undefined;
      // What is read before the watch is armed again may be old by then.
      if (!done.aborted) watch(() => (needsResync = true));
    }, REST_MS);
  };
  watch(() => {
    needsReady = true;
    flush();
  });
  if (!done.aborted) await once(done, "abort");
  clearInterval(timer);
  clearTimeout(restTimer);
  states.unsubscribe();
  changes?.unsubscribe();
  if (error !== undefined) stream.send("failed", { detail: error instanceof Error ? error.message : String(error) });
  stream.end();
}

function jsonOf({ type, path, zxid }: WatchEvent): ChangeJson {
  return { type, path, zxid: zxid < 0 ? null : formatZxid(zxid) };
}
