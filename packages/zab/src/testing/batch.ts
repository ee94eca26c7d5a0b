import type { LoggedRun, TxnLog } from "@zooid/model";
import {
  CHAIN_NONE,
  composeZxid,
  type FrameBatch,
  InvariantError,
  type LogState,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { CommittedEntries } from "../committed-entries.ts";
import { frameEntries } from "../frame-entries.ts";
import type { RoleEnd, ZabEvent } from "../operator-events.ts";
import type { ZabPeer } from "../peer.ts";
import type { ZabApplication, ZabElection, ZabLinks, ZabRequests, ZabRoles, ZabSinks } from "../sinks.ts";

/**
 * For tests: a batch of entries that say their own counter, in an epoch. The counters are
 * consecutive.
 */
export function batchOf(epoch: number, ...counters: readonly number[]): FrameBatch {
  const entries = counters.map((counter) => new TextEncoder().encode(`entry ${counter}`));
  return frameEntries(composeZxid(epoch, counters[0] ?? 0), entries);
}

function unused(what: string): () => never {
  return () => {
    throw new InvariantError(`${what} has no place in an ensemble of one`);
  };
}

/** For tests of an ensemble of one: sinks that are lists. */
export class RecordingSinks implements ZabSinks {
  readonly appended: { readonly run: LoggedRun; readonly generation: number }[] = [];
  readonly delivered: string[] = [];
  readonly zxids: Zxid[] = [];
  readonly released: FrameBatch[] = [];
  readonly served: number[] = [];
  readonly ends: RoleEnd[] = [];
  readonly notes: ZabEvent[] = [];
  readonly confirmations: number[] = [];
  wantedCount = 0;
  durable: LogState;
  log: TxnLog;
  links: ZabLinks = { dial: unused("a dial"), send: unused("a message"), close: unused("a link") };
  readonly application: Required<ZabApplication> = {
    isReadable: () => true,
    release: (batch) => {
      this.released.push(batch);
    },
    applied: () => this.zxids.at(-1) ?? this.durable.tail.zxid,
    install: unused("a snapshot"),
    changesIn: () => undefined,
  };
  readonly election: ZabElection = {
    look: () => {},
    wanted: () => {
      this.wantedCount++;
    },
    successor: unused("a successor"),
  };
  readonly roles: ZabRoles = {
    serve: (epoch) => {
      this.served.push(epoch);
    },
    left: (reason) => {
      this.ends.push(reason);
    },
    note: (event: ZabEvent): void => void this.notes.push(event),
  };
  readonly requests: ZabRequests = {
    message: () => {},
    learnerLost: () => {},
    leadershipConfirmed: (check) => {
      this.confirmations.push(check);
    },
    touches: () => [],
    touched: () => {},
  };

  constructor(tail: Zxid = ZXID_NONE) {
    const at = { zxid: tail, chain: CHAIN_NONE };
    this.durable = {
      identity: { ensembleId: "", sid: 1, bootCount: 1, diskId: "" },
      promise: { epoch: 0, sid: 0, incarnation: 0 },
      currentEpoch: 0,
      tail: at,
      floor: at,
      commitHint: tail,
      epochs: [],
      amnesiac: false,
      committedConfig: undefined,
      lastSeenConfig: undefined,
    };
    const sinks = this;
    this.log = {
      get durable() {
        return sinks.durable;
      },
      append: (run, generation) => this.appended.push({ run, generation }),
      setPromise: unused("a promise"),
      setCurrentEpoch: unused("an epoch"),
      setConfigs: unused("a configuration"),
      setEnsembleId: unused("an id"),
      beginStage: unused("a stage"),
      stage: unused("a stage"),
      dropStage: unused("a stage"),
      installHistory: unused("a history"),
      read: unused("a read"),
      chainAt: unused("a read"),
    };
  }

  /** Applies at most `most` committed entries. @returns whether more are due */
  deliver(peer: Pick<ZabPeer, "takeCommitted" | "applied">, most: number): boolean {
    const entries = peer.takeCommitted();
    let count = 0;
    while (count < most && entries.next()) {
      count++;
      this.apply(entries);
    }
    peer.applied();
    return count === most && entries.hasMore;
  }

  apply({ zxid, bytes, start, end }: Pick<CommittedEntries, "zxid" | "bytes" | "start" | "end">): void {
    this.zxids.push(zxid);
    this.delivered.push(new TextDecoder().decode(bytes.subarray(start, end)));
  }
}
