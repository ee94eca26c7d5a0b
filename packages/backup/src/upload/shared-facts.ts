import type { Zxid } from "@zooid/model";

/** The facts of a backup that a server which uploads shares with those that wait, in the lease. */
export interface SharedFacts {
  /** The last transaction in the backup; undefined: none. */
  readonly end: Zxid | undefined;
  /** When the last pass ended with everything uploaded, in ms since 1970. */
  readonly passedMs: number | undefined;
  readonly base: Zxid | undefined;
  /** When the last base was taken, and when it was read back. */
  readonly baseTakenMs: number | undefined;
  readonly verifiedMs: number | undefined;
  /** Gaps in the backup, since its server began. */
  readonly gapCount: number;
}

export const NO_FACTS: SharedFacts = {
  end: undefined,
  passedMs: undefined,
  base: undefined,
  baseTakenMs: undefined,
  verifiedMs: undefined,
  gapCount: 0,
};

/** Undefined for what is none. */
export function parseSharedFacts(value: unknown): SharedFacts | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const count = (name: string): number | undefined => {
    const found = fields[name];
    return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
  };
  return {
    end: count("end") as Zxid | undefined,
    passedMs: count("passedMs"),
    base: count("base") as Zxid | undefined,
    baseTakenMs: count("baseTakenMs"),
    verifiedMs: count("verifiedMs"),
    gapCount: count("gapCount") ?? 0,
  };
}
