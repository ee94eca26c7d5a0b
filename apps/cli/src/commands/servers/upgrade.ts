import { ADMIN_FLAGS, adminBase, demandAdmin, demandAdminWaiting, shownFields } from "../../admin-port.ts";
import { usageError } from "../../cli-error.ts";
import { type Command, FLAG_TIMEOUT, type Invocation, operand, timeoutMs } from "../../command.ts";
import type { Json, JsonObject } from "../../output.ts";
import { tableLines } from "../../texts/table.ts";

const COLUMNS = ["SERVER", "ROLE", "VERSION", "LEVELS", "FORMATS", "STATE"].map((title) => ({ title }));

/** `upgrade status` and `upgrade finalize`, asked of the leader. */
export const upgrade: Command = {
  name: "upgrade",
  synopsis: "status|finalize [--dry-run] [--wait] [--timeout ms] [--admin url] [--auth credentials]",
  flags: [
    ...ADMIN_FLAGS,
    { name: "dry-run", isOwn: true, meaning: "finalize: checks whether the level can be raised only" },
    { name: "wait", isOwn: true, meaning: "finalize: waits while the leader refuses for now" },
    FLAG_TIMEOUT,
  ],
  summary:
    "Shows the feature level, and the version and levels of each member; or raises the level once every member is " +
    "upgraded, by the leader's admin port. A level is never lowered: earlier versions cannot be members afterwards.",
  operandsMin: 1,
  operandsMax: 1,
  kind: "offline",
  async run(invocation) {
    const verb = operand(invocation, 0);
    const { flags } = invocation;
    if (verb === "status") {
      for (const name of ["dry-run", "wait", "timeout"]) {
        if (flags.has(name)) throw usageError(`--${name} is for upgrade finalize`);
      }
      return await status(invocation);
    }
    if (verb !== "finalize") throw usageError(`upgrade takes status or finalize, found ${JSON.stringify(verb)}`);
    if (timeoutMs(flags) !== undefined && !flags.has("wait")) {
      throw usageError("--timeout is for --wait: finalize without it does not wait");
    }
    return await finalize(invocation);
  },
};

async function status(invocation: Invocation): Promise<JsonObject> {
  const { output } = invocation;
  const found = await demandAdmin(invocation, "upgrade_status", "GET");
  const { level, next_level: next, raising_level: raising, highest_level: highest, leader_id: leader } = found;
  const members = membersOf(found["members"]);
  if (members === undefined) {
    output.line(`feature level ${level}; this server knows levels up to ${highest}`);
    const who = leader === null ? "the leader" : `server ${leader}, which leads,`;
    output.line(`${who} knows the versions of all members: name its admin port with --admin`);
    return shownFields(found);
  }
  output.lines(tableLines(COLUMNS, members.map(cellsOf)));
  output.line(`written at level ${level}: ${formatsText(found["formats"])}`);
  if (next !== null) output.line(`written at level ${next}: ${formatsText(found["next_formats"])}`);
  const blockers = members.filter(({ blocks }) => blocks !== null);
  if (raising !== null) output.line(`feature level ${level}; level ${raising} is being raised`);
  else if (next === null) output.line(`feature level ${level}, the highest that the members know: nothing to raise`);
  else if (blockers.length === 0) {
    output.line(
      `feature level ${level}; level ${next} can be raised, and versions that do not know it cannot come back`,
    );
    output.line(`next: zooid-cli upgrade finalize${adminText(invocation)}`);
  } else {
    output.line(`feature level ${level}; level ${next} waits for ${blockers.map(waitText).join(", ")}`);
    const again = `zooid-cli upgrade status${adminText(invocation)}`;
    for (const blocker of blockers) output.line(`next: ${remedyOf(blocker, { level: next ?? null, again })}`);
  }
  return shownFields(found);
}

async function finalize(invocation: Invocation): Promise<JsonObject> {
  const { output, flags } = invocation;
  const isDryRun = flags.has("dry-run");
  const fields = await demandAdminWaiting(invocation, `finalize_upgrade${isDryRun ? "?dryRun=true" : ""}`);
  const { level, level_before: before } = fields;
  if (level === before) output.line(`feature level ${level} is in force: nothing to raise`);
  else if (isDryRun) output.line(`level ${before} can be raised to ${level}`);
  else output.line(`feature level ${level} is in force, was ${before}`);
  if (isDryRun) output.line("nothing is changed: --dry-run");
  return { level: level ?? null, levelBefore: before ?? null, ...(isDryRun ? { dryRun: true } : {}) };
}

type Member = Readonly<Record<string, Json>> & { readonly blocks: Json };

function membersOf(value: Json | undefined): readonly Member[] | undefined {
  return Array.isArray(value) ? (value as readonly Member[]) : undefined;
}

function cellsOf(member: Member): readonly string[] {
  const { server_id: sid, is_observer: isObserver, version, lowest_level: lowest, highest_level: highest } = member;
  const levels = highest === null ? "?" : lowest === highest ? `${highest}` : `${lowest} to ${highest}`;
  const role = isObserver === true ? "observer" : "voter";
  return [`${sid}`, role, `${version ?? "?"}`, levels, formatsText(member["formats"]), stateOf(member)];
}

/**
 * `log 3 or 4, state 3 or 4, snapshot 1`; `?` where the server that is asked does not know them.
 */
function formatsText(formats: Json | undefined): string {
  if (typeof formats !== "object" || formats === null) return "?";
  const text = (numbers: Json | undefined): string => (Array.isArray(numbers) ? numbers.join(" or ") : `${numbers}`);
  return Object.entries(formats)
    .map(([kind, numbers]) => `${kind} ${text(numbers)}`)
    .join(", ");
}

function stateOf({ blocks, is_synced: isSynced, highest_level: highest }: Member): string {
  if (highest === null) return "does not follow";
  if (isSynced !== true) return "not synchronized";
  return blocks === "older" ? "to be upgraded" : "ready";
}

function waitText(member: Member): string {
  return `${member["is_observer"] === true ? "observer" : "server"} ${member["server_id"]} (${stateOf(member)})`;
}

/** Names the port that was asked, so that the next command asks it too. */
function adminText(invocation: Invocation): string {
  return ` --admin ${adminBase(invocation).href.replace(/\/$/, "")}`;
}

/** The act that ends a member's wait, as a command where it is one. */
function remedyOf(member: Member, { level, again }: { readonly level: Json; readonly again: string }): string {
  const server = `${member["is_observer"] === true ? "observer" : "server"} ${member["server_id"]}`;
  const state = stateOf(member);
  if (state === "to be upgraded") return `restart ${server} with a version that knows level ${level}`;
  if (state === "does not follow") return `start ${server}, or zooid-cli member remove ${member["server_id"]}`;
  return `wait until ${server} has the history, then ${again}`;
}
