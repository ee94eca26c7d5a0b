/**
 * Decides about one node that was read at a server, on the other side, and at the server again.
 *
 * A node is compared in four parts: its birth, its data, its access list and its children. Each has
 * a number that every change of the part moves, so that a part that did not change between the two
 * reads must be the same on the other side, whatever else of the node changes all the time.
 */
import type { NodeState } from "./node-state.ts";

export interface Readings {
  /** At the server, before the other side was read. */
  readonly before: NodeState | "absent";
  readonly other: NodeState | "absent";
  readonly after: NodeState | "absent";
  /**
   * Whether the state of the other side lies between the two reads. If not, it is too early or too
   * late to prove anything that the states themselves do not show.
   */
  readonly isBetween: boolean;
  /** A zxid that the server had when it was first read, where both sides have one history. */
  readonly startZxid: number | undefined;
}

/** `moved`: it changes, and is to be read again. */
export type Verdict = "same" | "differs" | "moved";

export interface Judgement {
  readonly verdict: Verdict;
  /** Where it differs. `node`: one side lacks it, or it is another one of this path. */
  readonly parts: readonly Part[];
}

export type Part = "node" | "birth" | "data" | "acl" | "children";

const SAME: Judgement = { verdict: "same", parts: [] };
const MOVED: Judgement = { verdict: "moved", parts: [] };
const NODE: Judgement = { verdict: "differs", parts: ["node"] };

export function judge(readings: Readings): Judgement {
  const { before, other, after, isBetween } = readings;
  if (before === "absent" || after === "absent") return judgeAbsence(readings);
  if (before.czxid !== after.czxid) {
    // It was deleted and created again meanwhile.
    if (other === "absent") return MOVED;
    return isWholly(before, other) || isWholly(after, other) ? SAME : MOVED;
  }
  if (other === "absent" || other.czxid !== before.czxid) return isBetween ? NODE : MOVED;
  const verdicts = PARTS.map((part) => judgePart(PART_RULES[part], { before, other, after, isBetween }));
  const parts = PARTS.filter((_, i) => verdicts[i] === "differs");
  if (parts.length > 0) return { verdict: "differs", parts };
  return verdicts.includes("moved") ? MOVED : SAME;
}

/** The server lacks the node at one of the reads, or at both. */
function judgeAbsence({ before, other, after, isBetween, startZxid }: Readings): Judgement {
  if (other === "absent") return SAME;
  if (before !== "absent") return isWholly(before, other) ? SAME : MOVED;
  if (after !== "absent") return isWholly(after, other) ? SAME : MOVED;
  // It may have come behind the first read, and be gone at the second.
  const mayHaveCome = startZxid !== undefined && other.czxid > startZxid;
  return isBetween && !mayHaveCome ? NODE : MOVED;
}

interface PartRule {
  /** Moves with each change of the part, upwards. */
  position(state: NodeState): number;
  isSame(a: NodeState, b: NodeState): boolean;
}

type ComparedPart = Exclude<Part, "node">;
const PARTS: readonly ComparedPart[] = ["birth", "data", "acl", "children"];

const PART_RULES: Readonly<Record<ComparedPart, PartRule>> = {
  birth: {
    position: () => 0,
    isSame: (a, b) => a.ctimeMs === b.ctimeMs && a.owner === b.owner,
  },
  data: {
    position: ({ mzxid }) => mzxid,
    isSame: (a, b) =>
      a.version === b.version &&
      a.mzxid === b.mzxid &&
      a.mtimeMs === b.mtimeMs &&
      a.data.byteCount === b.data.byteCount &&
      a.data.sha256 === b.data.sha256,
  },
  acl: {
    position: ({ aversion }) => aversion,
    // A list that is not shown is no difference; it is counted where it is read.
    isSame: (a, b) => a.aversion === b.aversion && (a.acl === undefined || b.acl === undefined || a.acl === b.acl),
  },
  children: {
    position: ({ pzxid }) => pzxid,
    isSame: (a, b) => a.pzxid === b.pzxid && a.creates === b.creates,
  },
};

interface States {
  readonly before: NodeState;
  readonly other: NodeState;
  readonly after: NodeState;
  readonly isBetween: boolean;
}

function judgePart({ position, isSame }: PartRule, { before, other, after, isBetween }: States): Verdict {
  if (isSame(before, other) || isSame(after, other)) return "same";
  const [first, at, last] = [position(before), position(other), position(after)];
  // One position has one content, whenever it is read.
  if (at === first || at === last) return "differs";
  if (!isBetween) return "moved";
  return at > first && at < last ? "moved" : "differs";
}

function isWholly(a: NodeState, b: NodeState): boolean {
  return a.czxid === b.czxid && PARTS.every((part) => PART_RULES[part].isSame(a, b));
}
