import { formatZxid, type ServerId } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { describeError } from "../invariants/violation.ts";
import { downTime, duration, type FaultAction, type FaultActions, type FaultWorld } from "./fault-world.ts";

/** A server that ends because its disk fails, and starts again. */
interface PlannedFailure {
  readonly downMs: number;
  /** How many unsynced writes survive; undefined: a random number. */
  readonly keep: number | undefined;
}

/** Disks that are slow, fill or fail. */
export class DiskFaults {
  readonly #world: FaultWorld;
  readonly #slowUntilMs = new Map<ServerId, number>();
  readonly #planned = new Map<ServerId, PlannedFailure>();

  constructor(world: FaultWorld) {
    this.#world = world;
  }

  slow(sid: ServerId, syncMs: number, forMs: number): void {
    const { run, cluster } = this.#world;
    this.#world.report(sid, `has a disk that needs ${syncMs} ms`);
    this.#slowUntilMs.set(sid, run.nowMs + forMs);
    cluster.setDisk(sid, { syncMsMin: syncMs / 2, syncMsMax: syncMs });
    run.after(forMs, () => {
      if (run.nowMs >= (this.#slowUntilMs.get(sid) ?? 0)) cluster.setDisk(sid, run.plan);
    });
  }

  fail(sid: ServerId, downMs: number): void {
    const world = this.#world;
    const server = world.cluster.server(sid);
    if (server === undefined || this.#planned.has(sid)) return;
    world.report(sid, "has a sync that fails");
    // After a failed sync any prefix may be on the disk.
    this.#planned.set(sid, { downMs, keep: undefined });
    world.run.coverage.reached("sync failed");
    this.failed(server, new Error("the sync failed"));
  }

  /** A disk that has little room, then none for a while, and then enough. */
  fill(sid: ServerId, lowMs: number, fullMs: number): void {
    const { cluster, run } = this.#world;
    const server = cluster.server(sid);
    if (server === undefined || server.replica.zab.room !== "enough") return;
    this.#world.report(sid, "has a disk with little room");
    run.history.mayLackRoom = true;
    server.setRoom("low");
    this.#world.later(lowMs, () => {
      if (!server.isUp || server.replica.zab.room !== "low") return;
      this.#world.report(sid, "has a full disk");
      run.coverage.reached("disk full");
      server.disk.fill();
    });
    run.after(lowMs + fullMs, () => DiskFaults.makeRoom(server));
  }

  static makeRoom(server: SimServer): void {
    if (!server.isUp) return;
    server.disk.makeRoom();
    server.setRoom("enough");
  }

  /** @returns whether the failure was planned: the server then crashes and comes back */
  failed({ sid }: SimServer, error: unknown): boolean {
    const planned = this.#planned.get(sid);
    if (planned === undefined) return false;
    this.#planned.delete(sid);
    this.#world.report(sid, `ends: ${describeError(error)}`);
    this.#world.cluster.crash(sid, planned.keep);
    this.#world.cluster.startIn(sid, planned.downMs);
    return true;
  }

  isFailing(sid: ServerId): boolean {
    return this.#planned.has(sid);
  }

  crashed(sid: ServerId): void {
    this.#planned.delete(sid);
  }
}

/** Writes a checkpoint: the state catches up with the log, which may be purged up to there. */
function checkpoint({ cluster, run }: FaultWorld, sid: ServerId): void {
  const server = cluster.server(sid);
  if (server === undefined || server.isPaused) return;
  run.counts.faults++;
  server.checkpoint();
  run.trace.say(`s${sid}`, `writes a checkpoint at ${formatZxid(server.replica.tree.applied)}`);
  run.invariants.stepped(server);
}

/** Mostly one disk; sometimes all of them, so that no server has room to lead or to acknowledge. */
function fillDisks(disks: DiskFaults): FaultAction {
  return ({ sids }, random) => {
    const filled = random.chance(0.2) ? sids : [random.pick(sids)];
    for (const sid of filled) disks.fill(sid, duration(random), duration(random));
  };
}

type DiskFault = "slow-disk" | "sync-failure" | "full-disk" | "checkpoint";

export function diskFaults(disks: DiskFaults): FaultActions<DiskFault> {
  return {
    "slow-disk": ({ sids }, random) => disks.slow(random.pick(sids), 100 + random.below(2500), duration(random)),
    "sync-failure": ({ sids }, random) => disks.fail(random.pick(sids), downTime(random)),
    "full-disk": fillDisks(disks),
    checkpoint: (world, random) => checkpoint(world, random.pick(world.sids)),
  };
}
