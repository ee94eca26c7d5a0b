import type { ServerId } from "@zooid/model";
import type { Cluster } from "../cluster/cluster.ts";
import type { Prng } from "../cluster/prng.ts";
import type { SimServer } from "../cluster/server.ts";
import type { Run } from "../runs/run.ts";
import type { Fault } from "./fault-names.ts";

/** A fault, with what it is that happens left to its random stream. */
export type FaultAction = (world: FaultWorld, random: Prng) => void;

export type FaultActions<Name extends Fault> = Readonly<Record<Name, FaultAction>>;

/**
 * The parts that the faults of a run share: the run that they act on, and whether their time is
 * over.
 */
export class FaultWorld {
  readonly run: Run;
  /** No fault begins any more. */
  isOver = false;

  constructor(run: Run) {
    this.run = run;
  }

  get cluster(): Cluster {
    return this.run.cluster;
  }

  get sids(): readonly ServerId[] {
    return this.run.cluster.sids;
  }

  get leader(): SimServer | undefined {
    return this.run.cluster.leader;
  }

  /** Happens unless the time of faults is over by then. */
  later(delayMs: number, act: () => void): void {
    this.run.after(delayMs, () => {
      if (!this.isOver) act();
    });
  }

  /** Counts a fault and writes it into the transcript. */
  report(sid: ServerId, what: string): void {
    this.reportTo(`s${sid}`, `! ${what}`);
  }

  reportTo(who: string, what: string): void {
    this.run.counts.faults++;
    this.run.trace.say(who, what);
  }
}

/** How long a server is down. */
export function downTime(random: Prng): number {
  return random.chance(0.5) ? random.below(300) : random.below(3000);
}

/** How long a fault lasts. */
export function duration(random: Prng): number {
  return random.chance(0.4) ? random.below(400) : random.below(4000);
}
