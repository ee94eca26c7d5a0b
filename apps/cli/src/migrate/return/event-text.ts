/** The sentences of a return. */
import { assertNever, counted, formatZxid } from "@zooid/model";
import { type Event, type Seen, type Situation, STEPS, type Step, type Undone } from "./event.ts";
import type { ExportRecord } from "./facts.ts";

/** Apache's default of `jute.maxbuffer`: it loads no longer data. */
const APACHE_BUFFER_BYTES = 0xf_ffff;

const TITLES: Readonly<Record<Step, string>> = {
  look: "everything is ready",
  close: "the ensemble is closed to its clients",
  prove: "no server has a client",
  export: "the state is written beside its place, and read back",
  keep: "the export is in its place, and complete",
};

const WAYS_BACK: Readonly<Record<Step, string>> = {
  look: "nothing is changed yet",
  close: "the ensemble is opened to its clients again",
  prove: "the ensemble is opened to its clients again",
  export: "the export is removed, and the ensemble opened to its clients again",
  keep: "zooid-cli migrate return --abort, as long as no Apache server was started from the export",
};

const SITUATIONS: Readonly<Record<Situation, string | undefined>> = {
  begin: undefined,
  closed: "an earlier return has closed the ensemble to its clients: it is continued",
  exported: "an earlier return has closed the ensemble to its clients, and completed this export",
};

const UNDONE: Readonly<Record<Undone, string>> = {
  dropped: "nothing of an export is left",
  opened: "the ensemble is open to its clients",
};

/** @param sinceMs time since the closing */
export function eventLines(event: Event, sinceMs?: number): readonly string[] {
  switch (event.kind) {
    case "found": {
      const text = SITUATIONS[event.situation];
      return text === undefined ? [] : [text];
    }
    case "step":
      return [stepLine(event.step), `   way back: ${WAYS_BACK[event.step]}`];
    case "seen": {
      const time = sinceMs === undefined ? "" : `+${sinceMs} ms: `;
      return seenLines(event.seen).map((line) => `   ${time}${line}`);
    }
    case "remark":
      return [`   note: ${event.text}`];
    case "waits":
      return event.reasons.map((reason) => `   waiting: ${reason}`);
    case "undoing":
      return [`UNDONE in step ${STEPS.indexOf(event.step) + 1}: ${event.reasons.join("; ")}`];
    case "undone":
      return [`   ${UNDONE[event.what]}`];
    default:
      return assertNever(event);
  }
}

function stepLine(step: Step): string {
  return `${STEPS.indexOf(step) + 1}. ${TITLES[step]}`;
}

function seenLines(seen: Seen): readonly string[] {
  switch (seen.kind) {
    case "ready": {
      const { memberCount, sessions, keptSessions, withinMs } = seen;
      return [
        `${counted(memberCount, "server")} of one ensemble; ${counted(sessions, "session")}, of which ${keptSessions} came from Apache and can go back`,
        `steps 2 to 5 have ${withinMs} ms`,
      ];
    }
    case "closed":
      return [`closed to clients by the change ${formatZxid(seen.closedAt)}`];
    case "proved": {
      const { memberCount, zxid, epoch } = seen;
      return [
        `no connection at ${counted(memberCount, "server")}, and none can come; the last transaction is ${formatZxid(zxid)}`,
        `Apache's history begins in epoch ${epoch}`,
      ];
    }
    case "exported":
      return recordLines(seen.record);
    case "kept":
      return ["each server is closed to clients still, by the same change"];
    default:
      return assertNever(seen);
  }
}

function recordLines(record: ExportRecord): readonly string[] {
  const { ephemeralsRemoved, nodes, sessionsEnded, sessionsKept, shortestTimeoutMs, zxid } = record;
  const shortest = sessionsKept === 0 ? "" : `, the shortest timeout is ${shortestTimeoutMs} ms`;
  return [
    `${counted(nodes, "znode")} up to ${formatZxid(zxid)}`,
    `${counted(sessionsKept, "session")} kept${shortest}`,
    `${counted(sessionsEnded, "session")} with passwords that Apache does not know ended, with ${counted(ephemeralsRemoved, "ephemeral znode")}`,
  ];
}

export interface PlannedReturn {
  readonly directory: string;
  readonly members: readonly string[];
  readonly apache: readonly string[];
}

/** Each step, and what would be done in it. */
export function planLines({ directory, members, apache }: PlannedReturn): readonly string[] {
  const servers = members.join(", ");
  const acts: Readonly<Record<Step, readonly string[]>> = {
    look: [`asks ${servers}; looks at ${directory}, and that ${apache.join(", ")} take no connections`],
    close: [
      "close_clients at the leader: each server closes its ports and ends its connections, and no session expires",
    ],
    prove: [`return_status at each of ${servers}`],
    export: [`export_apache at the leader; no other machine needs to reach ${directory}`],
    keep: [`${directory} is complete`],
  };
  return STEPS.flatMap((step) => [
    stepLine(step),
    ...acts[step].map((act) => `   ${act}`),
    `   way back: ${WAYS_BACK[step]}`,
  ]);
}

/** The next steps of the operator, once an export is complete. */
export function nextLines(directory: string, record: ExportRecord, closedForMs: number | undefined): readonly string[] {
  const { dataBytesMax, shortestTimeoutMs, sessionsKept, ttlNodes } = record;
  const flags = [
    ...(ttlNodes > 0 ? ["-Dzookeeper.extendedTypesEnabled=true"] : []),
    ...(dataBytesMax > APACHE_BUFFER_BYTES ? [`-Djute.maxbuffer=${dataBytesMax}`] : []),
  ];
  const since = closedForMs === undefined ? "the closing" : `the closing, ${Math.round(closedForMs)} ms ago`;
  return [
    ...(sessionsKept === 0
      ? []
      : [
          `clients count their timeouts since ${since}; the shortest of a session that is kept is ${shortestTimeoutMs} ms`,
        ]),
    "next:",
    `  1. at each Apache voter and observer, while all are stopped: move version-2 out of dataDir and dataLogDir, copy ${directory}/version-2 into dataDir, give it to the user of the server, and leave myid as it is`,
    `  2. start the voters${flags.length === 0 ? "" : `, with ${flags.join(" ")}`}`,
    "  3. point clients at Apache, where their lists do not have its addresses already",
    "  4. stop the servers of this ensemble for good; until then they stay closed",
    "zooid-cli migrate return --abort opens the ensemble again, as long as no Apache server was started",
  ];
}
