import { formatZxid, type Members } from "@zooid/model";
import type { ScenarioWorld } from "./world.ts";

type ScenarioMember = ScenarioWorld["members"][number];

/** The servers' roles and logs in a few lines: servers that are alike share one. */
export interface States {
  readonly roles: readonly string[];
  readonly logs: readonly string[];
  /** The configurations that running servers know, where they can change. */
  readonly members: readonly string[];
}

export function statesOf(world: ScenarioWorld): States {
  const members = world.members.filter(({ lives }) => lives > 0);
  const changing = members.filter(({ server }) => server?.replica.zab.members.isChangeable === true);
  return {
    roles: grouped(members, roleOf),
    logs: grouped(members, logOf),
    members: grouped(changing, membersOf),
  };
}

export function roleOf({ server }: ScenarioMember): string {
  if (server === undefined) return "down";
  const { state, epoch, leader } = server.replica.zab;
  const paused = server.isPaused ? ", paused" : "";
  if (!server.isServing) return `without a leader${paused}`;
  switch (state) {
    case "leading":
      return `leads epoch ${epoch}${paused}`;
    case "following":
      return `follows s${leader} in epoch ${epoch}${paused}`;
    case "observing":
      return `observes s${leader} in epoch ${epoch}${paused}`;
    default:
      return `${state}${paused}`;
  }
}

function logOf({ server, image }: ScenarioMember): string {
  if (server === undefined) {
    const { zxid } = image?.log.log.tail ?? { zxid: 0 };
    return zxid === 0 ? "nothing on disk" : `on disk to 0x${zxid.toString(16)}`;
  }
  const { tail } = server.disk.durable;
  const { applied } = server.replica.tree;
  if (tail.zxid === 0 && applied === 0) return "log empty";
  if (tail.zxid === applied) return `applied ${formatZxid(applied)}`;
  return `log to ${formatZxid(tail.zxid)}, applied ${applied === 0 ? "nothing" : formatZxid(applied)}`;
}

/** Those in force, and those that an entry of the log makes which is not known to be committed. */
function membersOf({ server }: ScenarioMember): string {
  const { committed, lastSeen, isChanging } = server?.replica.zab.members ?? {};
  const now = committed === undefined ? "" : namesOf(committed);
  return isChanging === true && lastSeen !== undefined ? `${now}; ${namesOf(lastSeen)} logged` : now;
}

/** `members s1 s2 s3, observers s4`. */
export function namesOf({ servers, verifier }: Members): string {
  const names = (isVoter: boolean): string =>
    servers
      .filter(({ sid }) => verifier.voters.has(sid) === isVoter)
      .map(({ sid }) => `s${sid}`)
      .join(" ");
  const observers = names(false);
  return observers === "" ? `members ${names(true)}` : `members ${names(true)}, observers ${observers}`;
}

function grouped(members: readonly ScenarioMember[], describe: (member: ScenarioMember) => string): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const member of members) {
    const text = describe(member);
    groups.set(text, [...(groups.get(text) ?? []), `s${member.sid}`]);
  }
  return [...groups].map(([text, names]) => `${names.join(" ")}: ${text}`);
}
