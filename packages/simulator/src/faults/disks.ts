import { formatZxid, type ServerId } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { describeError } from "../invariants/violation.ts";
import { downTime, duration, type FaultActions, type FaultWorld } from "./fault-world.ts";

/** A server that ends because its disk fails, and starts again. */
interface PlannedFailure {
  readonly downMs: number;
  /** How many unsynced writes survive; undefined: a random number. */
  readonly keep: number | undefined;
}

/** Disks that are slow, full or fail. */
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

  fail(sid: ServerId, how: "sync" | "full", downMs: number): void {
    const world = this.#world;
    const server = world.cluster.server(sid);
    if (server === undefined || this.#planned.has(sid)) return;
    world.report(sid, how === "sync" ? "has a sync that fails" : "has a full disk");
    // After a failed sync any prefix may be on the disk; a write that was refused for want of room
    // is not.
    this.#planned.set(sid, { downMs, keep: how === "sync" ? undefined : 0 });
    world.run.coverage.reached(how === "sync" ? "sync failed" : "disk full");
    if (how === "full") server.disk.fill();
    else this.failed(server, new Error("the sync failed"));
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

type DiskFault = "slow-disk" | "sync-failure" | "full-disk" | "checkpoint";

export function diskFaults(disks: DiskFaults): FaultActions<DiskFault> {
  return {
    "slow-disk": ({ sids }, random) => disks.slow(random.pick(sids), 100 + random.below(2500), duration(random)),
    "sync-failure": ({ sids }, random) => disks.fail(random.pick(sids), "sync", downTime(random)),
    "full-disk": ({ sids }, random) => disks.fail(random.pick(sids), "full", downTime(random)),
    checkpoint: (world, random) => checkpoint(world, random.pick(world.sids)),
  };
}
