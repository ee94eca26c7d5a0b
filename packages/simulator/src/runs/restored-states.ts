import { epochOf, formatZxid, type ServerId, type Zxid } from "@zooid/model";
import type { RestoreEnd } from "@zooid/zab";
import type { Prng } from "../cluster/prng.ts";
import type { SimServer } from "../cluster/server.ts";
import { type RestoredSessions, type RestoringState, type StateImage, stateImageOf } from "../cluster/state-image.ts";
import type { Invariants } from "../invariants/invariants.ts";
import { checkRestoredSessions } from "../invariants/restored-sessions.ts";
import type { History, ModelImage } from "../model/history.ts";
import type { CoverageCounts } from "./coverage.ts";
import type { Trace } from "./trace.ts";

/** The parts of a run that a restore changes and reports. */
interface RestoringRun {
  readonly history: History;
  readonly invariants: Invariants;
  readonly coverage: CoverageCounts;
  readonly trace: Trace;
}

/** The backups of a run, and what becomes of those that operators restore. */
export class RestoredStates {
  readonly #run: RestoringRun;
  readonly #backups = new Map<StateImage, ModelImage>();
  /** By the zxid at which a leader has let a restored state stand. */
  readonly #standing = new Map<number, { readonly past: ModelImage; readonly sessions: RestoredSessions }>();
  /** Epochs whose leaders could not say what became of the state. */
  readonly #undecided = new Set<number>();
  /** The state that each server loaded last. */
  readonly #loaded = new Map<ServerId, Zxid>();

  constructor(run: RestoringRun) {
    this.#run = run;
  }

  get areNone(): boolean {
    return this.#backups.size === 0;
  }

  pick(random: Prng): StateImage {
    return random.pick([...this.#backups.keys()]);
  }

  /** Keeps the state of a server, if it is the newest one. @returns whether it is */
  keep({ isServing, disk, replica }: SimServer): boolean {
    const { tree, isApplying } = replica;
    const { history, invariants } = this.#run;
    const chain = disk.log.chainNow(tree.applied);
    if (!isServing || isApplying || chain === undefined || tree.applied !== history.last) return false;
    if (!invariants.isCommitted(tree.applied)) return false;
    this.#backups.set(stateImageOf(tree, { zxid: tree.applied, chain }), history.image());
    return true;
  }

  installing({ sid }: SimServer, zxid: Zxid, { image, sessions }: RestoringState): void {
    const past = this.#backups.get(image);
    if (past === undefined) throw new Error("a state is restored that was never kept");
    this.#standing.set(zxid, { past, sessions });
    this.#run.trace.say(`s${sid}`, `installs the state of ${formatZxid(image.position.zxid)} at ${formatZxid(zxid)}`);
  }

  ended({ sid }: SimServer, end: RestoreEnd): void {
    const { coverage, trace } = this.#run;
    trace.say(`s${sid}`, `has ended a restore: ${end.kind}`);
    if (end.kind === "given-up") coverage.reached("restore given up");
    if (end.kind === "undecided") coverage.reached("restore undecided");
    if (end.kind === "undecided") this.#undecided.add(end.epoch);
  }

  loaded(server: SimServer): void {
    const { sid, replica } = server;
    const { coverage, invariants } = this.#run;
    const before = this.#loaded.get(sid);
    const { applied } = replica.tree;
    const standing = this.#standing.get(applied);
    if (standing !== undefined) checkRestoredSessions(server, standing.past, standing.sessions);
    this.#loaded.set(sid, applied);
    if (before === undefined || before === applied || !this.#standing.has(before)) return;
    if (!invariants.isCommitted(before)) coverage.reached("restored state given up again");
  }

  /** A quorum has a restored state. */
  committed(zxid: Zxid): void {
    const standing = this.#standing.get(zxid);
    if (standing === undefined) return;
    this.#run.history.restore(zxid, standing.past, standing.sessions);
    const { coverage } = this.#run;
    coverage.reached("state restored");
    if (this.#undecided.has(epochOf(zxid) + 1)) coverage.reached("state restored by a successor");
  }
}
