/** Which runs of a schedule are due: arithmetic without a clock. */
import { ArgumentError, found } from "@zooid/model";
import { owned } from "../at-once.ts";

/** The first time after another, in milliseconds since 1970; infinity for none. */
export type Times = (afterMs: number) => number;

/**
 * The treatment of times at which there was no run, because no process led or a run took longer:
 * - `skip`: the last of them has a run only if it is late by at most `lateMs`
 * - `latest`: one run for all of them, for the last
 * - `all`: a run for each, in order
 */
export type MissedPolicy = "skip" | "latest" | "all";

export interface DueRuns {
  /** Times that have a run now, in order. */
  readonly dueMs: readonly number[];
  /** The first time that is not due yet. */
  readonly nextMs: number;
}

/** Most runs for missed times; of more, the earliest have none. */
export const MISSED_COUNT_MAX = 1_000;

/** @param lastMs the time up to which the schedule has been dealt with */
export function dueRuns(
  times: Times,
  { lastMs, nowMs }: { readonly lastMs: number; readonly nowMs: number },
  { missed, lateMs }: { readonly missed: MissedPolicy; readonly lateMs: number },
): DueRuns {
  const due = lastTimes(times, { lastMs, nowMs }, missed === "all" ? MISSED_COUNT_MAX : 1);
  const dueMs = missed === "skip" ? due.filter((atMs) => nowMs - atMs <= lateMs) : due;
  return { dueMs, nextMs: later(times, Math.max(lastMs, nowMs)) };
}

/**
 * The last times up to now. Looks at twice as many as are asked for, however long the schedule
 * was not served: at the last second, then two, four and so on.
 */
function lastTimes(
  times: Times,
  { lastMs, nowMs }: { readonly lastMs: number; readonly nowMs: number },
  count: number,
): readonly number[] {
  for (let backMs = 1_000; lastMs < nowMs; backMs *= 2) {
    const fromMs = Math.max(lastMs, nowMs - backMs);
    const found: number[] = [];
    for (let atMs = later(times, fromMs); atMs <= nowMs; atMs = later(times, atMs)) found.push(atMs);
    if (found.length >= count || fromMs === lastMs) return found.slice(-count);
  }
  return [];
}

/** @throws ArgumentError for a function that does not advance by numbers: there would be no end */
function later(times: Times, afterMs: number): number {
  const nextMs = owned(times(afterMs));
  if (typeof nextMs === "number" && nextMs > afterMs) return nextMs;
  throw new ArgumentError("the schedule", [
    `the next time after ${afterMs} is a later one, in milliseconds since 1970, found ${found(nextMs)}`,
  ]);
}
