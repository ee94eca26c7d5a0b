import type { DiskRoom, Members, ServerId, Zxid } from "@zooid/model";
import type { Observable } from "rxjs";
import type { AdminReport } from "./admin/client-reports.ts";
import type { Report } from "./admin/four-letter-words.ts";
import type { AdminApplication } from "./admin/http-port.ts";
import type { ServerOptions } from "./config.ts";
import type { AuditRecord } from "./operators/audit-trail.ts";
import type { Change } from "./operators/change-stream.ts";
import type { LogEvent } from "./operators/log-events.ts";
import type { LogFields } from "./operators/log-fields.ts";
import type { LogLevel } from "./operators/log-level.ts";
import type { UnreachablePeer } from "./peers/reachability.ts";
import type { ReloadAnswer, ReloadMode, ReloadResult } from "./reload-result.ts";

/** Receives log lines for operators: each is one sentence, with its parts as fields. */
export interface ServerLog<Event extends string = LogEvent> {
  /** An operator may read and change it on the admin port. Default: it cannot be changed there. */
  level?: LogLevel;
  /** The newest lines, the oldest first, for the admin port. Default: none. */
  recent?(): readonly string[];
  debug?(text: string, fields: LogFields<Event>): void;
  info(text: string, fields: LogFields<Event>): void;
  warn(text: string, fields: LogFields<Event>): void;
  error(text: string, fields: LogFields<Event>): void;
}

export interface StartOptions extends ServerOptions {
  /** Default: silent. */
  readonly log?: ServerLog;
  /** Our own version in `srvr`. */
  readonly version?: string;
  /**
   * Called once when the server has failed: of its storage, or of an invariant. It has stopped
   * serving.
   */
  readonly onFailure?: (error: unknown) => void;
  /** Answers further paths of the admin port, such as a console's. */
  readonly adminApplication?: AdminApplication;
  /**
   * Work before clients are served, such as loading the modules of `adminApplication`: a process
   * that serves clients should have no longer turns of its event loop. Default none.
   */
  readonly beforeServing?: Promise<unknown>;
  /**
   * Reads the configuration of the process again, for an operator at an address. Default: the admin
   * port has no such command.
   */
  readonly reload?: (request: { readonly isDryRun: boolean; readonly address: string }) => ReloadAnswer;
  /**
   * Whether a server that follows an Apache ensemble serves reads at a socket in the file system,
   * for this process: its client port is closed. Default false.
   */
  readonly readDoor?: boolean;
}

/** A server's role in its ensemble; `looking`: it has no role yet and serves no clients. */
export type Role = "starting" | "looking" | "read-only" | "leading" | "following" | "observing" | "stopped";

/** A running server. Disposing of it stops it; stopping twice is harmless. */
export interface ZooidServer extends AsyncDisposable {
  /** The port that clients connect to; the TLS port if there is no other. */
  readonly port: number;
  /** The port for TLS clients, if there is one. */
  readonly securePort: number | undefined;
  readonly address: string;
  /** `host:port`, as a connect string. */
  readonly connectString: string;
  /**
   * The socket in the file system where a server that follows an Apache ensemble, and was started
   * with `readDoor`, serves reads to this user's processes; else undefined.
   */
  readonly readPath: string | undefined;
  /** The port for operators; undefined where none is configured, or it could not be bound. */
  readonly adminPort: number | undefined;
  /** The port for metrics alone; undefined as above. */
  readonly metricsPort: number | undefined;
  /** The result of the recovery at the start, as a log line. */
  readonly recovered: string;
  /** The committed changes of each turn. Completes when the server stops. */
  readonly changes$: Observable<readonly Change[]>;
  /**
   * The writes of this server's own clients, with requester and result. Completes when the server
   * stops.
   */
  readonly audit$: Observable<readonly AuditRecord[]>;
  readonly role$: Observable<Role>;
  /**
   * The ensemble's configuration in force; undefined until the ensemble has agreed on one.
   */
  readonly members$: Observable<Members | undefined>;
  /** The number of sessions, about once a second if it changed. */
  readonly sessions$: Observable<number>;
  /** The sizes of log and state file, about once a second. */
  readonly storage$: Observable<StorageStatus>;
  /** The server's current state, for a log line or a page. */
  readonly summary: ServerSummary;
  /**
   * The text of a four-letter word, whatever the whitelist, for other parts of this process; empty
   * before the data is recovered.
   */
  report(report: Report): Promise<string>;
  /**
   * The fields of an admin command that only reads, for other parts of this process: it asks for no
   * credentials, so its caller judges the rights of the requester. A field `error` has the reason
   * where there are none.
   */
  adminReport(
    report: AdminReport,
    query?: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Reads the certificates of the ports for clients, peers and operators again, for new
   * connections. Options are checked as a start checks them, and those apply that can change in a
   * running server: limits, thresholds, what the log keeps, the four-letter words, secrets,
   * certificates and modes of the links between servers (in `ensemble`; without it they stay), and
   * the files of the admin port's certificate. All of it happens, or nothing.
   */
  reload(options?: ServerOptions, mode?: ReloadMode): ReloadResult;
  /** Answers the requests that were read, makes them durable, and closes everything. */
  stop(): Promise<void>;
}

export interface ServerSummary {
  readonly role: Role;
  /** 0 while the server has no role. */
  readonly epoch: number;
  /** Undefined while none is known, and for a standalone server. */
  readonly leader: ServerId | undefined;
  readonly appliedZxid: Zxid;
  readonly connectionCount: number;
  readonly sessionCount: number;
  readonly znodeCount: number;
  readonly watchCount: number;
  /** Writes and syncs that were read and not answered. */
  readonly outstandingCount: number;
  /** On the server's disk, for writes. */
  readonly room: DiskRoom;
  /** Other members without an election connection to this one. */
  readonly unreachablePeers: readonly UnreachablePeer[];
}

export interface StorageStatus {
  readonly logBytes: number;
  readonly stateBytes: number;
  readonly appliedZxid: Zxid;
}
