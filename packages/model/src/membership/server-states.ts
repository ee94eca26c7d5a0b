/** The states that servers report, and their consequences for a change of their ensemble. */
import { counted } from "../arguments/counted.ts";
import type { Member, Members } from "./members.ts";
import type { ServerId } from "./server-id.ts";

/** The part of the answer to `srvr` on which changes depend. */
export interface ServerState {
  readonly mode: string;
  /** `0x` and hexadecimal digits. */
  readonly zxid: string | undefined;
}

/** A server's state, or the reason why it is not known. */
export type ServerStatus<T extends ServerState = ServerState> = T | string;

/** The report of each member; a member without a client port is missing. */
export type MemberStates<T extends ServerState = ServerState> = ReadonlyMap<ServerId, ServerStatus<T>>;

/** Modes of servers that serve all requests. */
export const SERVING: ReadonlySet<string> = new Set(["standalone", "leader", "follower", "observer"]);

const EPOCH_SHIFT = 32n;

export function isServing(status: ServerStatus | undefined): boolean {
  return typeof status === "object" && SERVING.has(status.mode);
}

export function isLeading(status: ServerStatus | undefined): boolean {
  return typeof status === "object" && (status.mode === "leader" || status.mode === "standalone");
}

/** 0 if no server reports one. */
export function newestZxid(statuses: Iterable<ServerStatus>): bigint {
  let newest = 0n;
  for (const found of statuses) {
    if (typeof found === "string" || found.zxid === undefined) continue;
    const zxid = BigInt(found.zxid);
    if (zxid > newest) newest = zxid;
  }
  return newest;
}

export function epochOfText(zxid: string): bigint {
  return BigInt(zxid) >> EPOCH_SHIFT;
}

/**
 * Transactions behind the newest server; undefined in an older epoch, where the number is not
 * known.
 */
export function lagOf(zxid: string, newest: bigint): number | undefined {
  return epochOfText(zxid) === newest >> EPOCH_SHIFT ? Number(newest - BigInt(zxid)) : undefined;
}

export function leaderIn(states: MemberStates): ServerId | undefined {
  for (const [sid, status] of states) if (isLeading(status)) return sid;
  return undefined;
}

/** Members that serve, or of which that is not known. */
export function notDown(members: Members, states: MemberStates): readonly ServerId[] {
  return members.servers
    .map(({ sid }) => sid)
    .filter((sid) => {
      const status = states.get(sid);
      return status === undefined || isServing(status);
    });
}

/** Whether a member has the role of its configuration. Without a client port it cannot be asked. */
export function hasItsRole({ sid, isObserver }: Member, states: MemberStates): boolean {
  const status = states.get(sid);
  if (status === undefined) return true;
  return typeof status === "object" && isServing(status) && (status.mode === "observer") === isObserver;
}

/** How far a server is: `synced`, or the reason why it is not. */
export type Catching =
  | { readonly kind: "synced" }
  | { readonly kind: "behind"; readonly lag: number | undefined }
  | { readonly kind: "alone" }
  | { readonly kind: "other-server"; readonly found: number }
  | { readonly kind: "not-serving"; readonly reason: string };

export interface Joiner {
  readonly sid: ServerId;
  /**
   * Asked after the others: a server that has as much then has everything that was committed
   * before.
   */
  readonly status: ServerStatus;
  /** The number that the server itself reports, where it does. */
  readonly reportedSid: number | undefined;
}

/** Compares a server with the other members of the ensemble that it joins. */
export function catchingOf({ sid, status, reportedSid }: Joiner, others: MemberStates): Catching {
  if (typeof status === "string") return { kind: "not-serving", reason: status };
  if (!isServing(status)) return { kind: "not-serving", reason: `mode ${status.mode}` };
  if (reportedSid !== undefined && reportedSid !== sid) return { kind: "other-server", found: reportedSid };
  if (status.mode === "standalone" || (status.mode === "leader" && leaderIn(others) !== undefined)) {
    return { kind: "alone" };
  }
  const newest = newestZxid(others.values());
  if (status.zxid !== undefined && BigInt(status.zxid) >= newest) return { kind: "synced" };
  return { kind: "behind", lag: status.zxid === undefined ? undefined : lagOf(status.zxid, newest) };
}

export function catchingText(catching: Catching): string {
  switch (catching.kind) {
    case "synced":
      return "synced";
    case "behind":
      return catching.lag === undefined ? "in an older epoch" : `${counted(catching.lag, "transaction")} behind`;
    case "alone":
      return "runs without this ensemble";
    case "other-server":
      return `its client port is that of server ${catching.found}`;
    case "not-serving":
      return `does not serve: ${catching.reason}`;
  }
}

/** The voters that would be missing after a change: empty where the others are a quorum. */
export function missingVoters({ verifier }: Members, alive: ReadonlySet<ServerId>): readonly ServerId[] {
  return verifier.isQuorum(alive) ? [] : [...verifier.voters].filter((sid) => !alive.has(sid));
}

/** The leader, if a change takes its vote. */
export function leaderThatMoves({ verifier }: Members, states: MemberStates): ServerId | undefined {
  const leader = leaderIn(states);
  return leader === undefined || verifier.candidates.has(leader) ? undefined : leader;
}

/** How many of the serving voters may fail. */
export function spareText({ verifier }: Members, serving: Iterable<ServerId>): string {
  const alive = [...serving].filter((sid) => verifier.voters.has(sid));
  if (!verifier.isQuorum(alive)) return "they are no quorum";
  const spare = alive.findIndex((_, count) => !survivesAny(verifier, alive, count + 1));
  if (spare === 0) return "none of them may fail";
  return `${spare === -1 ? alive.length : spare} of them may fail`;
}

/** Whether a quorum is left, whichever one of the serving voters fails. */
export function survivesOneFailure({ verifier }: Members, serving: Iterable<ServerId>): boolean {
  return survivesAny(
    verifier,
    [...serving].filter((sid) => verifier.voters.has(sid)),
    1,
  );
}

/** Whether a quorum is left, whichever of these servers fail. Ensembles are small. */
function survivesAny(verifier: Members["verifier"], alive: readonly ServerId[], failures: number, from = 0): boolean {
  if (failures === 0) return verifier.isQuorum(alive);
  for (let at = from; at + failures <= alive.length; at++) {
    if (!survivesAny(verifier, alive.toSpliced(at, 1), failures - 1, at)) return false;
  }
  return true;
}
