import { formatZxid, type Zxid } from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";

type Kind = ReplicaEvent["kind"];

/**
 * Rule I32: no message arrives that its receiver has no transition for, and no history diverges
 * from the leader's. A correct ensemble never reports an illegal event, whatever fails; a refusal
 * is illegal when its reason is that histories have diverged.
 */
const RULE_I32: Readonly<Record<Kind, "legal" | "illegal" | "illegal-if-diverged">> = {
  "illegal-message": "illegal",
  "committed-history-unknown": "illegal",
  "history-not-the-leaders": "illegal",
  "applied-beyond": "illegal",
  "histories-differ": "illegal",
  "refused-by-leader": "illegal-if-diverged",
  "refused-by-learner": "illegal-if-diverged",
  "leaders-level": "legal",
  "learner-follows": "legal",
  "learner-not-counted": "legal",
  "old-disk": "legal",
  "whole-state-sent": "legal",
  "successor-named": "legal",
  "founding-forbidden": "legal",
  "history-missing-here": "legal",
  "ensemble-has-data": "legal",
  "epoch-promised-elsewhere": "legal",
  "epochs-used-up": "legal",
  "learner-is-ahead": "legal",
  "no-quorum-follows": "legal",
  "epoch-not-accepted": "legal",
  "quorum-lost": "legal",
  "electors-lost": "legal",
  "counter-used-up": "legal",
  "closed-to-clients": "legal",
  "handed-over": "legal",
  "restore-begins": "legal",
  "restore-given-up": "legal",
  "state-restored": "legal",
  "leader-handed-over": "legal",
  "leader-unreachable": "legal",
  "leader-silent": "legal",
  "leader-link-lost": "legal",
  "state-not-received": "legal",
  "leader-of-another-ensemble": "legal",
  "beside-another-ensemble": "legal",
  "history-of-one-server": "legal",
  "configuration-is-newer": "legal",
  "configuration-learned": "legal",
  "epoch-promised": "legal",
  stopped: "legal",
  "change-refused": "legal",
  "list-differs": "legal",
  "read-only-service": "legal",
  "long-certificate-subject": "legal",
  "wall-clock-set": "legal",
  "over-quota": "legal",
  "large-listing": "legal",
  "slow-request": "legal",
};

/** Kinds of events that only an incorrect ensemble reports. */
export const ILLEGAL_KINDS: readonly string[] = Object.entries(RULE_I32).flatMap(([kind, is]) =>
  is === "legal" ? [] : [kind],
);

export function isIllegal(event: ReplicaEvent): boolean {
  switch (RULE_I32[event.kind]) {
    case "illegal":
      return true;
    case "illegal-if-diverged":
      return "reason" in event && event.reason === "diverged";
    default:
      return false;
  }
}

export function isEventKind(text: string): text is Kind {
  return Object.hasOwn(RULE_I32, text);
}

/** For transcripts: the event as data, on one line. */
export function describeEvent({ kind, ...rest }: ReplicaEvent): string {
  const fields = JSON.stringify(rest, (_, value: unknown) => {
    if (typeof value === "number" && value >= 2 ** 32) return formatZxid(value as Zxid);
    return typeof value === "bigint" ? value.toString(16) : value;
  });
  return fields === "{}" ? kind : `${kind} ${fields}`;
}
