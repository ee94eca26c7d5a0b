import type { Zxid } from "@zooid/model";
import type { PortState } from "../tcp-port.ts";

/** A server of the ensemble that is left, as its admin port shows it. */
export interface MemberFacts {
  /** The origin of its admin port. */
  readonly name: string;
  /** Why it does not answer; then nothing else is known. */
  readonly fault: string | undefined;
  readonly sid: number | undefined;
  /** Whether it leads, or has a leader, and is synchronized. */
  readonly isServing: boolean;
  readonly isLeader: boolean;
  /** The numbers of the ensemble's servers; undefined for a server without an ensemble. */
  readonly sids: readonly number[] | undefined;
  readonly clients: "open" | "closed" | "closed-again";
  /** The change that has closed the ensemble to clients; undefined while it serves them. */
  readonly closedAt: Zxid | undefined;
  readonly zxid: Zxid;
  /** Connections of clients. */
  readonly connections: number;
  readonly sessions: number;
  /** Sessions that Apache's servers can continue. */
  readonly keptSessions: number;
  /** The first epoch that Apache may be given; undefined where none is left. */
  readonly apacheEpoch: number | undefined;
  /** Why none, or few, are left. */
  readonly apacheEpochNote: string | undefined;
}

/** A server of Apache's, by its port for clients. */
export interface ApachePort {
  readonly address: string;
  readonly state: PortState;
}

/** The content of an export, as its file says it. */
export interface ExportRecord {
  /** The change that had closed the ensemble to clients. */
  readonly closedAt: Zxid;
  /** The epoch that Apache's servers begin behind. */
  readonly epoch: number;
  /** Where Apache's history begins. */
  readonly zxid: Zxid;
  readonly nodes: number;
  readonly ephemeralsRemoved: number;
  readonly sessionsKept: number;
  readonly sessionsEnded: number;
  /** The shortest timeout of the sessions that are kept; 0 where there is none. */
  readonly shortestTimeoutMs: number;
  readonly ttlNodes: number;
  readonly dataBytesMax: number;
}

/** The directory that gets the export. */
export type DirectoryFacts =
  | { readonly kind: "free" }
  /** It has a whole export. */
  | { readonly kind: "exported"; readonly record: ExportRecord }
  | { readonly kind: "unusable"; readonly text: string };
