/** The schemas of the API: requests are checked by them, and the OpenAPI document has them. */
import { checkPath } from "@zooid/model";
import { z } from "zod";

/** Largest data of a node that the API writes; servers have their own limit, mostly 1 MiB. */
const DATA_BYTES_MAX = 1024 * 1024;
const BASE64_MAX = Math.ceil(DATA_BYTES_MAX / 3) * 4;
const ACL_ENTRIES_MAX = 1000;
const OPS_MAX = 1000;

export const path = z
  .string()
  .refine(isPath, { error: "is no path of a znode" })
  .meta({ description: "The full path of a znode, such as /app/config" });

/** 64-bit numbers are strings: JavaScript's numbers lose digits. */
export const zxid = z.string().regex(/^0x[0-9a-f]+$/);
export const sessionId = z
  .string()
  .regex(/^0x(0|[1-9a-f][0-9a-f]{0,15})$/)
  .meta({ description: "The id of a session in hexadecimal, such as 0x100000001" });
export const timeMs = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: "Milliseconds since 1970, as a string" });

/** An option of a query. */
export const yesNo = z.enum(["true", "false"]).optional();

export const stat = z.object({
  czxid: zxid,
  mzxid: zxid,
  pzxid: zxid,
  ctime: timeMs,
  mtime: timeMs,
  version: z.int(),
  cversion: z.int(),
  aversion: z.int(),
  ephemeralOwner: sessionId.nullable(),
  dataLength: z.int(),
  numChildren: z.int(),
});
export type StatJson = z.infer<typeof stat>;

export const data = z.object({
  base64: z.string(),
  text: z.string().optional().meta({ description: "The same bytes, where they are valid UTF-8" }),
});
export type DataJson = z.infer<typeof data>;

/** Data to write: one of both. */
export const writtenData = z.union([
  z.strictObject({ text: z.string().max(DATA_BYTES_MAX) }),
  z.strictObject({ base64: z.base64().max(BASE64_MAX) }),
]);
export type WrittenData = z.infer<typeof writtenData>;

export const permission = z.enum(["read", "write", "create", "delete", "admin"]);
export type PermissionName = z.infer<typeof permission>;

export const aclEntry = z.strictObject({
  scheme: z.string().min(1).max(256),
  id: z.string().max(4096),
  permissions: z.array(permission).max(5),
});
export type AclEntryJson = z.infer<typeof aclEntry>;
export const acl = z.array(aclEntry).min(1).max(ACL_ENTRIES_MAX);
/** A list that a user gives: an entry that permits nothing is a mistake. */
export const writtenAcl = z
  .array(aclEntry.extend({ permissions: aclEntry.shape.permissions.min(1) }))
  .min(1)
  .max(ACL_ENTRIES_MAX);

export const node = z.object({
  path,
  stat,
  data: data.nullable(),
  isMasked: z.boolean().meta({ description: "The data is left out, because the name looks like a secret's" }),
});
export type NodeJson = z.infer<typeof node>;

export const createMode = z.enum(["persistent", "persistent-sequential", "container", "ttl"]);

export const newNode = z.strictObject({
  path,
  data: writtenData.optional(),
  mode: createMode.default("persistent"),
  ttlMs: z.int().min(1).max(0xff_ffff_ffff).optional(),
  acl: writtenAcl.optional(),
  parents: z.boolean().default(false).meta({ description: "Creates missing ancestors" }),
});

export const created = z.object({ path, stat });

export const child = z.object({
  name: z.string(),
  stat: stat.optional().meta({ description: "Missing where the child went away meanwhile" }),
});
export type ChildJson = z.infer<typeof child>;

export const children = z.object({
  path,
  stat,
  children: z.array(child),
  next: z.string().nullable().meta({ description: "The cursor of the next page: pass it as `after`" }),
});
export type ChildrenJson = z.infer<typeof children>;

const version = z.int().min(-1).optional().meta({ description: "The version that the node must have; -1: any" });

export const multiOp = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("check"), path, version: z.int().min(-1) }),
  z.strictObject({
    op: z.literal("create"),
    path,
    data: writtenData.optional(),
    acl: writtenAcl.optional(),
    mode: z.enum(["persistent", "persistent-sequential", "container"]).default("persistent"),
  }),
  z.strictObject({ op: z.literal("set"), path, data: writtenData, version }),
  z.strictObject({ op: z.literal("delete"), path, version }),
]);
export type MultiOpJson = z.input<typeof multiOp>;
export const multi = z.strictObject({ ops: z.array(multiOp).min(1).max(OPS_MAX) });
export const multiResult = z.object({
  results: z.array(z.object({ op: z.string(), path: z.string(), stat: stat.optional() })),
});

export type MultiResultJson = z.infer<typeof multiResult>;

export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string().optional(),
  errno: z.int().optional(),
  path: z.string().optional(),
  outcome: z.string().optional(),
  failedIndex: z.int().optional(),
});
export type ProblemJson = z.infer<typeof problem>;

export const role = z.enum(["viewer", "editor", "operator"]);

/** The page's first request. */
export const session = z.object({
  user: z.string().nullable(),
  role: role.nullable().meta({ description: "null: log in first" }),
  identities: z.array(z.object({ scheme: z.string(), id: z.string() })),
  csrfToken: z.string().meta({ description: "Browsers repeat it in X-CSRF-Token with each change" }),
  hasRoles: z.boolean().meta({ description: "Whether roles are configured" }),
  ensemble: z.string().meta({ description: "The name of the ensemble" }),
  ensembles: z
    .array(z.object({ name: z.string(), prefix: z.string() }))
    .meta({ description: "All ensembles of this console, and what stands before /console/ and /api/v1 of each" }),
  version: z.string(),
  features: z.object({
    sessions: z.boolean(),
    watches: z.boolean(),
    metrics: z.boolean(),
    clientReports: z
      .boolean()
      .meta({ description: "Whether a member can be asked for /audit, and for the users of sessions" }),
    adminServers: z
      .array(z.int())
      .meta({ description: "Servers whose admin port the console knows; 0: a server alone" }),
  }),
});
export type SessionJson = z.infer<typeof session>;

export const login = z.strictObject({ user: z.string().min(1).max(256), password: z.string().max(1024) });

export const memberStorage = z.object({
  dataFreeBytes: z.string().nullable().meta({ description: "null: the server is in memory" }),
  logFreeBytes: z.string().nullable(),
  room: z
    .enum(["enough", "low", "full"])
    .meta({ description: "As the server judges it; full: it acknowledges nothing" }),
  certificates: z.array(
    z.object({
      use: z.string().meta({ description: "clients or peers: the side that it is shown to" }),
      expiresAt: timeMs,
    }),
  ),
});
export type MemberStorageJson = z.infer<typeof memberStorage>;

export const member = z.object({
  sid: z.int().nullable(),
  address: z.string(),
  role: z.enum(["leader", "follower", "observer", "standalone", "read-only", "unknown"]),
  isVoter: z.boolean(),
  isReachable: z.boolean(),
  reason: z.string().nullable().meta({ description: "Why there are no figures" }),
  version: z.string().nullable(),
  zxid: zxid.nullable(),
  epoch: z.int().nullable(),
  lagZxids: z.int().nullable().meta({ description: "Transactions behind the newest member of the same epoch" }),
  connections: z.int().nullable(),
  outstanding: z.int().nullable(),
  nodeCount: z.int().nullable(),
  latencyMs: z.object({ min: z.number(), average: z.number(), max: z.number() }).nullable(),
  received: z.number().nullable(),
  sent: z.number().nullable(),
  storage: memberStorage
    .nullable()
    .meta({ description: "Of Zooid's servers that answer mntr, at most 15 s old; null: not known" }),
});
export type MemberJson = z.infer<typeof member>;

export const ensembleProblem = z.object({
  severity: z.enum(["critical", "warning"]),
  member: z.string().nullable(),
  text: z.string(),
  remedy: z.string(),
});
export type EnsembleProblemJson = z.infer<typeof ensembleProblem>;

export const ensemble = z.object({
  name: z.string(),
  configVersion: z.string().nullable(),
  members: z.array(member),
  problems: z.array(ensembleProblem),
});
export type EnsembleJson = z.infer<typeof ensemble>;

export const sid = z.int().min(0).max(254).meta({ description: "The number of a server" });
const serverLine = z
  .string()
  .max(1_000)
  .meta({ description: "A server with its addresses, as 4=host:2888:3888[:observer];2181" });

export const memberChange = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("add"), server: serverLine }),
  z.strictObject({ kind: z.literal("remove"), sid }),
  z.strictObject({ kind: z.literal("promote"), sid }),
  z.strictObject({ kind: z.literal("demote"), sid }),
  z.strictObject({ kind: z.literal("replace"), sid, server: serverLine }),
]);
export type MemberChangeJson = z.infer<typeof memberChange>;

export const memberCheck = z.object({ state: z.enum(["passed", "failed", "notice"]), text: z.string() });
export type MemberCheckJson = z.infer<typeof memberCheck>;

export const memberPlan = z.object({
  version: zxid.meta({ description: "Of the configuration for which this was checked" }),
  steps: z.array(z.object({ text: z.string(), joining: z.array(z.string()), leaving: z.array(z.int()) })),
  checks: z.array(memberCheck),
  mayProceed: z.boolean().meta({ description: "No check has failed" }),
  settings: z.array(z.string()).meta({ description: "The zoo.cfg with which the joining server starts" }),
  members: z.array(z.string()).meta({ description: "The configuration after the last step" }),
  after: z.string().nullable(),
});
export type MemberPlanJson = z.infer<typeof memberPlan>;

export const memberChanged = z.object({
  version: zxid,
  remainingCount: z.int().meta({ description: "Steps that are left: check the change again, and make the next one" }),
});
export type MemberChangedJson = z.infer<typeof memberChanged>;

export const drainStatus = z.object({
  isDraining: z.boolean(),
  connections: z.int().meta({ description: "Connections of clients that are left" }),
  isLeader: z.boolean(),
});
export type DrainStatusJson = z.infer<typeof drainStatus>;

export const clientSession = z.object({
  id: sessionId,
  member: z.string(),
  address: z.string(),
  timeoutMs: z.int().nullable(),
  lastOperation: z.string().nullable(),
  received: z.number(),
  sent: z.number(),
  outstanding: z.number(),
  establishedMs: z.number().nullable().meta({ description: "When the connection was made, milliseconds since 1970" }),
  averageLatencyMs: z.number().nullable(),
  ephemerals: z
    .array(z.string())
    .nullable()
    .meta({ description: "null: not known to the console, or not this role's" }),
  watches: z
    .int()
    .nullable()
    .meta({ description: "Nodes that it watches for data; null: not asked for, not known, or not this role's" }),
  users: z
    .array(z.string())
    .nullable()
    .meta({ description: "As digest:alice; null: not asked for, not reported by the member, or not this role's" }),
  client: z.string().nullable().meta({ description: "How the client connects, and its certificate; null as above" }),
});
export type ClientSessionJson = z.infer<typeof clientSession>;

/** Words that only read. */
export const word = z.enum(["srvr", "cons", "dump", "conf", "envi", "mntr", "dirs", "wchs", "wchc", "wchp"]);
export type Word = z.infer<typeof word>;

export const wordAnswer = z.object({
  member: z.string(),
  text: z.string(),
  isCut: z.boolean(),
});
export type WordAnswerJson = z.infer<typeof wordAnswer>;

export const watched = z.object({
  paths: z.array(z.string()).meta({ description: "One page" }),
  total: z.int(),
  isCut: z.boolean().meta({ description: "A member left paths out" }),
  notes: z.array(z.string()),
});
export type WatchedJson = z.infer<typeof watched>;

export const auditEntry = z.object({
  number: z.int(),
  time: timeMs,
  session: sessionId,
  user: z.string().nullable().meta({ description: "null: the server itself" }),
  address: z.string().nullable(),
  operation: z.string(),
  path: z.string().nullable(),
  result: z.enum(["success", "failure"]),
  isCut: z.boolean().meta({ description: "Of the path or the user, the beginning only" }),
});
export type AuditEntryJson = z.infer<typeof auditEntry>;

export const auditTail = z.object({
  sid,
  since: timeMs.meta({ description: "The member records since then; numbers of another time mean other entries" }),
  entries: z.array(auditEntry).meta({ description: "Oldest first" }),
  droppedCount: z.int().meta({ description: "Entries after the cursor that are not kept any more" }),
});
export type AuditTailJson = z.infer<typeof auditTail>;

export const reloaded = z.object({
  sid,
  isDryRun: z.boolean(),
  problems: z.array(z.string()).meta({ description: "Why nothing changes; empty where it does" }),
  changed: z.array(z.string()).meta({ description: "What has changed, or would" }),
  notApplied: z.array(z.string()).meta({ description: "What waits for the next start, or has no effect" }),
  warnings: z.array(z.string()).meta({ description: "New ones, such as of a misspelt key" }),
});
export type ReloadedJson = z.infer<typeof reloaded>;

export const sessions = z.object({
  sessions: z.array(clientSession),
  total: z.int(),
  notes: z.array(z.string()),
});
export type SessionsJson = z.infer<typeof sessions>;

export const metrics = z.object({
  intervalMs: z.int(),
  times: z.array(z.number()).meta({ description: "Seconds since 1970, oldest first" }),
  series: z.array(
    z.object({
      name: z.string(),
      member: z.string(),
      values: z.array(z.number().nullable()),
    }),
  ),
});
export type MetricsJson = z.infer<typeof metrics>;

function isPath(text: string): boolean {
  try {
    checkPath(text);
    return true;
  } catch {
    return false;
  }
}
