/** The seen and the unseen facts of an Apache ensemble, as lines for people. */
import { counted, found as shown } from "@zooid/model";
import { bytesText } from "../figures.ts";
import type { ApacheFacts, ApachePlace, ApacheServerFacts } from "./apache-facts.ts";
import { takenNumbers } from "./joining.ts";
import { APACHE_SETTINGS, type ApacheSetting, isOn, isSeen, nameOf, settingValue } from "./seen-setting.ts";

/** Each line begins with its subject. */
export function apacheSummary(facts: ApacheFacts): readonly string[] {
  const { servers, tree } = facts;
  const lines = servers.map(serverLine);
  const sessions = servers.flatMap((server) => server.sessions ?? []);
  if (servers.some((server) => server.sessions !== undefined)) {
    const shortest = Math.min(...sessions.map(({ timeoutMs }) => timeoutMs));
    const timeout = sessions.length === 0 ? "" : `, the shortest timeout is ${shortest} ms`;
    lines.push(`sessions: ${sessions.length} with a connection${timeout}`);
  }
  if (tree !== undefined) {
    const place = ({ count, path }: ApachePlace): string => `${count} at ${shown(path)}`;
    const schemes = [...tree.schemes].map(([scheme, { count }]) => `${shown(scheme)} ${count}`);
    lines.push(
      `nodes: ${tree.nodes} with ${bytesText(tree.dataBytes)} of data, read from ${tree.address}`,
      `ephemeral nodes: ${tree.ephemerals} of ${counted(tree.owners, "session")}`,
      `longest data: ${place(tree.longestData)}; longest path: ${place(tree.longestPath)}; most children: ${place(tree.mostChildren)}`,
      `access lists by scheme: ${schemes.length === 0 ? "none" : schemes.join(", ")}`,
    );
  }
  const taken = takenNumbers(facts);
  if (taken.length > 0) lines.push(`session ids begin with: ${taken.join(", ")}; new servers need other numbers`);
  lines.push(`ways to fence: ${fences(facts).join("; ")}`);
  const master = servers.find((server) => settingValue(server, APACHE_SETTINGS.observerMasters) !== undefined);
  if (master !== undefined) {
    const port = settingValue(master, APACHE_SETTINGS.observerMasters);
    lines.push(`to follow: observerMasterPort=${port} of a follower, which spares the leader`);
  }
  return lines;
}

function serverLine({ address, report, sid }: ApacheServerFacts): string {
  if (typeof report === "string") return `${address}: ${report}`;
  const number = sid === undefined ? "" : `server ${sid}, `;
  const program = report.isZooid ? "Zooid, speaking " : "Apache ZooKeeper ";
  return `${address}: ${number}${program}${report.version ?? "of an unknown version"}, ${report.mode ?? "without a role"}`;
}

/** How the old servers can be kept from ever serving again. */
function fences({ servers, tree }: ApacheFacts): readonly string[] {
  const { reconfig, standalone } = APACHE_SETTINGS;
  const seen = servers.filter((server) => isSeen(server, reconfig));
  const isReady = seen.length > 0 && seen.every((server) => isOn(server, reconfig) && isOffAt(server, standalone));
  const alone = "a reconfiguration to the leader alone, whose process is then stopped";
  const isPossible = seen.length === 0 && tree?.hasReconfig === true;
  return [
    ...(isReady ? [alone] : []),
    ...(isPossible ? [`${alone}, if standaloneEnabled=false is set`] : []),
    "a command that stops every voter for good",
  ];
}

function isOffAt(server: ApacheServerFacts, setting: ApacheSetting): boolean {
  return settingValue(server, setting)?.trim().toLowerCase() === "false";
}

/** Facts that are not seen from outside, with the line of zoo.cfg that has them. */
export function apacheUnseen({ servers, tree }: ApacheFacts): readonly string[] {
  const lines: string[] = [];
  for (const server of servers) {
    const { address, report } = server;
    if (typeof report === "string" || report.isZooid) continue;
    const unseen = Object.values(APACHE_SETTINGS).filter(
      (setting) =>
        !isSeen(server, setting) && !(setting === APACHE_SETTINGS.reconfig && tree?.hasReconfig !== undefined),
    );
    if (unseen.length > 0) {
      lines.push(`settings of ${address}: look at ${unseen.map(nameOf).join(", ")} in its zoo.cfg and its Java flags`);
    }
    if (server.limits === undefined) {
      lines.push(
        `limits of ${address}: look at tickTime, minSessionTimeout, maxSessionTimeout and maxClientCnxns in its zoo.cfg`,
      );
    }
    if (server.sessions === undefined) {
      lines.push(
        `timeouts of the sessions at ${address}: add cons to 4lw.commands.whitelist in its zoo.cfg, or start its admin server`,
      );
    }
  }
  if (tree === undefined) lines.push("nodes: no server could be read");
  return lines;
}
