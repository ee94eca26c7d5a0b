import type { ZkError } from "../errors.ts";
import { type AnyCall, Call, type CallOptions } from "./call.ts";
import { type Operation, SYNC } from "./operation.ts";
import { retry } from "./retry.ts";

/** A sync that was answered on another connection would prove nothing about this read. */
const SYNC_OF_CONNECTION: Operation<undefined, void> = { ...SYNC, isOfConnection: true };
const ONCE: CallOptions = { retry: retry.none };

/** The sync right before a read. If it fails, so does the read. */
export function syncBefore(read: AnyCall, path: string): AnyCall {
  read.syncError = undefined;
  const fields = { operation: SYNC_OF_CONNECTION, path, shownPath: read.shownPath, body: undefined, options: ONCE };
  const failed = (error: unknown): void => {
    read.syncError = error as ZkError;
  };
  return new Call(fields, () => {}, failed) as AnyCall;
}
