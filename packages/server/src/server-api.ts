import type { ServerId, Zxid } from "@zooid/model";
import type { Observable } from "rxjs";
import type { AuditRecord } from "./audit-trail.ts";
import type { Change } from "./change-stream.ts";
import type { ServerOptions } from "./config.ts";
import type { UnreachablePeer } from "./peers/reachability.ts";

/** Receives log lines for operators, each one sentence. */
export interface ServerLog {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export interface StartOptions extends ServerOptions {
  /** Default: silent. */
  readonly log?: ServerLog;
  /** What `srvr` shows as our own version. */
  readonly version?: string;
  /** Called once when the server cannot go on: storage failed, or an invariant was false. It has stopped serving. */
  readonly onFailure?: (error: unknown) => void;
}

/** A server's role in its ensemble; `looking` is one that has no role yet and serves no clients. */
export type Role = "starting" | "looking" | "read-only" | "leading" | "following" | "observing" | "stopped";

/** A running server. Disposing of it stops it; stopping twice is harmless. */
export interface ZooidServer extends AsyncDisposable {
  /** The port that clients connect to; the TLS port where there is no other. */
  readonly port: number;
  /** The port for clients that speak TLS, if there is one. */
  readonly securePort: number | undefined;
  readonly address: string;
  /** `host:port`, as clients take it. */
  readonly connectString: string;
  /** The port for operators; undefined where none is configured, or it could not be bound. */
  readonly adminPort: number | undefined;
  /** The port for metrics alone; undefined as above. */
  readonly metricsPort: number | undefined;
  /** What the data directory held at the start, in words for a log line. */
  readonly recovered: string;
  /** The committed changes of each turn. Completes when the server stops. */
  readonly changes$: Observable<readonly Change[]>;
  /** The writes of this server's own clients, with requester and result. Completes when the server stops. */
  readonly audit$: Observable<readonly AuditRecord[]>;
  readonly role$: Observable<Role>;
  /** How many sessions there are, about once a second if that changed. */
  readonly sessions$: Observable<number>;
  /** The sizes of log and state file, about once a second. */
  readonly storage$: Observable<StorageStatus>;
  /** How the server stands now, for a log line or a page. */
  readonly summary: ServerSummary;
  /** Reads the certificates of clients' and peers' ports again, for new connections, and replaces what is named. */
  reload(options?: ReloadOptions): void;
  /** Makes durable and answers what was read, and closes everything. */
  stop(): Promise<void>;
}

/** What can change while a server runs. */
export interface ReloadOptions {
  /** Four-letter words that are answered, as in {@link ServerOptions}. Default: as before. */
  readonly fourLetterWords?: string;
}

export interface ServerSummary {
  readonly role: Role;
  /** 0 while the server has no role. */
  readonly epoch: number;
  /** Undefined while none is known, and of a server alone. */
  readonly leader: ServerId | undefined;
  readonly appliedZxid: Zxid;
  readonly connectionCount: number;
  readonly sessionCount: number;
  readonly znodeCount: number;
  readonly watchCount: number;
  /** Writes and syncs that are read and not answered. */
  readonly outstandingCount: number;
  /** Other members without an election connection to this one. */
  readonly unreachablePeers: readonly UnreachablePeer[];
}

export interface StorageStatus {
  readonly logBytes: number;
  readonly stateBytes: number;
  readonly appliedZxid: Zxid;
}
