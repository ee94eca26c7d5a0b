import type { Members } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import type { Run, RunHooks } from "../runs/run.ts";
import { CLIENT_FAULTS } from "./clients.ts";
import { CRASHES } from "./crashes.ts";
import { deposedLeaders } from "./deposed-leaders.ts";
import { DiskFaults, diskFaults } from "./disks.ts";
import { EDITED_FILES } from "./edited-files.ts";
import { FAULTS, type Fault } from "./fault-names.ts";
import { type FaultAction, FaultWorld } from "./fault-world.ts";
import { BlockedDirections, linkFaults } from "./links.ts";
import { lostDisks } from "./lost-disks.ts";
import { OPENINGS, openAtTheEnd } from "./openings.ts";
import { PROCESS_FAULTS } from "./processes.ts";
import { RECONFIGURATIONS } from "./reconfigurations.ts";
import { RESTORES } from "./restores.ts";
import { slowCommits } from "./slow-commits.ts";
import { TimedCrashes, timedCrashes } from "./timed-crashes.ts";
import { VERSIONS } from "./versions.ts";
import { WrongElections, wrongElections } from "./wrong-elections.ts";

/**
 * Lets the faults of a plan happen, each from its own random stream: leaving one out does not
 * change the others.
 */
export class FaultSchedule implements RunHooks {
  readonly #world: FaultWorld;
  readonly #crashes: TimedCrashes;
  readonly #disks: DiskFaults;
  readonly #elections: WrongElections;
  readonly #actions: Readonly<Record<Fault, FaultAction>>;

  constructor(run: Run) {
    this.#world = new FaultWorld(run);
    this.#crashes = new TimedCrashes(this.#world);
    this.#disks = new DiskFaults(this.#world);
    const blocked = new BlockedDirections(this.#world);
    this.#elections = new WrongElections(this.#world, blocked);
    this.#actions = {
      ...CRASHES,
      ...timedCrashes(this.#crashes),
      ...PROCESS_FAULTS,
      ...diskFaults(this.#disks),
      ...slowCommits(this.#disks),
      ...linkFaults(blocked),
      ...deposedLeaders(blocked),
      ...wrongElections(this.#elections),
      ...lostDisks(blocked),
      ...CLIENT_FAULTS,
      ...RECONFIGURATIONS,
      ...EDITED_FILES,
      ...RESTORES,
      ...OPENINGS,
      ...VERSIONS,
    };
  }

  start(): void {
    const { plan, root } = this.#world.run;
    const streams = root.fork("faults");
    for (const fault of FAULTS) {
      const meanMs = plan.faults.get(fault);
      if (meanMs === undefined) continue;
      const random = streams.fork(fault);
      const pause = (): number => -meanMs * Math.log(1 - random.next() / 2 ** 32);
      const happen = (): void => {
        if (this.#world.run.nowMs >= plan.faultsUntilMs) return;
        this.#actions[fault](this.#world, random);
        this.#world.later(pause(), happen);
      };
      this.#world.later(plan.faultsFromMs + pause(), happen);
    }
  }

  /**
   * Ends every fault: links are open, disks have their usual speed, and every server runs or will
   * soon.
   */
  end(): void {
    const { cluster, run } = this.#world;
    this.#world.isOver = true;
    run.trace.say("world", "every fault ends");
    cluster.healLinks();
    // Servers that no list has do not serve before all others are upgraded.
    for (const sid of [...run.files.earlier]) {
      run.files.upgrade(sid);
      cluster.crash(sid);
    }
    if (run.versions.areUsed) this.#equalVersions();
    if (run.plan.members?.clients === "closed") openAtTheEnd(this.#world);
    for (const sid of cluster.sids) {
      cluster.setDisk(sid, run.plan);
      this.#crashes.forget(sid);
      if (this.#disks.isFailing(sid)) cluster.crash(sid);
      const server = cluster.server(sid);
      if (server === undefined) cluster.startIn(sid, run.random.below(300));
      else if (server.isPaused) server.resume();
      if (server !== undefined) DiskFaults.makeRoom(server);
    }
  }

  /**
   * All servers get the version of one level. One whose log has a higher one does not start in it,
   * and keeps a version that knows that.
   */
  #equalVersions(): void {
    const { cluster, run } = this.#world;
    const { versions } = run;
    const highest = this.#levelAtTheEnd();
    const list = this.#listInForce;
    for (const sid of cluster.sids) {
      const level = cluster.levelOf(sid);
      // It was not there when the level was raised twice, or has the first entry of an ensemble
      // that was founded without it. Its operator empties it, and gives it the list in force: an
      // old one might have no other server with data.
      if (level > 0 && Math.abs(level - highest) > 1) {
        this.#world.report(sid, "loses its data, which are of an old level");
        cluster.wipe(sid);
        if (list !== undefined && run.files.of(sid) !== undefined) run.files.edit(sid, list);
      }
      if (versions.highestOf(sid) === highest) continue;
      versions.change(sid, highest);
      cluster.crash(sid);
    }
  }

  /** The newest list that any server knows to be committed. */
  get #listInForce(): Members | undefined {
    const lists = this.#world.cluster.running().map(({ replica }) => replica.zab.members.committed);
    const newest = lists.reduce((one, other) => ((other?.version ?? 0) > (one?.version ?? 0) ? other : one), undefined);
    return newest === undefined ? undefined : { ...newest, disks: new Map() };
  }

  /** The highest level that any log has; or the one in force, where a higher one cannot come. */
  #levelAtTheEnd(): number {
    const { cluster, run } = this.#world;
    const levelOf = (sid: SimServer["sid"]): number =>
      Math.max(cluster.levelOf(sid), cluster.server(sid)?.replica.zab.levelRaise.level ?? 0);
    const committed = run.levels?.committed ?? 1;
    const counts = (sid: SimServer["sid"]): boolean => !run.invariants.isWiped(sid) && run.invariants.isFormed(sid);
    const others = cluster.sids.filter((sid) => levelOf(sid) <= committed && counts(sid));
    const mayDrop = run.invariants.configurations.every((configuration) => configuration.isQuorum(others));
    const highest = Math.max(1, ...cluster.sids.map(levelOf));
    if (highest <= committed || !mayDrop || (highest === committed + 1 && run.random.chance(0.3))) return highest;
    return committed;
  }

  stepped(server: SimServer): void {
    this.#crashes.stepped(server);
    this.#elections.stepped(server);
  }

  crashed(sid: SimServer["sid"]): void {
    this.#disks.crashed(sid);
  }

  failed(server: SimServer, error: unknown): boolean {
    return this.#disks.failed(server, error);
  }
}
