import { Replica, type ReplicaTools } from "@zooid/replica";
import type { StoreLog } from "@zooid/txn-log";
import { BufferPool } from "@zooid/wire";
import { AuthFailures } from "../clients/auth-failures.ts";
import type { ClientConnection } from "../clients/client-connection.ts";
import { ConnectionThrottle } from "../clients/connection-throttle.ts";
import { CountedReplies } from "../clients/counted-replies.ts";
import { Traffic } from "../clients/traffic.ts";
import { WatchFanOut } from "../clients/watch-fan-out.ts";
import type { ChangeRecorder } from "../operators/change-stream.ts";
import { RoleTimes } from "../operators/role-times.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Clients } from "./clients.ts";
import { ClosingQueue } from "./closing-queue.ts";
import { Deliveries } from "./deliveries.ts";
import type { DriverConfig, DriverHooks, Peers } from "./driver-config.ts";
import type { DriverGround, DriverOptions } from "./driver-ground.ts";
import { FlushQueue } from "./flush-queue.ts";
import { PollRounds } from "./poll-rounds.ts";
import { Proposals } from "./proposals.ts";
import { ReadTurns } from "./read-turns.ts";
import { replicaSinksOf } from "./replica-sinks.ts";
import { Service } from "./service.ts";
import { Timers } from "./timers.ts";
import { TurnLoop } from "./turn-loop.ts";

/** The parts of one driver, made here and nowhere else; a part finds the others in this object. */
export class DriverParts implements DriverGround {
  readonly config: DriverConfig;
  readonly log: StoreLog;
  readonly tools: ReplicaTools;
  readonly hooks: DriverHooks;
  readonly recorder: ChangeRecorder | undefined;
  readonly peers: Peers | undefined;

  readonly pool: BufferPool = new BufferPool();
  readonly traffic: Traffic = new Traffic();
  readonly roleTimes: RoleTimes = new RoleTimes();
  readonly fanOut: WatchFanOut = new WatchFanOut();
  readonly throttle: ConnectionThrottle;
  readonly authFailures: AuthFailures;

  readonly service: Service;
  readonly polls: PollRounds = new PollRounds({
    now: () => performance.now(),
    defer: (callback) => void setImmediate(callback),
  });
  readonly turns: TurnLoop;
  readonly reads: ReadTurns<ClientConnection>;
  readonly written: FlushQueue<ClientConnection>;
  readonly closing: ClosingQueue<ClientConnection> = new ClosingQueue(() => performance.now());
  readonly deliveries: Deliveries;
  readonly proposals: Proposals;
  readonly checkpoints: Checkpoints;
  readonly timers: Timers;
  readonly clients: Clients;
  readonly replies: CountedReplies;
  readonly replica: Replica;

  constructor({ config, log, tools, hooks, recorder, peers }: DriverOptions) {
    this.config = config;
    this.log = log;
    this.tools = tools;
    this.hooks = hooks;
    this.recorder = recorder;
    this.peers = peers;
    this.throttle = new ConnectionThrottle(config.connectionThrottle, Math.floor(performance.now()), tools.random);
    this.authFailures = new AuthFailures(config.authFailures);

    this.service = new Service(this);
    this.turns = new TurnLoop(this);
    const { share: proxiesShare } = config.replica.trustedProxies;
    this.written = new FlushQueue({ now: () => performance.now(), proxiesShare });
    this.reads = new ReadTurns({
      proxiesShare,
      bytesSent: () => this.traffic.bytesSent,
      workCount: () => this.replica.workCount,
      isHalted: () => this.service.isHalted,
      wake: () => this.turns.wake(),
      later: (callback) => this.polls.later(callback),
    });
    this.deliveries = new Deliveries(this);
    this.proposals = new Proposals(this);
    this.checkpoints = new Checkpoints(this);
    this.timers = new Timers(this);
    this.clients = new Clients(this);
    this.replies = new CountedReplies(this.clients, this.traffic, this.fanOut);
    this.replica = new Replica(config.replica, tools, replicaSinksOf(this));
  }
}
