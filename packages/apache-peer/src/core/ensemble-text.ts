/** The servers of an ensemble, as the text in NEWLEADER lists them. */
export interface ListedServer {
  readonly sid: bigint;
  /** The host of the server's quorum port, without brackets. */
  readonly host: string;
  readonly quorumPort: number;
  readonly isVoter: boolean;
}

/** Servers that are read from one text. */
const SERVER_COUNT_MAX = 1000;
const LINE = /^server\.(-?\d{1,19})=(\[[^\]]{1,255}\]|[^:[\]]{1,255}):(\d{1,5})(.*)$/;

/**
 * Reads `server.1=host:2888:3888:participant;2181` lines; others are passed over, and of a server
 * with several addresses the first one counts.
 */
export function listedServers(text: string): readonly ListedServer[] {
  const servers: ListedServer[] = [];
  for (const line of text.split("\n")) {
    const [, sid, host, port, rest] = LINE.exec(line.trim()) ?? [];
    if (sid === undefined || host === undefined || port === undefined || rest === undefined) continue;
    const isVoter = !/:observer\b/.test(rest);
    servers.push({ sid: BigInt(sid), host: host.replace(/^\[|\]$/g, ""), quorumPort: Number(port), isVoter });
    if (servers.length === SERVER_COUNT_MAX) break;
  }
  return servers;
}

/** The highest number of a voter; undefined where the text lists none. */
export function highestVoter(servers: readonly ListedServer[]): bigint | undefined {
  let highest: bigint | undefined;
  for (const { sid, isVoter } of servers) if (isVoter && (highest === undefined || sid > highest)) highest = sid;
  return highest;
}
