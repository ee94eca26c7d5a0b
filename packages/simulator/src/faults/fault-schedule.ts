import type { SimServer } from "../cluster/server.ts";
import { Violation } from "../invariants/violation.ts";
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

  /** All servers get the version that knows the highest level which any log has. */
  #equalVersions(): void {
    const { cluster, run } = this.#world;
    const { versions } = run;
    const levels = cluster.sids.map((sid) => cluster.levelOf(sid));
    const highest = Math.max(1, ...levels);
    const members = new Set(run.invariants.configurations.flatMap(({ voters }) => [...voters]));
    for (const sid of cluster.sids) {
      const level = cluster.levelOf(sid);
      // It was not there when the level was raised twice.
      if (level > 0 && level < highest - 1) {
        if (members.has(sid)) throw new Violation("V2", `server ${sid} is left behind at level ${level} of ${highest}`);
        this.#world.report(sid, "loses its data, which are of an old level");
        cluster.wipe(sid);
      }
      if (versions.highestOf(sid) === highest) continue;
      versions.change(sid, highest);
      cluster.crash(sid);
    }
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
