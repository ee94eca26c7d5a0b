import { type ConnectionRef, SESSION_NONE, type SessionId, type WatchEventType } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import type { SimServer } from "../cluster/server.ts";
import { ModelWatches } from "../model/watches.ts";
import type { SimRequest } from "./requests.ts";
import type { Tenant } from "./tenant.ts";
import { Workload, type WorkloadOptions } from "./workload.ts";

export interface Sent {
  readonly xid: number;
  readonly request: SimRequest;
  readonly atMs: number;
  /** What was committed when it was asked. */
  readonly committed: number;
}

/** An event that must come before any answer that shows its zxid. */
export interface DueEvent {
  readonly type: WatchEventType;
  readonly path: string;
  readonly zxid: number;
}

/** One connection of a client to one life of a server. */
export interface ClientConnection {
  readonly server: SimServer;
  readonly ref: ConnectionRef;
  readonly openedMs: number;
  isReady: boolean;
  /** Nothing moves on it any more, and neither side knows. */
  isSilent: boolean;
  /** When the last frame that was sent arrives: the next comes behind it. */
  arrivesMs: number;
  /** When the server last got one. */
  arrivedMs: number;
}

export interface SimClientOptions extends WorkloadOptions {
  readonly address: string;
  readonly tenant?: Tenant;
}

/** A client: one session at a time, a few requests in flight, and little patience. */
export class SimClient {
  readonly name: string;
  readonly random: Prng;
  readonly workload: Workload;
  /** Set for one that asks for as much as it can, in place of the workload. */
  readonly tenant: Tenant | undefined;
  readonly address: string;
  connection: ClientConnection | undefined;
  session: SessionId = SESSION_NONE;
  password: Uint8Array = new Uint8Array(16);
  xid = 0;
  /** The last zxid that it has seen, on whatever server. */
  lastZxid = 0;

  sentMs = 0;
  /** It does nothing until then. */
  sleepsUntilMs = 0;
  lastServer: number | undefined;
  /** The leader that it is connected to had heard of it so long before it proposed these. */
  heardAt: { readonly first: number; readonly last: number; readonly forMs: number } | undefined;
  inFlight: Sent[] = [];
  watches: ModelWatches = new ModelWatches();
  due: DueEvent[] = [];
  /** The xid of its very last request. */
  lastFinish: number | undefined;
  /** Its last requests were answered, when everything comes to its end. */
  isDone = false;

  constructor(name: string, random: Prng, options: SimClientOptions) {
    this.tenant = options.tenant;
    this.address = options.address;
    this.name = name;
    this.random = random.fork("acts");
    this.workload = new Workload(random.fork("workload"), name, options);
  }

  /** What it knew of a connection dies with it; its session and what it saw do not. */
  forgetConnection(): void {
    this.connection = undefined;
    this.inFlight = [];
    this.watches = new ModelWatches();
    this.due = [];
  }

  forgetSession(): void {
    this.session = SESSION_NONE;
    this.password = new Uint8Array(16);
    this.lastZxid = 0;
  }
}
