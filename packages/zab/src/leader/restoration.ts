import { composeZxid, ZXID_NONE } from "@zooid/model";
import type { RestoredState } from "../restored-state.ts";
import type { RoleContext } from "../role.ts";
import type { LeaderEpoch } from "./epoch.ts";

/** The leader, as a restore needs it. */
interface RestoringLeader {
  readonly context: RoleContext;
  readonly epoch: LeaderEpoch;
  /** A step begins that other servers wait for. */
  beginStep(): void;
  /** The restored state is in the log, and in the tree. */
  historyReplaced(): void;
}

/** A restored state stands in the epoch before that of its leader. */
const EPOCHS_OF_A_RESTORE = 2;

/**
 * Begins an epoch with a restored state in place of the history that the leader has.
 *
 * The state stands at the first entry of the epoch before: the leader takes an epoch two above
 * every promise, and so there is no other entry of that epoch, now or later. Its table of epochs
 * has nothing else, so that no log has anything in common with it, and every learner gets the whole
 * state.
 *
 * Source: docs/decisions/0029 has the invariants, and why they hold.
 */
export class Restoration {
  readonly #leader: RestoringLeader;
  readonly #state: RestoredState;
  #isInstalled = false;
  #hasEnded = false;

  constructor(leader: RestoringLeader, state: RestoredState) {
    this.#leader = leader;
    this.#state = state;
  }

  /** The epoch to begin, where the highest that any server has promised is known. */
  epochBehind(highest: number): number {
    return Math.max(highest + EPOCHS_OF_A_RESTORE, this.#state.epochMin ?? 0);
  }

  /**
   * A quorum has promised the epoch: the state, the epoch and the table of epochs become durable in
   * one step, and so the earlier history goes.
   */
  install(installed: () => void): void {
    const { context, epoch } = this.#leader;
    const zxid = composeZxid(epoch.number - 1, 1);
    const epochs = [{ epoch: epoch.number - 1, first: 1, last: 1 }];
    this.#state.standAt(zxid, epochs, (result) => {
      if (this.#hasEnded) return;
      if ("failed" in result) {
        context.leave({ kind: "restore-given-up", detail: result.failed });
        return;
      }
      const { log, sinks } = context;
      const { stateFile, position } = result;
      this.#isInstalled = true;
      this.#leader.beginStep();
      log.beginStage(position);
      log.installHistory(
        {
          epoch: epoch.number,
          tail: position.zxid,
          committed: ZXID_NONE,
          snapshot: { stateFile, epochs, isUncommitted: true },
        },
        () => sinks.application.install?.(),
        () => {
          epoch.replaceHistory(position);
          this.#leader.historyReplaced();
          installed();
        },
      );
    });
  }

  /** A quorum has the state. */
  established(): void {
    const { epoch } = this.#leader;
    this.#leader.context.sinks.roles.note({ kind: "state-restored", zxid: epoch.history.zxid });
    this.#end(() => this.#state.ended({ kind: "restored", epoch: epoch.number, zxid: epoch.history.zxid }));
  }

  /** The role ends. */
  end(detail: string): void {
    const epoch = this.#leader.epoch.number;
    this.#end(() => this.#state.ended(this.#isInstalled ? { kind: "undecided", epoch } : { kind: "given-up", detail }));
  }

  #end(report: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    report();
  }
}
