import { type Configuration, withRole } from "./configuration.ts";
import type { NamedServer } from "./member-change.ts";
import type { ServerId } from "./server-id.ts";

/**
 * The zoo.cfg with which a server starts that is to join. It lists itself without a vote: until the
 * ensemble has accepted it, it only follows.
 */
export function joinerSettings({ lines }: Configuration, { sid, value }: NamedServer): readonly string[] {
  const voterCount = [...lines.values()].filter((line) => !line.includes(":observer")).length;
  const all = new Map<ServerId, string>(lines).set(sid, withRole(value, "observer"));
  return [
    `# zoo.cfg of server ${sid}: an empty dataDir with a file myid that contains ${sid};`,
    "# times and security settings are those of the other servers",
    "tickTime=2000",
    "initLimit=10",
    "syncLimit=5",
    "dataDir=/var/lib/zookeeper",
    "reconfigEnabled=true",
    // Until it is added, the others are as many voters as its file lists.
    ...(voterCount < 2 ? ["standaloneEnabled=false"] : []),
    ...[...all].sort(([a], [b]) => a - b).map(([other, line]) => `server.${other}=${line}`),
  ];
}
