import { formatZxid } from "@zooid/model";
import type { ScenarioWorld } from "./world.ts";

type ScenarioMember = ScenarioWorld["members"][number];

/** The servers' roles and logs in a few lines: servers that are alike share one. */
export interface States {
  readonly roles: readonly string[];
  readonly logs: readonly string[];
}

export function statesOf(world: ScenarioWorld): States {
  const members = world.members.filter(({ lives }) => lives > 0);
  return { roles: grouped(members, roleOf), logs: grouped(members, logOf) };
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

function grouped(members: readonly ScenarioMember[], describe: (member: ScenarioMember) => string): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const member of members) {
    const text = describe(member);
    groups.set(text, [...(groups.get(text) ?? []), `s${member.sid}`]);
  }
  return [...groups].map(([text, names]) => `${names.join(" ")}: ${text}`);
}
