/**
 * Reports of members about their clients beyond four-letter words, for users with the right to
 * them: writes, and users of sessions.
 */

import type { AdminFields } from "@zooid/model";
import { z } from "zod";
import type { User } from "../access/user.ts";
import type { AuditTailJson, ClientSessionJson, ReloadedJson } from "../api/shapes.ts";
import { ProblemError, refuse } from "../http/problem.ts";
import type { AdminPorts } from "./admin-ports.ts";

/** Lines of one answer. */
const LINES_MAX = 500;
const SESSIONS_MAX = 10_000;
/** More than a configuration has keys. */
const CLAUSES_MAX = 10_000;

const auditAnswer = z.object({
  since: z.int().min(0),
  dropped: z.int().min(0),
  lines: z
    .array(
      z.object({
        number: z.int().min(1),
        time: z.int(),
        session: z.string(),
        user: z.string().nullable(),
        ip: z.string().nullable(),
        operation: z.string(),
        znode: z.string().nullable(),
        result: z.enum(["success", "failure"]),
        is_cut: z.boolean(),
      }),
    )
    .max(LINES_MAX),
});

const clauses = z.array(z.string()).max(CLAUSES_MAX);
const reloadAnswer = z.object({ problems: clauses, changed: clauses, not_applied: clauses, warnings: clauses });

const clientsAnswer = z.object({
  sessions: z
    .array(
      z.object({
        session_id: z.string(),
        users: z.array(z.string()),
        certificate_subject: z.string().nullable(),
        is_secure: z.boolean(),
        knows_read_only: z.boolean(),
      }),
    )
    .max(SESSIONS_MAX),
});

/** The requester, on whose behalf members are asked. */
export interface ReportReader {
  readonly admin: AdminPorts;
  readonly user: User;
  readonly signal: AbortSignal;
}

/** The last line that a reader has. */
export interface AuditPlace {
  readonly sid: number;
  readonly since: string;
  readonly after: number;
}

/** @throws ProblemError if the member is not reached, or refuses */
export async function auditLines(
  { admin, user, signal }: ReportReader,
  { sid, since, after }: AuditPlace,
): Promise<AuditTailJson> {
  const query = { since, after: String(after), limit: String(LINES_MAX) };
  const fields = await admin.run({ sid, name: "audit_tail", method: "GET", query, user, signal });
  const { since: sinceMs, dropped, lines } = parsed(auditAnswer, fields);
  return {
    sid,
    since: String(sinceMs),
    entries: lines.map(({ number, time, session, user: requester, ip, operation, znode, result, is_cut: isCut }) => {
      return {
        number,
        time: String(time),
        session,
        user: requester,
        address: ip,
        operation,
        path: znode,
        result,
        isCut,
      };
    }),
    droppedCount: dropped,
  };
}

/**
 * A member reads its configuration again.
 *
 * @throws ProblemError if it is not reached, or refuses
 */
export async function reload(
  { admin, user, signal }: ReportReader,
  { sid, isDryRun }: { readonly sid: number; readonly isDryRun: boolean },
): Promise<ReloadedJson> {
  const fields = await admin.run({ sid, name: "reload", query: { dryRun: String(isDryRun) }, user, signal });
  const { problems, changed, not_applied: notApplied, warnings } = parsed(reloadAnswer, fields);
  return { sid, isDryRun, problems, changed, notApplied, warnings };
}

/** The users of a session, and how its client connects. */
export interface SessionClient {
  readonly users: readonly string[];
  readonly client: string;
}

export interface SessionClients {
  readonly bySession: ReadonlyMap<string, SessionClient>;
  /** Members that do not report them, a sentence each. */
  readonly notes: readonly string[];
}

/** @param members those whose sessions are listed */
export async function sessionClients(
  { admin, user, signal }: ReportReader,
  members: readonly { readonly sid: number | null; readonly address: string }[],
): Promise<SessionClients> {
  const bySession = new Map<string, SessionClient>();
  const notes: string[] = [];
  await Promise.all(
    members.map(async ({ sid, address }) => {
      try {
        const fields = await admin.run({ sid, name: "session_clients", method: "GET", user, signal });
        for (const found of parsed(clientsAnswer, fields).sessions) {
          bySession.set(found.session_id, { users: found.users, client: clientName(found) });
        }
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        const { title, detail = title } = error.problem;
        notes.push(`${address} does not report the users of its sessions: ${detail}`);
      }
    }),
  );
  return { bySession, notes: notes.sort() };
}

/** The sessions with what is known of their clients. */
export function withClients(
  sessions: readonly ClientSessionJson[],
  bySession: ReadonlyMap<string, SessionClient>,
): readonly ClientSessionJson[] {
  return sessions.map((session) => {
    const found = bySession.get(session.id);
    return found === undefined ? session : { ...session, users: [...found.users], client: found.client };
  });
}

/**
 * ZooKeeper's protocol has no name of a program: these are the marks by which programs can be told
 * apart.
 */
function clientName(found: z.infer<typeof clientsAnswer>["sessions"][number]): string {
  const { certificate_subject: subject, is_secure: isSecure, knows_read_only: knowsReadOnly } = found;
  const place = subject === null ? (isSecure ? "TLS" : "without TLS") : `TLS as ${subject}`;
  return knowsReadOnly ? place : `${place}, protocol before 3.4`;
}

function parsed<S extends z.ZodType>(shape: S, fields: AdminFields): z.infer<S> {
  const found = shape.safeParse(fields);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const detail = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unknown form"}`;
  throw refuse(502, "NO_ADMIN_ANSWER", "The server's admin port gives no usable answer", { detail });
}
