import { readServerVersion, serverVersionText } from "@zooid/model";

/** The answer to the four-letter word `srvr`, which every ZooKeeper server answers by default. */
export interface ServerFigures {
  /** The server's version; a Zooid server has its own and the protocol's: `zooid 0.1.0 (3.9.5)`. */
  readonly version: string;
  readonly role: string;
  /** As text, `0x…`. */
  readonly zxid: string;
  readonly latencyMs: { readonly min: number; readonly average: number; readonly max: number };
  readonly received: number;
  readonly sent: number;
  readonly connections: number;
  readonly outstanding: number;
  readonly nodeCount: number;
}

/** Undefined for another text, such as that of a server that does not serve. */
export function parseSrvr(text: string): ServerFigures | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const latency = /^([\d.]+)\/([\d.]+)\/([\d.]+)$/.exec(fields.get("Latency min/avg/max") ?? "");
  const zxid = fields.get("Zxid");
  const role = fields.get("Mode");
  if (latency === null || zxid === undefined || role === undefined || !/^0x[0-9a-f]+$/.test(zxid)) return undefined;
  const count = (name: string): number => Number(fields.get(name) ?? 0);
  return {
    version: versionIn(fields.get("Zookeeper version") ?? ""),
    role,
    zxid,
    latencyMs: { min: Number(latency[1]), average: Number(latency[2]), max: Number(latency[3]) },
    received: count("Received"),
    sent: count("Sent"),
    connections: count("Connections"),
    outstanding: count("Outstanding"),
    nodeCount: count("Node count"),
  };
}

/** Without the build's date and commit, which are of no use here. */
function versionIn(line: string): string {
  const version = readServerVersion(line);
  return version === undefined ? "" : serverVersionText(version);
}
