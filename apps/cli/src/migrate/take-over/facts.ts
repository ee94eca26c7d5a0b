import type { Zxid } from "@zooid/model";

/** A server of Apache's, as `--apache` names it. */
export interface ApacheServer {
  /** `host:port` for clients. */
  readonly address: string;
  /** Its number; undefined where neither its answers nor its name say it. */
  readonly sid: number | undefined;
  /** `leader`, `follower` or `observer`; undefined where it does not answer. */
  readonly mode: string | undefined;
  /** Why it does not answer. */
  readonly fault: string | undefined;
}

/** The follower, as its admin port shows it. */
export interface FollowerFacts {
  readonly state: string;
  readonly epoch: number;
  readonly zxid: Zxid;
  readonly lagTransactions: number;
  readonly digest: string;
  /** Numbers of Apache's voters; empty where they are not known. */
  readonly voters: readonly number[];
  /** Numbers of all servers of Apache's. */
  readonly sids: readonly number[];
  /** The lines `server.N=…` of those that the last change has removed. */
  readonly removed: readonly string[];
  /** Numbers of servers whose line names no port for clients. */
  readonly withoutClientPort: readonly number[];
  /** Whether voters have weights or groups: then a majority is no quorum. */
  readonly isWeighted: boolean;
}

/** A place in a history: equal ones have equal pasts, and equal trees. */
export interface HistoryPlace {
  readonly zxid: Zxid;
  readonly chain: string;
  readonly digest: string;
}

/** The end of what was followed. */
export interface FollowedEnd extends HistoryPlace {
  /** Requests of clients since the last SYNC, and those that are named. */
  readonly since: SyncFacts;
}

/** The transactions between a SYNC's answer and the one before it. */
export interface SyncFacts {
  readonly zxid: Zxid;
  /** The transaction of the answer before; undefined where it cannot be said. */
  readonly after: Zxid | undefined;
  readonly requests: number;
  readonly reconfigs: number;
  /** The sessions of the first requests. */
  readonly sessions: readonly string[];
}

/** A member of the new ensemble, as its admin port shows it. */
export interface MemberFacts {
  /** The origin of its admin port. */
  readonly name: string;
  /** Why it does not answer. */
  readonly fault: string | undefined;
  readonly isLeader: boolean;
  /** `closed-again`: it has served clients, and an operator has closed the ensemble to them. */
  readonly clients: "open" | "closed" | "closed-again" | undefined;
  readonly standby: HistoryPlace | undefined;
  readonly lastError: string | undefined;
  /** The state that has become its history. */
  readonly installed: { readonly epoch: number; readonly zxid: Zxid; readonly digest: string } | undefined;
}

/** Clients with a session that a server of Apache's has a connection of. */
export interface ConnectedClients {
  readonly address: string;
  /** Undefined where the server does not say it. */
  readonly count: number | undefined;
  /** One of them, or why nothing is known. */
  readonly text: string | undefined;
}

/** Ports of a server of Apache's. */
export interface ServerPorts {
  readonly address: string;
  readonly sid: number | undefined;
  /** Ports that a connection reaches. */
  readonly open: readonly string[];
  /** Ports that neither refuse nor take a connection: nothing is known. */
  readonly silent: readonly string[];
}

/** An operator's command at one server. */
export interface CommandResult {
  readonly address: string;
  /** Undefined where it has ended with status 0. */
  readonly fault: string | undefined;
}

/** The end of Apache's logs, as a quorum's disks have it. */
export interface DiskFacts {
  /** Numbers of the voters whose directories were read. */
  readonly count: number;
  readonly highestZxid: Zxid;
  /** The directory that has it. */
  readonly directory: string;
  /** The highest epoch that was accepted. */
  readonly epoch: number;
}
