import type { Zxid } from "@zooid/model";
import type { Observable } from "rxjs";
import type { AuditRecord } from "./audit-trail.ts";
import type { Change } from "./change-stream.ts";
import type { ServerOptions } from "./config.ts";

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
  /** Makes durable and answers what was read, and closes everything. */
  stop(): Promise<void>;
}

export interface StorageStatus {
  readonly logBytes: number;
  readonly stateBytes: number;
  readonly appliedZxid: Zxid;
}
