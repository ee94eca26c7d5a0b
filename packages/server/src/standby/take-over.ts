import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Chain,
  formatZxid,
  isSameState,
  type LogPosition,
  type NamedState,
  restoredAt,
  type StandbyReport,
  type StateOrigin,
} from "@zooid/model";
import type { PlacedState } from "@zooid/txn-log";
import { type BuiltState, createStateFile } from "@zooid/txn-log/sqlite";
import type { RestoredState, RestoreEnd } from "@zooid/zab";
import type { Driver } from "../driver/driver.ts";
import type { LogFields } from "../operators/log-fields.ts";
import { RESTORING_FOLDER, type Storage } from "../storage/storage.ts";
import type { Standby, StandbyStatus } from "./standby.ts";
import { missingMembers, type StandingMember, type TakeOverRequest, takeOverObstacle } from "./take-over-request.ts";

/** The running member, as a take-over needs it. */
export interface TakingServer {
  readonly dataDir: string | undefined;
  readonly sid: number | undefined;
  driver(): Driver;
  storage(): Storage;
  /** Undefined where no state is kept ready. */
  standby(): Standby | undefined;
  /** The state that this server has taken over, or has not any more, may have changed. */
  moved(): void;
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
}

/** The outcome of a take-over. */
export interface TakenOver {
  readonly epoch: number;
  /** The state as it stands now, at the end of the history that the epoch begins with. */
  readonly state: NamedState;
  readonly members: readonly StandingMember[];
  /** Servers that have not reported the same state in time. */
  readonly missing: readonly { readonly sid: number; readonly isObserver: boolean }[];
}

/** Why nothing was taken over. */
export class TakeOverError extends Error {
  override readonly name = "TakeOverError";
}

const CHAIN_BYTES = 8;
const MEMBERS_MS = 30_000;
const POLL_MS = 5;
/** `/`, `/zookeeper` and its two children, and the root that Apache counts twice. */
const INITIAL_NODES = 5;

/**
 * Makes the state of a followed Apache ensemble that all members have ready the initial history of
 * the ensemble's next epoch, or an empty tree again. Clients stay out in either case.
 *
 * Source: docs/decisions/0033 has the steps, and why they are safe.
 */
export class TakeOver {
  readonly #server: TakingServer;
  /** This server's own state when it was installed; undefined where none was since the start. */
  #installed: NamedState | undefined;
  /** The source of the state in force; set where this server led the take-over. */
  #origin: { readonly position: LogPosition; readonly origin: StateOrigin } | undefined;
  #isUnderWay = false;

  constructor(server: TakingServer) {
    this.#server = server;
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  get standby(): StandbyStatus | undefined {
    return this.#server.standby()?.status;
  }

  /** An operator waits for the newest state. */
  look(): void {
    this.#server.standby()?.look();
  }

  /** The state that this server has taken over, in an ensemble that serves no clients yet. */
  get taken(): NamedState | undefined {
    const { replica } = this.#server.driver();
    const { tree, zab } = replica;
    const isEmpty = tree.nodeCount <= INITIAL_NODES && tree.sessionCount === 0;
    const isFounded = zab.members.areClientsClosed && !zab.members.areClientsClosedAgain;
    if (!isFounded || isEmpty || restoredAt(zab.durable) === undefined) return undefined;
    const { digestHigh, digestLow } = tree;
    return this.#installed ?? { ...zab.durable.floor, zxid: tree.applied, digestHigh, digestLow };
  }

  /** For the leader. */
  get report(): StandbyReport | undefined {
    const { taken } = this;
    if (taken !== undefined) return { ...taken, isTaken: true };
    const state = this.standby?.state;
    return state === undefined ? undefined : { ...namedOf(state), isTaken: false };
  }

  /** The state at a position became this server's own. */
  installed(position: LogPosition): void {
    const { digestHigh, digestLow } = this.#server.driver().replica.tree;
    this.#installed = { ...position, digestHigh, digestLow };
    this.#server.moved();
  }

  // For other members

  originOf({ zxid, chain }: LogPosition): StateOrigin | undefined {
    const made = this.#origin;
    return made?.position.zxid === zxid && made.position.chain === chain ? made.origin : undefined;
  }

  /** See `TransferHost.readyState`. */
  readyState(origin: StateOrigin, position: LogPosition): (() => Promise<PlacedState>) | undefined {
    const standby = this.#server.standby();
    const state = standby?.status.state;
    if (standby === undefined || state === undefined || !isSameState(namedOf(state), origin)) return undefined;
    return async () => {
      const lent = await standby.lend();
      if (lent === undefined || !isSameState(namedOf(lent.state), origin)) {
        lent?.release();
        throw new Error("the state that was ready has moved");
      }
      try {
        const placed = await this.#placed(lent.file, position, origin.level);
        const abandon = (): void => {
          placed.abandon();
          lent.release();
        };
        return { stateFile: placed.stateFile, abandon };
      } catch (error) {
        lent.release();
        throw error;
      }
    };
  }

  // At the leader

  /** The configured servers but this one. */
  get others(): readonly StandingMember[] {
    const { zab } = this.#server.driver().replica;
    const learners = new Map(zab.learners().map((learner) => [learner.sid, learner]));
    const servers = zab.members.committed?.servers ?? [];
    return servers
      .filter(({ sid }) => sid !== this.#server.sid)
      .map((member) => {
        const learner = learners.get(member.sid);
        return { member, isSynced: learner?.phase === "synced", standby: learner?.standby };
      });
  }

  /** Why a take-over may not begin now; undefined: it may. Only at the leader. */
  obstacle(request: TakeOverRequest): string | undefined {
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) return obstacle;
    const { taken } = this;
    if (taken !== undefined)
      return `a state was taken over already, at ${formatZxid(taken.zxid)}: open_clients opens the ensemble to clients, drop_standby drops the state`;
    const { tree } = this.#server.driver().replica;
    if (tree.nodeCount > INITIAL_NODES || tree.sessionCount > 0)
      return "the ensemble has data of its own, which a take-over would replace";
    const state = this.standby?.state;
    return takeOverObstacle(request, state && namedOf(state), this.others);
  }

  /** @throws TakeOverError */
  async begin(request: TakeOverRequest): Promise<TakenOver> {
    const obstacle = this.obstacle(request);
    const standby = this.#server.standby();
    if (obstacle !== undefined || standby === undefined) throw new TakeOverError(obstacle);
    const own = this.standby?.state;
    return await this.#exclusively(async () => {
      const lent = await standby.lend();
      if (lent === undefined || own === undefined || !isSameState(namedOf(lent.state), namedOf(own))) {
        lent?.release();
        throw new TakeOverError("the state that was ready has moved");
      }
      const { level } = this.#server.driver().replica.zab;
      const origin = { ...namedOf(own), level };
      const standAt = async (position: LogPosition): Promise<PlacedState> => {
        const placed = await this.#placed(lent.file, position, level);
        this.#origin = { position, origin };
        return placed;
      };
      const epoch = await this.#replace(standAt, request.epoch).finally(() => lent.release());
      return await this.#untilEqual(epoch, request.without);
    });
  }

  /** Why the state that was taken over may not be dropped now; undefined: it may. */
  dropObstacle(): string | undefined {
    return this.#obstacle();
  }

  /**
   * Drops the state that was taken over, or the one that is ready; the latter begins again.
   *
   * @throws TakeOverError
   */
  async drop(): Promise<TakenOver | undefined> {
    if (this.taken === undefined) {
      await this.#server.standby()?.drop();
      return undefined;
    }
    const { dataDir = "" } = this.#server;
    return await this.#exclusively(async () => {
      const folder = join(dataDir, RESTORING_FOLDER);
      const stateFile = join(folder, "empty.db");
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700 });
      try {
        createStateFile(stateFile);
        const { level } = this.#server.driver().replica.zab;
        const epoch = await this.#replace((position) => this.#placed(stateFile, position, level));
        return { ...(await this.#untilEqual(epoch, [], 0)) };
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  #obstacle(): string | undefined {
    if (this.#isUnderWay) return "a state is being taken over, or dropped";
    const { zab } = this.#server.driver().replica;
    const { members } = zab;
    if (!members.areClientsClosed) return "the ensemble serves clients";
    if (members.areClientsClosedAgain) return "the ensemble has served clients, whose data would be replaced";
    if (members.lastSeen?.clients === "open") return "the ensemble is being opened to clients";
    return members.isChanging ? "a change of the ensemble's configuration is under way" : undefined;
  }

  async #exclusively<T>(act: () => Promise<T>): Promise<T> {
    this.#isUnderWay = true;
    try {
      return await act();
    } finally {
      this.#isUnderWay = false;
    }
  }

  #placed(stateFile: string, position: LogPosition, level: number): Promise<PlacedState> {
    const { ensembleId } = this.#server.storage().log.durable.identity;
    return this.#server.storage().placeReady({ stateFile, position, ensembleId, level });
  }

  /**
   * Leads the next epoch, which begins with the state.
   *
   * @returns the epoch, once a quorum has the state
   * @throws TakeOverError
   */
  async #replace(stand: (position: LogPosition) => Promise<PlacedState>, epochMin = 0): Promise<number> {
    const ended = Promise.withResolvers<RestoreEnd>();
    let release: (() => void) | undefined;
    let isReleased = false;
    const restored: RestoredState = {
      epochMin,
      standAt: (zxid, _epochs, done) => {
        const position = { zxid, chain: BigInt(`0x${randomBytes(CHAIN_BYTES).toString("hex")}`) as Chain };
        stand(position).then(
          (placed) => {
            // The role has ended meanwhile: nothing installs it any more.
            if (isReleased) placed.abandon();
            release = placed.abandon;
            done({ stateFile: placed.stateFile, position });
          },
          (error: unknown) => done({ failed: error instanceof Error ? error.message : String(error) }),
        );
      },
      ended: (end) => {
        isReleased = true;
        release?.();
        ended.resolve(end);
      },
    };
    if (!(await this.#server.driver().restore(restored)))
      throw new TakeOverError(
        "this server does not lead any more, the configuration of the ensemble changes, or writes in flight were not committed in time",
      );
    const end = await ended.promise;
    switch (end.kind) {
      case "restored":
        return end.epoch;
      case "given-up":
        throw new TakeOverError(`no quorum promised the next epoch, or the state could not be placed (${end.detail})`);
      case "undecided":
        throw new TakeOverError(
          `this server has the state, and lost its quorum before others had it: the next leader continues with it or without it; the command standby of its members says which`,
        );
    }
  }

  /** Waits until each member has reported the state that this server has. */
  async #untilEqual(epoch: number, without: readonly number[], withinMs = MEMBERS_MS): Promise<TakenOver> {
    const endMs = performance.now() + withinMs;
    for (;;) {
      const { others } = this;
      const state = this.#installed;
      if (state === undefined) throw new TakeOverError("the state was not installed here");
      const missing = missingMembers(state, others).filter(({ sid }) => !without.includes(sid));
      if (missing.length === 0 || performance.now() >= endMs) return { epoch, state, members: others, missing };
      await delay(POLL_MS, undefined, { ref: false });
    }
  }
}

function namedOf({ applied, digestHigh, digestLow }: BuiltState): NamedState {
  return { ...applied, digestHigh, digestLow };
}
