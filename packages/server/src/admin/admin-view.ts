import type { ServerId } from "@zooid/model";
import type { ServerConfig } from "../config.ts";
import type { Driver } from "../driver/driver.ts";
import type { Reachability } from "../peers/reachability.ts";
import type { Metric } from "./metric.ts";
import type { SnapshotDesk } from "./snapshot-desk.ts";

/** What operators may ask of a running server, whatever way they ask: four-letter words, HTTP, metrics. */
export interface AdminView {
  readonly driver: Driver;
  readonly config: ServerConfig;
  readonly version: string;
  readonly startedAtMs: number;
  /** The port that is bound. */
  clientPort(): number;
  /** The bound port for TLS alone, if there is one. */
  securePort(): number | undefined;
  /** TLS handshakes of clients that are under way. */
  handshakeCount(): number;
  /** Connections that were refused for being too many. */
  rejectedCount(): number;
  /** Bytes of state files and of the log. */
  diskUsage(): { readonly dataBytes: number; readonly logBytes: number };
  /** The newest state that is on disk whole, and when it was written, in seconds; undefined where everything is in memory. */
  lastState(): { readonly zxid: number; readonly writtenAtSeconds: number } | undefined;
  /** Which other servers this one is connected to; undefined of a server alone. */
  reachability(): Reachability | undefined;
  /** The observers that reach their leader by this server. */
  relayedObservers(): readonly ServerId[];
  /** Syncs of the log that took longer than `fsync.warningthresholdms`. */
  slowSyncCount(): number;
  /** States that were sent whole to learners that lacked too much. */
  snapshotCount(): number;
  /** States that operators take away or bring. */
  readonly snapshots: SnapshotDesk;
  /** Whether the disk takes no more. */
  isStorageFull(): boolean;
  /** Where the admin port's commands begin, without a slash behind it. */
  readonly commandUrl: string;
  /** The text of the configuration file, if there was one. */
  readonly initialConfiguration: string;
  /** The four-letter words that are answered; a reload replaces them. */
  readonly fourLetterWords: { allowed: ReadonlySet<string> };
  /** What Apache logs more of by; kept and told, and nothing else. */
  readonly traceMask: { value: bigint };
  /** How the log and the state file stand. */
  storageMetrics(): Iterable<Metric>;
}

/** What is answered where a server has no role in which it could serve. */
export const NOT_SERVING = "This ZooKeeper instance is not currently serving requests";

/** A server of an ensemble that has no role takes connections all the same, and serves none. */
export function isServing({ driver }: AdminView): boolean {
  return driver.isServing && (driver.replica.isServing || driver.replica.isReadOnly);
}

export type Mode = "standalone" | "leader" | "follower" | "observer" | "read-only";

/** The server's role, as tools know it. */
export function modeOf({ driver, config }: AdminView): Mode {
  if (config.ensemble === undefined) return "standalone";
  if (driver.replica.isReadOnly) return "read-only";
  switch (driver.replica.zab.state) {
    case "leading":
      return "leader";
    case "observing":
      return "observer";
    default:
      return "follower";
  }
}

/** `following - broadcast`: the role and how far it has come. */
export function peerState({ driver }: AdminView): string {
  const { state, phase } = driver.replica.zab;
  return phase === "election" ? state : `${state} - ${phase}`;
}

/** Begins the counts of the server, or of its connections, anew. */
export function resetServer({ driver }: AdminView): void {
  driver.replica.resetCounters();
  driver.traffic.reset();
  driver.roleTimes.resetCounts();
  driver.fanOut.reset();
}

export function resetConnections({ driver }: AdminView): void {
  for (const connection of driver.replica.connections()) connection.stats.reset();
}
