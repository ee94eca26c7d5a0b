import type { ElectionMessage, ServerId, Zxid } from "@zooid/model";
import type { ReplicaConfig, ReplicaLimits } from "@zooid/replica";
import type { KnownMembers, SnapshotPort, ZabLinks } from "@zooid/zab";
import type { SlicedAnswer } from "../admin/answer-slices.ts";
import type { AuthFailuresOptions } from "../clients/auth-failures.ts";
import type { ClientConnection, ConnectionLimits } from "../clients/client-connection.ts";
import type { ConnectionThrottleConfig } from "../clients/connection-throttle.ts";
import type { AuditTrail } from "../operators/audit-trail.ts";
import type { OperatorEvent } from "../operators/log-events.ts";
import type { RefusalLog } from "../operators/refusal-log.ts";
import type { SlowLog } from "../operators/slow-log.ts";

/** A zxid that the state file may be brought forward to, with the digest of the tree there. */
export interface Checkpoint {
  readonly zxid: Zxid;
  readonly digestHigh: number;
  readonly digestLow: number;
  /** Bytes of log since the last checkpoint. */
  readonly bytes: number;
  /** Data writes since the last checkpoint, see `CheckpointMark.dataWrites`. */
  readonly dataWrites?: Float64Array<ArrayBuffer>;
}

export interface DriverConfig {
  readonly replica: ReplicaConfig;
  readonly limits: ConnectionLimits;
  /** A connection that has no session after this time is closed. */
  readonly sessionlessTimeoutMs: number;
  readonly connectionThrottle: ConnectionThrottleConfig;
  /** How long the answer to a failed authentication is delayed. */
  readonly authFailures: AuthFailuresOptions;
  /**
   * Batches in the log that are not durable. Writes that arrive meanwhile go into the next batch.
   */
  readonly batchesInFlightMax: number;
  /** Bytes of prepared writes from which they are proposed before the end of the turn. */
  readonly batchBytes: number;
  /** Entries applied in one turn. */
  readonly deliverCountMax: number;
}

/** The limits that may change while a driver runs. */
export interface DriverLimits extends Pick<DriverConfig, "authFailures" | "connectionThrottle"> {
  readonly replica: ReplicaLimits;
}

export interface DriverHooks {
  /** Records the client of each write. */
  readonly audit?: AuditTrail;
  readonly refusals: RefusalLog;
  /** How many bytes a four-letter word takes, its argument included. */
  wordBytes(word: string): number;
  fourLetterWord(word: string, argument: Buffer, connection: ClientConnection): string | SlicedAnswer | undefined;
  /** The state file may be brought forward to this checkpoint. */
  checkpoint(checkpoint: Checkpoint): void;
  /** Whether the state file lags so far behind the log that proposals have to wait. */
  isBehind(): boolean;
  /** A received snapshot is installed: loads the tree from it. */
  install(): void;
  /** The replica's role, or its phase in it, changed. */
  roleChanged(): void;
  /** Gets slow requests, and each turn that was slow or had some. */
  readonly slow: SlowLog;
  /** For operators. */
  note(event: OperatorEvent): void;
  /** An invariant is false, or the replica threw: the server must stop. */
  defect(error: unknown): void;
}

/** The other servers, as the driver uses them; undefined where there are none. */
export interface Peers {
  readonly links: ZabLinks & { flush(): void };
  readonly snapshots: SnapshotPort;
  elect(to: ServerId, message: ElectionMessage): void;
  /** The ensemble's configuration changed, or begins to. */
  membersChanged(members: KnownMembers): void;
}
