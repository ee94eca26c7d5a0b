import type { ServerId } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { crash } from "./crashes.ts";
import type { FaultAction, FaultActions, FaultWorld } from "./fault-world.ts";

const DOWN_MS_MAX = 800;
const DOWN_AT_LOG_STEP_MS = 50;

/**
 * Crashes that wait for a moment: a history install, a transaction or the end of a session that is
 * done in part, a change of the configuration that is not committed, a step of the log.
 */
export class TimedCrashes {
  readonly #world: FaultWorld;
  readonly #atInstall = new Set<ServerId>();
  readonly #atSlice = new Set<ServerId>();
  readonly #atChange = new Map<ServerId, number>();
  readonly #durable = new WeakMap<SimServer, unknown>();

  constructor(world: FaultWorld) {
    this.#world = world;
  }

  /** The server crashes while its next history install is written. */
  atNextInstall(sid: ServerId): void {
    this.#atInstall.add(sid);
  }

  /**
   * The server crashes when it next has applied or prepared a part of a transaction, or the end of
   * a session is done in part.
   */
  atNextSlice(sid: ServerId): void {
    this.#atSlice.add(sid);
  }

  /** Time from the server's first sight of a change of the configuration to its crash. */
  atNextChange(sid: ServerId, afterMs: number): void {
    this.#atChange.set(sid, afterMs);
  }

  forget(sid: ServerId): void {
    this.#atChange.delete(sid);
    this.#atInstall.delete(sid);
    this.#atSlice.delete(sid);
  }

  stepped(server: SimServer): void {
    const { random, history, plan } = this.#world.run;
    const { sid, replica } = server;
    if (this.#atInstall.has(sid) && server.disk.isInstalling && this.#isRunning(server)) {
      this.#atInstall.delete(sid);
      this.#crashIn(server, random.below(8) / 2);
    }
    const isInParts = replica.isApplying || replica.isPreparing || history.sessions.hasUnfinishedEnd;
    if (this.#atSlice.has(sid) && this.#isRunning(server) && isInParts) {
      this.#atSlice.delete(sid);
      this.#crashIn(server, 0);
    }
    const afterChangeMs = this.#atChange.get(sid);
    if (afterChangeMs !== undefined && replica.zab.members.isChanging && this.#isRunning(server)) {
      this.#atChange.delete(sid);
      this.#crashIn(server, afterChangeMs);
    }
    if (plan.crashAtLogStep !== undefined) this.#countLogStep(server, plan.crashAtLogStep);
  }

  #crashIn(server: SimServer, delayMs: number): void {
    const world = this.#world;
    world.run.after(delayMs, () => {
      if (this.#isRunning(server)) crash(world, server.sid, world.run.random.below(DOWN_MS_MAX));
    });
  }

  #countLogStep(server: SimServer, crashAt: number): void {
    const { run } = this.#world;
    const { durable } = server.disk;
    if (this.#durable.get(server) === durable) return;
    this.#durable.set(server, durable);
    if (++run.counts.logSteps !== crashAt) return;
    run.after(0, () => {
      if (this.#isRunning(server)) crash(this.#world, server.sid, DOWN_AT_LOG_STEP_MS);
    });
  }

  #isRunning(server: SimServer): boolean {
    return this.#world.cluster.server(server.sid) === server;
  }
}

/**
 * Some of the servers crash between the append of the next change and its commit: before it is on
 * their disks, before their acks, or before they learn that it is committed.
 */
function crashAtChange(crashes: TimedCrashes): FaultAction {
  return ({ sids, run: { plan } }, random) => {
    const commitMs = 2 * (plan.delayMsMax + plan.syncMsMax);
    for (const sid of sids) if (random.chance(0.6)) crashes.atNextChange(sid, (random.below(8) / 8) * commitMs);
  };
}

type TimedCrash = "crash-at-install" | "crash-at-slice" | "crash-at-change";

/** The crashes of this kind that a plan may draw. */
export function timedCrashes(crashes: TimedCrashes): FaultActions<TimedCrash> {
  return {
    "crash-at-install": ({ sids }, random) => crashes.atNextInstall(random.pick(sids)),
    "crash-at-slice": ({ sids }, random) => crashes.atNextSlice(random.pick(sids)),
    "crash-at-change": crashAtChange(crashes),
  };
}
