import { readServerVersion, serverVersionText } from "@zooid/model";

/** The answer to `srvr`, as numbers. Fields that a server does not print are undefined. */
export interface ServerReport {
  readonly mode: string;
  /** `0x` and hexadecimal digits. */
  readonly zxid: string | undefined;
  /** ZooKeeper's version, whose protocol the server speaks. */
  readonly version: string | undefined;
  /** Zooid's own; undefined for other servers. */
  readonly zooidVersion: string | undefined;
  readonly latencyMs: { readonly min: number; readonly avg: number; readonly max: number } | undefined;
  readonly connections: number | undefined;
  readonly outstanding: number | undefined;
  readonly nodes: number | undefined;
  /** Servers that follow this leader although the list in force does not have them. */
  readonly unlisted: readonly number[];
}

/** @returns undefined if the server has no role, or does not answer the word */
export function parseServerReport(text: string): ServerReport | undefined {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
  const number = (name: string): number | undefined => {
    const value = field(name);
    return value === undefined ? undefined : Number(value);
  };
  const mode = field("Mode");
  if (mode === undefined) return undefined;
  const version = readServerVersion(field("Zookeeper version") ?? "");
  const [min, avg, max] = (field("Latency min/avg/max") ?? "").split("/").map(Number);
  return {
    mode,
    zxid: field("Zxid"),
    version: version?.protocol,
    zooidVersion: version?.zooid,
    latencyMs: min === undefined || avg === undefined || max === undefined ? undefined : { min, avg, max },
    connections: number("Connections"),
    outstanding: number("Outstanding"),
    nodes: number("Node count"),
    unlisted: field("Unlisted")?.split(", ").map(Number) ?? [],
  };
}

/** The versions of a server as a cell of a table: `zooid 0.1.0 (3.9.5)`, `3.9.5`, or `?`. */
export function versionCell({ version, zooidVersion }: Pick<ServerReport, "version" | "zooidVersion">): string {
  if (version === undefined) return "?";
  return serverVersionText({ protocol: version, ...(zooidVersion === undefined ? {} : { zooid: zooidVersion }) });
}
