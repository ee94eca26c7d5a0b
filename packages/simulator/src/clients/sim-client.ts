import { type ConnectionRef, SESSION_NONE, type SessionId, type WatchEventType } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import type { SimServer } from "../cluster/server.ts";
import type { RestoringWatches } from "../model/restoring-watches.ts";
import { ModelWatches, WATCH_KINDS } from "../model/watches.ts";
import type { SimRequest } from "./requests.ts";
import type { Tenant } from "./tenant.ts";
import { Workload, type WorkloadOptions } from "./workload.ts";

export interface Sent {
  readonly xid: number;
  readonly request: SimRequest;
  readonly atMs: number;
  /** The commit point when it was sent. */
  readonly committed: number;
  /** When its server read it; undefined before. */
  readMs?: number;
}

/** A watch event that must arrive before any answer that shows its zxid. */
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
  /** The newest transaction when it was opened. */
  readonly openedZxid: number;
  /** It presents another password than its session's: it must be refused. */
  readonly hasWrongPassword?: boolean;
  isReady: boolean;
  /** It delivers nothing any more, and neither end knows. */
  isSilent: boolean;
  /** Its client has closed it; frames sent before still arrive. */
  isLingering: boolean;
  /** When the last frame that was sent arrives: the next one arrives later. */
  arrivesMs: number;
  /** When the server last read a frame. */
  arrivedMs: number;
}

export interface SimClientOptions extends WorkloadOptions {
  readonly address: string;
  readonly tenant?: Tenant;
  /** The name and password that it authenticates with. */
  readonly identity?: string;
}

/** A client: one session at a time and a few requests in flight. */
export class SimClient {
  readonly name: string;
  readonly random: Prng;
  readonly workload: Workload;
  /** Set for a hostile tenant: chooses its requests in place of the workload. */
  readonly tenant: Tenant | undefined;
  readonly address: string;
  readonly identity: string | undefined;
  connection: ClientConnection | undefined;
  session: SessionId = SESSION_NONE;
  password: Uint8Array = new Uint8Array(16);
  xid = 0;
  /** The last zxid that it has seen, from any server. */
  lastZxid = 0;

  sentMs = 0;
  /** It sleeps until then. */
  sleepsUntilMs = 0;
  /** It is on an errand until then. */
  errandUntilMs = 0;
  lastServer: number | undefined;
  /**
   * Set while it is connected to the leader: how long after its last frame the leader proposed
   * these zxids.
   */
  heardAt:
    | { readonly first: number; readonly last: number; readonly forMs: number; readonly timeoutMs: number }
    | undefined;
  /** The timeout that its present session was granted. */
  timeoutMs = 0;
  inFlight: Sent[] = [];
  watches: ModelWatches = new ModelWatches();
  due: DueEvent[] = [];
  /** While a setWatches is not answered. */
  restoring: RestoringWatches | undefined;
  /** Its connection is closed for its watches: it gives them up, or that would happen again. */
  hasTooManyWatches = false;
  /** The watches that its last connections had, until a setWatches restores them. */
  lost: ModelWatches = new ModelWatches();
  /** The xid of its last request in the run. */
  lastFinish: number | undefined;
  /** Its last requests in the run have been answered. */
  isDone = false;

  constructor(name: string, random: Prng, options: SimClientOptions) {
    this.tenant = options.tenant;
    this.address = options.address;
    this.identity = options.identity;
    this.name = name;
    this.random = random.fork("acts");
    this.workload = new Workload(random.fork("workload"), name, options);
  }

  /** The connection has ended; the session and the last zxid outlast it. */
  forgetConnection(): void {
    this.connection = undefined;
    this.inFlight = [];
    for (const kind of WATCH_KINDS) for (const path of this.watches.paths(kind)) this.lost.addKind(kind, path);
    for (const [kind, path] of this.restoring?.unanswered() ?? []) this.lost.addKind(kind, path);
    this.restoring = undefined;
    if (this.hasTooManyWatches) this.lost = new ModelWatches();
    this.hasTooManyWatches = false;
    this.watches = new ModelWatches();
    this.due = [];
  }

  forgetSession(): void {
    this.session = SESSION_NONE;
    this.password = new Uint8Array(16);
    this.lastZxid = 0;
    this.lost = new ModelWatches();
  }
}
