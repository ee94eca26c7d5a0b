import { formatZxid, parseZxid, type Zxid } from "@zooid/model";
import { chainFromHalves, formatChain } from "@zooid/txn-log";
import { FollowRefusal } from "../../following/follow-syncs.ts";
import type { FollowEnd } from "../../following/following.ts";
import type { SinceSync } from "../../following/since-sync.ts";
import type { AdminView, FollowerActs, StateAct } from "../admin-view.ts";
import { audited, type CommandRequest, Failure, type Fields, notYet, type Outcome } from "./command.ts";

/** Commands that act on clients or data, which are Apache's as long as it is followed. */
export const ACTS_ON_OWN_DATA: ReadonlySet<string> = new Set([
  "close_clients",
  "drain",
  "drop_standby",
  "end_session",
  "export_apache",
  "finalize_upgrade",
  "open_clients",
  "purge_history",
  "restore",
  "restore_state",
  "take_over",
  "transfer_leadership",
  "undrain",
]);

export const FOLLOWS = "this server follows an Apache ensemble: clients and data are changed there";

const FOLLOWS_NONE = "this server follows no Apache ensemble";

/** Which server of Apache's is followed, how far, and whether its digests are those of the tree. */
export function followStatus(view: AdminView): Fields | Failure {
  const status = view.following();
  if (status === undefined) return new Failure(FOLLOWS_NONE);
  return {
    state: status.state,
    server: status.server ?? null,
    epoch: status.epoch,
    zxid: formatZxid(status.zxid),
    has_state: status.hasState,
    lag_transactions: status.lagTransactions,
    lag_ms: status.lagMs,
    nodes: status.nodeCount,
    sessions: status.sessionCount,
    tree_digest: status.mark?.digest ?? null,
    chain: status.mark?.chain ?? null,
    digest: status.digest,
    digests_compared: status.digestCount,
    transactions: status.transactionCount,
    snapshots: status.snapshotCount,
    resyncs: status.resyncCount,
    spool_bytes: status.spoolBytes,
    servers: status.servers ?? null,
    servers_before: status.serversBefore ?? null,
    last_error: status.lastError ?? null,
  };
}

/** How many sessions the followed ensemble has, and the shortest timeout of them. */
export async function followSessions(view: AdminView): Promise<Outcome> {
  const follower = view.follower();
  if (follower === undefined) return new Failure(FOLLOWS_NONE);
  const { count, shortestTimeoutMs } = await follower.sessions();
  return { sessions: count, shortest_timeout_ms: shortestTimeoutMs ?? null };
}

/** Has Apache's leader extend each session by its timeout. */
export function followTouch(view: AdminView, request: CommandRequest): Promise<Outcome> {
  return acted(view, request, "followTouch", async (follower) => {
    const touched = await follower.touch();
    return touched instanceof FollowRefusal ? touched : { sessions: touched };
  });
}

/**
 * Waits until all that Apache's leader has proposed is applied, and counts the transactions since
 * the last such answer.
 */
export async function followSync(view: AdminView): Promise<Outcome> {
  const follower = view.follower();
  if (follower === undefined) return new Failure(FOLLOWS_NONE);
  const answer = await follower.sync();
  if (answer instanceof FollowRefusal) return refused(answer);
  return { zxid: formatZxid(answer.zxid), ...sinceFields(answer) };
}

function sinceFields(since: SinceSync): Fields {
  return {
    after: since.after === undefined ? null : formatZxid(since.after),
    sessions_expired: since.expiredCount,
    reaped: since.reapedCount,
    reconfigs: since.reconfigCount,
    requests: since.requestCount,
    first_requests: since.requests.map((asked) => ({ ...asked })),
  };
}

/** Copies all that is applied to the backup's target. */
export async function followArchive(view: AdminView): Promise<Outcome> {
  const follower = view.follower();
  if (follower === undefined) return new Failure(FOLLOWS_NONE);
  const end = await follower.archive();
  return end instanceof FollowRefusal ? refused(end) : endFields(end);
}

/** Ends the following behind a transaction for good. */
export function followFinish(view: AdminView, request: CommandRequest): Promise<Outcome> {
  return acted(view, request, "followFinish", async (follower) => {
    const zxid = zxidOf(request.query);
    if (zxid instanceof Failure) return zxid;
    const end = await follower.finish(zxid);
    return end instanceof FollowRefusal ? end : endFields(end);
  });
}

/** Follows again what was ended for good. */
export function followResume(view: AdminView, request: CommandRequest): Promise<Outcome> {
  return acted(view, request, "followResume", async (follower) => {
    const zxid = await follower.resume();
    return zxid instanceof FollowRefusal ? zxid : { zxid: formatZxid(zxid) };
  });
}

/** Acts, and has the audit log say who has asked for it. */
async function acted(
  view: AdminView,
  request: CommandRequest,
  act: StateAct,
  run: (follower: FollowerActs) => Promise<Fields | Failure | FollowRefusal>,
): Promise<Outcome> {
  const follower = view.follower();
  if (follower === undefined) return new Failure(FOLLOWS_NONE, 409);
  const outcome = await run(follower);
  const isRefused = outcome instanceof FollowRefusal || outcome instanceof Failure;
  audited(view, request, act, isRefused ? undefined : outcome);
  return outcome instanceof FollowRefusal ? refused(outcome) : outcome;
}

function refused({ reason, isForNow }: FollowRefusal): Failure {
  return isForNow ? notYet(reason) : new Failure(reason, 409);
}

function endFields({ zxid, chain, digestHigh, digestLow, nodeCount, sessionCount, since }: FollowEnd): Fields {
  return {
    zxid: formatZxid(zxid),
    chain: formatChain(chain),
    digest: formatChain(chainFromHalves(digestHigh, digestLow)),
    nodes: nodeCount,
    sessions: sessionCount,
    since_sync: sinceFields(since),
  };
}

function zxidOf(query: URLSearchParams): Zxid | Failure {
  const text = query.get("zxid");
  if (text === null) return new Failure("zxid is needed: the transaction behind which the following ends", 400);
  try {
    return parseZxid(text);
  } catch (error) {
    if (error instanceof RangeError) return new Failure(error.message, 400);
    throw error;
  }
}
