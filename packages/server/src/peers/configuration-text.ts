import type { EnsembleServer, QuorumPeerConfig } from "./ensemble-config.ts";

/**
 * The ensemble as `/zookeeper/config` shows it to clients, in the form of Apache's dynamic
 * configuration files. An ensemble cannot be changed at runtime, so its version is 0.
 */
export function configurationText({ servers }: Pick<QuorumPeerConfig, "servers">): string {
  const lines = servers.map((server) => `server.${server.sid}=${serverText(server)}`);
  const grouped = servers.filter(({ group }) => group !== undefined);
  const groups = Map.groupBy(grouped, ({ group }) => group ?? 0);
  for (const [group, members] of [...groups].sort(([a], [b]) => a - b)) {
    lines.push(`group.${group}=${members.map(({ sid }) => sid).join(":")}`);
  }
  for (const { sid, weight } of grouped) lines.push(`weight.${sid}=${weight}`);
  return [...lines, "version=0"].join("\n");
}

function serverText({ host, quorumPort, electionPort, isObserver, clientAddress }: EnsembleServer): string {
  const peers = `${bracketed(host)}:${quorumPort}:${electionPort}:${isObserver ? "observer" : "participant"}`;
  if (clientAddress === undefined) return peers;
  return `${peers};${bracketed(clientAddress.host ?? "0.0.0.0")}:${clientAddress.port}`;
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
