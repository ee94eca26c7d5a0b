import type { ZkError } from "../errors.ts";
import { type AnyCall, Call, type CallOptions } from "./call.ts";
import { type Operation, SYNC } from "./operation.ts";
import { retry } from "./retry.ts";

/** A sync that another connection has answered would prove nothing of what this one reads. */
const SYNC_OF_CONNECTION: Operation<undefined, void> = { ...SYNC, isOfConnection: true };
const ONCE: CallOptions = { retry: retry.none };

/** The sync that goes right before a read. When it fails, so does what the read brings. */
export function syncBefore(read: AnyCall, path: string): AnyCall {
  read.syncError = undefined;
  const fields = { operation: SYNC_OF_CONNECTION, path, shownPath: read.shownPath, body: undefined, options: ONCE };
  const failed = (error: unknown): void => {
    read.syncError = error as ZkError;
  };
  return new Call(fields, () => {}, failed) as AnyCall;
}
