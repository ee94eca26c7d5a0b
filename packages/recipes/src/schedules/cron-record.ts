import type { Codec } from "@zooid/client";
import { RecipeError } from "../recipe-error.ts";

/** The last run of a schedule. */
export interface CronRecord {
  /** The time of the schedule that it was for, in milliseconds since 1970. */
  readonly dueMs: number;
  /**
   * - `waiting`: there was no run yet; `dueMs` is when the schedule was made
   * - `begun`: it is running, or its process has died
   * - `done`, `failed`: its work has returned, or thrown
   */
  readonly state: "waiting" | "begun" | "done" | "failed";
  /** 1, and more where it was repeated. */
  readonly attempt: number;
  /** The process that ran it. */
  readonly id: string;
  /** Unique to the attempt. */
  readonly claim: string;
}

const STATES: readonly unknown[] = ["waiting", "begun", "done", "failed"] satisfies CronRecord["state"][];

export const recordCodec: Codec<CronRecord> = {
  encode: (record) => Buffer.from(JSON.stringify({ version: 1, ...record })),
  decode: (bytes) => {
    const record = read(bytes);
    if (record === undefined) throw new RecipeError("NOT_OURS", "the last run of a schedule was expected");
    return record;
  },
};

function read(bytes: Uint8Array | null): CronRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes ?? []).toString());
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { version, dueMs, state, attempt, id, claim } = value as {
    readonly [field in keyof CronRecord | "version"]?: unknown;
  };
  if (version !== 1 || typeof dueMs !== "number" || typeof attempt !== "number") return undefined;
  if (typeof id !== "string" || typeof claim !== "string" || !isState(state)) return undefined;
  return { dueMs, state, attempt, id, claim };
}

function isState(state: unknown): state is CronRecord["state"] {
  return STATES.includes(state);
}
