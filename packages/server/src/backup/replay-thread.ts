import { mkdirSync, rmSync } from "node:fs";
import type { MessagePort } from "node:worker_threads";
import { workerData } from "node:worker_threads";
import { openUploadTarget, type UploadSettings } from "@zooid/backup";
import { lowerPriority } from "@zooid/txn-log/archive";
import { type ReplayResult, replayLastBase } from "./replay-check.ts";

/** The data that the thread is started with. It replays once, and ends. */
export interface ReplayThreadData {
  readonly settings: UploadSettings;
  readonly scratch: string;
  readonly port: MessagePort;
}

/** Below the server's threads and above none of the system's. */
const NICE = 10;

const { settings, scratch, port } = workerData as ReplayThreadData;
lowerPriority(NICE);
const ended = new AbortController();
port.on("message", () => ended.abort(new Error("the server stops")));
port.postMessage(await replayed());
port.close();

async function replayed(): Promise<ReplayResult> {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  try {
    const target = openUploadTarget(settings, ended.signal);
    return await replayLastBase({ target, scratch, signal: ended.signal });
  } catch (error) {
    return { kind: "skipped", reason: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
