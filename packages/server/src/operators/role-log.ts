import { EPOCH_ALARM, EPOCH_MAX, type ServerId } from "@zooid/model";
import type { PeerPhase, PeerState } from "@zooid/zab";
import type { LogFields } from "./log-fields.ts";

type WriteLine = (text: string, fields: LogFields) => void;

/** A member's role at one moment, as its replica reports it. */
export interface MemberRole {
  readonly state: PeerState;
  readonly phase: PeerPhase;
  readonly epoch: number;
  /** Undefined while none is known. */
  readonly leader: ServerId | undefined;
}

/**
 * One line for each role that a member of an ensemble takes: when it looks for a leader, and when
 * it serves. From epoch 2^20 on each epoch is a warning as well: at 2^21 - 1 no leader can be
 * elected.
 */
export class RoleLog {
  readonly #info: WriteLine;
  readonly #warn: WriteLine;
  #last = "";
  #decidedMs = 0;

  constructor({ info, warn }: { readonly info: WriteLine; readonly warn: WriteLine }) {
    this.#info = info;
    this.#warn = warn;
  }

  /** Called whenever the role, or the phase in it, may have changed. */
  changed({ state, phase, epoch, leader }: MemberRole, nowMs: number): void {
    if (state === "looking") {
      this.#decidedMs = 0;
      this.#say("LOOKING for a leader", { event: "role", role: "looking" });
      return;
    }
    if (this.#decidedMs === 0) this.#decidedMs = nowMs;
    if (phase !== "broadcast") return;
    const role = state === "leading" ? "LEADING" : `${state.toUpperCase()} server ${leader ?? "?"}`;
    const text = `${role}, epoch ${epoch}`;
    const durationMs = Math.round(nowMs - this.#decidedMs);
    const fields: LogFields = { event: "role", role: state, epoch, peer: leader, durationMs };
    if (this.#say(text, fields, `, synced after ${durationMs} ms`)) this.#warnOfLastEpochs(epoch);
  }

  /** @returns false if this was the last line */
  #say(text: string, fields: LogFields, rest = ""): boolean {
    if (text === this.#last) return false;
    this.#last = text;
    this.#info(`${text}${rest}`, fields);
    return true;
  }

  #warnOfLastEpochs(epoch: number): void {
    if (epoch < EPOCH_ALARM) return;
    const left = EPOCH_MAX - 1 - epoch;
    this.#warn(
      `epoch ${epoch} of at most ${EPOCH_MAX - 1}: after ${left} more elections no server can lead; ` +
        "import the data into a new ensemble before that (docs/operations.md, Members and roles in the log)",
      { event: "epochs-running-out", epoch },
    );
  }
}
