import type { Replica, ReplicaTools } from "@zooid/replica";
import type { StoreLog } from "@zooid/txn-log";
import type { BufferPool } from "@zooid/wire";
import type { AuthFailures } from "../clients/auth-failures.ts";
import type { ClientConnection } from "../clients/client-connection.ts";
import type { ConnectionThrottle } from "../clients/connection-throttle.ts";
import type { Traffic } from "../clients/traffic.ts";
import type { WatchFanOut } from "../clients/watch-fan-out.ts";
import type { ChangeRecorder } from "../operators/change-stream.ts";
import type { RoleTimes } from "../operators/role-times.ts";
import type { ClosingQueue } from "./closing-queue.ts";
import type { DriverConfig, DriverHooks, Peers } from "./driver-config.ts";
import type { FlushQueue } from "./flush-queue.ts";
import type { PollRounds } from "./poll-rounds.ts";
import type { ReadTurns } from "./read-turns.ts";

/** The inputs of a driver; a standalone server without streams has none of the optional ones. */
export interface DriverOptions {
  readonly config: DriverConfig;
  readonly log: StoreLog;
  readonly tools: ReplicaTools;
  readonly hooks: DriverHooks;
  readonly recorder: ChangeRecorder | undefined;
  readonly peers: Peers | undefined;
}

/** The parts of a driver that use no others. The others name those that they use beside these. */
export interface DriverGround extends DriverOptions {
  readonly pool: BufferPool;
  readonly traffic: Traffic;
  readonly roleTimes: RoleTimes;
  readonly fanOut: WatchFanOut;
  readonly throttle: ConnectionThrottle;
  readonly authFailures: AuthFailures;
  readonly polls: PollRounds;
  readonly reads: ReadTurns<ClientConnection>;
  readonly written: FlushQueue<ClientConnection>;
  readonly closing: ClosingQueue<ClientConnection>;
  readonly replica: Replica;
}
