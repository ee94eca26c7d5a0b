/**
 * Deletes that continue until a server has answered, over lost connections and after the caller has
 * given up. There is one for each node, and like any call they wait for connections: only transient
 * refusals need a timer.
 */

import { offAbort, onAbort } from "../calls/abort-listeners.ts";
import type { CallOptions } from "../calls/call.ts";
import { DELETE, DELETE_IF_PRESENT } from "../calls/operation.ts";
import type { RetryPolicy } from "../calls/retry.ts";
import { pause, startTimer } from "../calls/timers.ts";
import { isZkError, zkError } from "../errors.ts";
import type { SessionDriver } from "../session/session-driver.ts";
import type { NodeOperations } from "./node-operations.ts";
import { findProtected } from "./protected-create.ts";

export interface GuaranteedDelete {
  /** The server's path. */
  readonly path: string;
  readonly shownPath: string;
  readonly version: number;
  readonly missingOk: boolean;
  /** Whether it is obsolete when the session has ended, which removes the node. */
  readonly isOfSession: boolean;
  readonly options: CallOptions;
}

const BETWEEN_SWEEPS_MS = 200;

/** Transient refusals are retried; lost connections are handled below. */
const untilAnswered: RetryPolicy = ({ count }) => Math.min(5_000, 100 * 2 ** Math.min(count, 6));

export class BackgroundDeletes {
  readonly #driver: SessionDriver;
  readonly #byName = new Map<string, Promise<void>>();
  #sweepCount = 0;

  constructor(driver: SessionDriver) {
    this.#driver = driver;
  }

  /** Number of nodes still to be deleted. */
  get count(): number {
    return this.#byName.size + this.#sweepCount;
  }

  /** Settles with the answer, or when the caller gives up; then the delete continues. */
  delete(request: GuaranteedDelete): Promise<void> {
    if (request.options.signal?.aborted) return Promise.reject(request.options.signal.reason);
    const { path, version, isOfSession } = request;
    const name = `${version} ${isOfSession} ${path}`;
    let task = this.#byName.get(name);
    if (task === undefined) {
      task = this.#run(request).finally(() => this.#byName.delete(name));
      this.#byName.set(name, task);
    }
    return whileWanted(task, request);
  }

  /** Finds the node that a cancelled protected create may have made, and deletes it. */
  sweep(nodes: NodeOperations, path: string, prefix: string): void {
    this.#sweepCount++;
    this.#sweep(nodes, path, prefix)
      // The caller is gone, so an error has no receiver.
      .catch(() => {})
      .finally(() => this.#sweepCount--);
  }

  async #sweep(nodes: NodeOperations, path: string, prefix: string): Promise<void> {
    for (;;) {
      try {
        const found = await findProtected(nodes, path, prefix, {});
        if (found !== undefined) await nodes.deleteGuaranteed(found.path, { missingOk: true });
        return;
      } catch (error) {
        if (!isZkError(error) || !error.retriable) throw error;
      }
      await pause(BETWEEN_SWEEPS_MS, { ref: false });
    }
  }

  async #run({ path, shownPath, version, missingOk, isOfSession }: GuaranteedDelete): Promise<void> {
    const end = isOfSession ? new SessionEnd(this.#driver) : undefined;
    let isInDoubt = missingOk;
    try {
      for (;;) {
        const operation = isInDoubt ? DELETE_IF_PRESENT : DELETE;
        const options = { retry: untilAnswered, signal: end?.signal };
        try {
          await this.#driver.ask({ operation, path, shownPath, body: version, options, isOwn: true });
          return;
        } catch (error) {
          if (end?.signal.aborted) return;
          if (!isZkError(error) || !error.retriable) throw error;
          // The earlier attempt may have deleted the node.
          if (error.sentBytes) isInDoubt = true;
        }
      }
    } finally {
      end?.[Symbol.dispose]();
    }
  }
}

/** Aborts when the current session is lost, before any request of the next one. */
class SessionEnd implements Disposable {
  readonly #controller = new AbortController();
  readonly #unlisten: () => void;

  constructor(driver: SessionDriver) {
    this.#unlisten = driver.states.add(({ kind }) => {
      if (kind === "lost") this.#controller.abort();
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#unlisten();
  }
}

/** The task from the view of one caller, who may give up before it ends. */
function whileWanted(task: Promise<void>, { shownPath, options }: GuaranteedDelete): Promise<void> {
  const { signal, timeoutMs } = options;
  if (signal === undefined && timeoutMs === undefined) return task;
  return new Promise((resolve, reject) => {
    const give = (): void => settle(() => reject(signal?.reason));
    const late = (): void =>
      settle(() => reject(zkError({ code: "OPERATION_TIMEOUT", op: "delete", path: shownPath, outcome: "unknown" })));
    const timer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, late);
    const settle = (report: () => void): void => {
      timer?.cancel();
      if (signal !== undefined) offAbort(signal, give);
      report();
    };
    if (signal !== undefined) onAbort(signal, give);
    task.then(
      () => settle(resolve),
      (error) => settle(() => reject(error)),
    );
  });
}
