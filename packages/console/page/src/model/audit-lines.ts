/** The writes of all members in one list. */
import type { AuditEntryJson, AuditTailJson } from "../../../src/api/shapes.ts";

export interface AuditLine extends AuditEntryJson {
  readonly sid: number;
  /** The member's name for the reader. */
  readonly member: string;
}

/** A member, and how far its lines are read. */
export interface MemberTail {
  readonly sid: number;
  readonly member: string;
  /** `since` of the last answer; "0" before the first. */
  readonly since: string;
  readonly after: number;
  readonly droppedCount: number;
  /** The member began to record again then: writes before it are missing. */
  readonly againSince: string | undefined;
  /** Why it gives no lines now. */
  readonly reason: string | undefined;
}

export interface AuditFilter {
  readonly user: string;
  readonly operation: string;
  readonly path: string;
}

/** Lines that are kept. */
export const LINES_KEPT = 5_000;
export const LINES_IN_PAGE = 200;

export function newTail(sid: number, member: string): MemberTail {
  return { sid, member, since: "0", after: 0, droppedCount: 0, againSince: undefined, reason: undefined };
}

/** After an answer of the member. */
export function advanced(tail: MemberTail, answer: AuditTailJson): MemberTail {
  const isSame = answer.since === tail.since;
  return {
    ...tail,
    since: answer.since,
    after: answer.entries.at(-1)?.number ?? (isSame ? tail.after : 0),
    droppedCount: tail.droppedCount + answer.droppedCount,
    againSince: isSame || tail.since === "0" ? tail.againSince : answer.since,
    reason: undefined,
  };
}

/** The newest first, by the members' own clocks; lines of one member stay in its order. */
export function merged(lines: readonly AuditLine[], tail: MemberTail, answer: AuditTailJson): readonly AuditLine[] {
  if (answer.entries.length === 0) return lines;
  const newer = answer.entries.map((entry): AuditLine => ({ ...entry, sid: tail.sid, member: tail.member })).reverse();
  const all = [...newer, ...lines];
  // The sort is stable, and newer lines of a member stand before its older ones.
  all.sort((a, b) => Number(b.time) - Number(a.time));
  return all.slice(0, LINES_KEPT);
}

/** A user, an operation and a path that contain the texts; an empty text fits all. */
export function filtered(lines: readonly AuditLine[], filter: AuditFilter): readonly AuditLine[] {
  const user = filter.user.toLowerCase();
  const operation = filter.operation.toLowerCase();
  const path = filter.path.toLowerCase();
  return lines.filter(
    (line) =>
      (line.user ?? SERVER).toLowerCase().includes(user) &&
      line.operation.toLowerCase().includes(operation) &&
      (line.path ?? "").toLowerCase().includes(path),
  );
}

/** The user of writes that a server makes of itself. */
export const SERVER = "the server";

export interface LinesPage {
  readonly lines: readonly AuditLine[];
  /** From 0 on; the last page where the list has become shorter. */
  readonly page: number;
  readonly pageCount: number;
}

export function pageOf(lines: readonly AuditLine[], wanted: number): LinesPage {
  const pageCount = Math.max(1, Math.ceil(lines.length / LINES_IN_PAGE));
  const page = Math.min(Math.max(0, wanted), pageCount - 1);
  return { lines: lines.slice(page * LINES_IN_PAGE, (page + 1) * LINES_IN_PAGE), page, pageCount };
}
