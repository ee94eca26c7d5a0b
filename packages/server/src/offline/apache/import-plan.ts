import { EPOCH_ALARM, EPOCH_MAX, type Member } from "@zooid/model";
import { APACHE_EPOCH_GAP, type ImportedSessions } from "@zooid/txn-log/sqlite";
import { OfflineError } from "../offline-error.ts";
import type { ApacheEnsemble } from "./choose-voter.ts";

export interface ImportChoice {
  readonly sessions: ImportedSessions;
  /** The member that the server is from then on, alone. Undefined: a standalone server. */
  readonly member: Member | undefined;
}

/** The effects of an import of the directories. */
export interface ImportPlan {
  /** The epoch in which the new history begins. */
  readonly epoch: number;
  readonly sessions: ImportedSessions;
  /** Sessions that clients can continue, and the ephemeral nodes of these. */
  readonly keptSessionCount: number;
  readonly keptEphemeralCount: number;
  /** Sessions that had ended and own nodes, which the first leader deletes. */
  readonly endedSessionCount: number;
  readonly orphanCount: number;
  /** Nodes that are not in the new state. */
  readonly leftOutCount: number;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** @throws OfflineError where no epoch is left */
export function planImport({ state, epochMax }: ApacheEnsemble, { sessions, member }: ImportChoice): ImportPlan {
  const epoch = epochMax + APACHE_EPOCH_GAP;
  if (epoch >= EPOCH_MAX) {
    throw new OfflineError([
      `Apache's highest epoch is ${epochMax}, and the new history would begin ${APACHE_EPOCH_GAP} above it, at ${epoch}: ` +
        `the last epoch is ${EPOCH_MAX - 1}; export the data and import them by clients`,
    ]);
  }
  const warnings: string[] = [];
  if (epoch >= EPOCH_ALARM)
    warnings.push(
      `the new history begins at epoch ${epoch}, and the last one is ${EPOCH_MAX - 1}: each election takes one or more`,
    );
  const { tree } = state;
  const { ephemeralCount, orphans } = tree;
  if (sessions === "drop") {
    const none = { keptSessionCount: 0, keptEphemeralCount: 0, endedSessionCount: 0, orphanCount: 0 };
    return { epoch, sessions, ...none, leftOutCount: ephemeralCount, warnings };
  }
  const numbers = [...new Set([...tree.sessions.keys()].map((id) => Number(BigInt.asUintN(64, id) >> 56n)))];
  if (numbers.length > 0) warnings.push(numbersText(numbers, member));
  return {
    epoch,
    sessions,
    keptSessionCount: tree.sessions.size,
    keptEphemeralCount: ephemeralCount - orphans.nodeCount,
    endedSessionCount: orphans.sessionCount,
    orphanCount: orphans.nodeCount,
    leftOutCount: 0,
    warnings,
  };
}

/** A session's id begins with the number of the server that made it. */
function numbersText(numbers: readonly number[], member: Member | undefined): string {
  const named = [...numbers].sort((a, b) => a - b).join(", ");
  const sid = member?.sid;
  const isOurs = sid !== undefined && numbers.includes(sid);
  const ours = sid === undefined ? "" : isOurs ? `, and this server is number ${sid}, too` : `, this server is ${sid}`;
  return (
    `ids of kept sessions begin with the numbers of Apache's servers, ${named}${ours}: ` +
    "give the servers of the new ensemble other numbers, so that an id shows which ensemble made it"
  );
}
