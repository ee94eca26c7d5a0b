import { setTimeout as delay } from "node:timers/promises";
import { StoreError } from "@zooid/txn-log";
import type { ServerLog } from "../server-api.ts";

/** Intervals at which a start without room on its disk is tried again, and logged. */
const RETRY_MS = 1000;
const WARN_MS = 30_000;

/**
 * Opens a data directory. If its disk has no room even for that, tries again until there is room:
 * the data are whole, and a server that ended instead would only be started again. Every other
 * error rejects, and so does a full disk once the server stops.
 */
export async function openWithRoom<T>(attempt: {
  open(): Promise<T>;
  isStopped(): boolean;
  readonly warn: ServerLog["warn"];
}): Promise<T> {
  for (let warnedMs = Number.NEGATIVE_INFINITY; ; await delay(RETRY_MS)) {
    try {
      return await attempt.open();
    } catch (error) {
      const isFull = error instanceof StoreError && error.code === "DISK_FULL";
      if (!isFull || attempt.isStopped()) throw error;
      if (performance.now() - warnedMs < WARN_MS) continue;
      warnedMs = performance.now();
      attempt.warn(`${error.message}; the start waits until there is room`, { event: "start-waits-for-room" });
    }
  }
}
