import type { ServerSettings } from "../configuration/settings.ts";

/** The facts of an Apache ensemble that are seen from outside, before a move to Zooid. */
export interface ApacheFacts {
  readonly servers: readonly ApacheServerFacts[];
  /** Undefined where no server could be read. */
  readonly tree: ApacheTreeFacts | undefined;
  /** Numbers that the new servers are to have, as far as the operator has named them. */
  readonly newSids: readonly number[];
}

/** The answers of one of Apache's servers about itself. */
export interface ApacheServerFacts {
  /** As the operator named it. */
  readonly address: string;
  /** A sentence where it does not answer `srvr`. */
  readonly report: ApacheReport | string;
  readonly sid: number | undefined;
  /**
   * Its zoo.cfg, from the admin server. Undefined where that does not answer or is before 3.6, and
   * for a member of an ensemble: Apache's servers answer with null then.
   */
  readonly settings: ServerSettings | undefined;
  /** Java system properties, from the admin server. */
  readonly properties: ReadonlyMap<string, string> | undefined;
  readonly limits: ApacheLimits | undefined;
  /** Sessions of the clients that are connected to it. */
  readonly sessions: readonly ApacheSession[] | undefined;
  /** Local sessions that are open, from `mntr`. */
  readonly localSessions: number | undefined;
}

export interface ApacheReport {
  /** `3.9.5`; undefined for a server that does not say it. */
  readonly version: string | undefined;
  readonly isZooid: boolean;
  /** `leader`, `follower`, `observer`, `standalone`; undefined for a server without a role. */
  readonly mode: string | undefined;
  readonly epoch: number | undefined;
}

/** From `conf`, or from the admin server. */
export interface ApacheLimits {
  readonly tickMs: number;
  readonly timeoutMsMin: number;
  readonly timeoutMsMax: number;
  /** 0: no limit. */
  readonly connectionsPerAddressMax: number;
}

export interface ApacheSession {
  readonly id: bigint;
  /** The client's. */
  readonly address: string;
  readonly timeoutMs: number;
}

/** The properties of one server's nodes. */
export interface ApacheTreeFacts {
  /** The server that was read. */
  readonly address: string;
  readonly nodes: number;
  readonly dataBytes: number;
  readonly ephemerals: number;
  /** First bytes of the ids of sessions that own ephemeral nodes: the numbers of their servers. */
  readonly ownerBytes: ReadonlySet<number>;
  /** Sessions that own ephemeral nodes. */
  readonly owners: number;
  readonly longestData: ApachePlace;
  /** In bytes of UTF-8. */
  readonly longestPath: ApachePlace;
  /** The most names in a path. */
  readonly deepestPath: ApachePlace;
  readonly mostChildren: ApachePlace;
  /** Nodes by the schemes of their access lists, each with one of them. */
  readonly schemes: ReadonlyMap<string, ApachePlace>;
  /** Owners that only TTL nodes and containers have, shown by servers that do not know either. */
  readonly hiddenKinds: ApachePlace | undefined;
  /** Nodes that may not be read, with the first of them. The nodes below them are not counted. */
  readonly unread: ApachePlace | undefined;
  /** Server numbers in `/zookeeper/config`. */
  readonly members: readonly ApacheMember[];
  /**
   * Whether the servers take reconfigurations: only then their configuration has a version.
   * Undefined for a server alone.
   */
  readonly hasReconfig: boolean | undefined;
}

export interface ApacheMember {
  readonly sid: number;
  readonly isObserver: boolean;
}

/** A number, and the node that it is of. */
export interface ApachePlace {
  readonly count: number;
  readonly path: string;
}
