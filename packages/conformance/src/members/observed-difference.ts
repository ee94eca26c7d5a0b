import type { Observation } from "./member-ensemble.ts";
import type { ChangedBy, MemberStep } from "./member-step.ts";

/** A difference after one act, Apache's side first. */
export interface Difference {
  readonly what: "answer" | "members" | "write" | "config";
  readonly apache: string;
  readonly zooid: string;
}

export interface Act {
  readonly step: MemberStep | undefined;
  readonly changedBy: ChangedBy;
}

/** Differences that are intended; docs/differences.md has them all. */
interface Known {
  readonly reason: string;
  covers(difference: Difference, act: Act): boolean;
}

const KNOWN: readonly Known[] = [
  {
    reason: "after restarts with other files Apache's /zookeeper/config still lists the members of an earlier start",
    covers: ({ what }, { changedBy }) => what === "config" && changedBy === "restarts",
  },
];

/** All that differs, with the reason where that is intended. */
export function differences(
  apache: Observation,
  zooid: Observation,
  act: Act,
): readonly (Difference & { readonly reason: string | undefined })[] {
  const pairs: readonly Difference[] = [
    { what: "answer", apache: apache.answer ?? "", zooid: zooid.answer ?? "" },
    { what: "members", apache: membersText(apache), zooid: membersText(zooid) },
    { what: "write", apache: apache.write, zooid: zooid.write },
    { what: "config", apache: apache.config.join("\n"), zooid: zooid.config.join("\n") },
  ];
  return pairs
    .filter((pair) => pair.apache !== pair.zooid)
    .map((pair) => ({ ...pair, reason: KNOWN.find((known) => known.covers(pair, act))?.reason }));
}

/** `1 votes, 4 observes` */
export function membersText({ members }: Observation): string {
  return Object.entries(members)
    .map(([sid, state]) => `${sid} ${state}`)
    .join(", ");
}
