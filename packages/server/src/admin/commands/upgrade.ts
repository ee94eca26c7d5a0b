import { setTimeout as delay } from "node:timers/promises";
import { assertNever, formatsAt, type LevelRange, OWN_LEVELS, readableFormats } from "@zooid/model";
import type { LevelBlocker, RaiseAnswer } from "@zooid/replica";
import type { MemberLevels } from "@zooid/zab";
import type { AdminView } from "../admin-view.ts";
import { requesterIdentities } from "../authorise.ts";
import { type CommandRequest, Failure, type Fields, leaderText, notYet, type Outcome } from "./command.ts";

/** Time until a quorum has the entry that raises the level, and this server has applied it. */
const COMMIT_MS = 10_000;
const POLL_MS = 20;

/**
 * The feature level with the formats that are written, and the versions of the members: the leader
 * alone knows those.
 */
export function upgradeStatus({ driver, config }: AdminView): Fields {
  const { replica } = driver;
  const { zab } = replica;
  const status = replica.levelStatus();
  const own = {
    level: zab.level,
    formats: { ...formatsAt(zab.level) },
    lowest_level: config.levels.lowest,
    highest_level: config.levels.highest,
  };
  const leader = {
    is_leader: replica.isLeading,
    leader_id: config.ensemble === undefined ? null : (zab.leader ?? null),
  };
  if (status === undefined)
    return { ...own, ...leader, next_level: null, next_formats: null, raising_level: null, members: null };
  const { highest, level, raising, members, blockers } = status;
  const blocking = new Map(blockers.map((blocker) => [blocker.sid, blocker]));
  return {
    ...own,
    ...leader,
    next_level: highest === level ? null : highest,
    next_formats: highest === level ? null : writtenAt(highest),
    raising_level: raising ?? null,
    members: members.map((member) => memberFields(member, blocking.get(member.sid))),
  };
}

function memberFields({ sid, isObserver, levels, version, isSynced }: MemberLevels, blocker?: LevelBlocker): Fields {
  return {
    server_id: sid,
    is_observer: isObserver,
    version: version ?? null,
    lowest_level: levels?.lowest ?? null,
    highest_level: levels?.highest ?? null,
    formats: levels === undefined ? null : readBy(levels),
    is_synced: isSynced,
    blocks: blocker?.reason ?? null,
  };
}

/** Null for a level of a later version: its formats are not known here. */
function writtenAt(level: number): Fields | null {
  return level > OWN_LEVELS.highest ? null : { ...formatsAt(level) };
}

/** The formats that a version reads and writes, as far as this one knows them. */
function readBy(levels: LevelRange): Fields | null {
  if (levels.highest > OWN_LEVELS.highest) return null;
  const { log, state, snapshot } = {
    log: readableFormats("log", levels),
    state: readableFormats("state", levels),
    snapshot: readableFormats("snapshot", levels),
  };
  return { log, state, snapshot };
}

/**
 * Raises the feature level to the highest one that each member knows; `dryRun` only checks. It
 * answers once the level is in force.
 */
export async function finalizeUpgrade(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { driver } = view;
  const isDryRun = request.query.get("dryRun") === "true";
  const answer = isDryRun
    ? driver.mayRaiseLevel()
    : view.raiseLevel({ identities: requesterIdentities(view, request), address: request.address });
  switch (answer.kind) {
    case "proposed":
      if (isDryRun) return { is_dry_run: true, level: answer.level, level_before: answer.from };
      return await inForce(view, answer);
    case "in-force":
      return { is_dry_run: isDryRun, level: answer.level, level_before: answer.level };
    case "under-way":
      return notYet(`level ${answer.level} is being raised already`);
    case "busy":
      return notYet("a large transaction is being prepared, or the members are being changed");
    case "blocked":
      return new Failure(`level ${answer.level} cannot be raised: ${answer.blockers.map(blockerText).join("; ")}`, 409);
    case "not-leading":
      return new Failure(
        `the leader raises the level, and this server does not lead${leaderText(driver.replica.zab.leader)}`,
        409,
      );
    default:
      return assertNever(answer);
  }
}

async function inForce(
  { driver }: AdminView,
  { level, from }: Extract<RaiseAnswer, { kind: "proposed" }>,
): Promise<Outcome> {
  const endMs = performance.now() + COMMIT_MS;
  while (driver.replica.zab.level < level) {
    if (performance.now() >= endMs || driver.isHalted) {
      return notYet(`level ${level} is proposed and not known to be in force yet: ask upgrade_status`);
    }
    await delay(POLL_MS, undefined, { ref: false });
  }
  return { is_dry_run: false, level, level_before: from };
}

function blockerText({ sid, isObserver, reason, version, levels }: LevelBlocker): string {
  const server = `${isObserver ? "observer" : "server"} ${sid}`;
  if (reason === "absent") return `${server} does not follow, so that its version is not known`;
  if (reason === "not-synced") return `${server} is not synchronized yet`;
  const known = levels === undefined ? "" : ` knows level ${levels.highest}`;
  return `${server}${version === undefined ? "" : `, of version ${version},`}${known}`;
}
