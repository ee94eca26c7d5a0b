import type { ServerId } from "@zooid/model";
import type { PeerPhase, PeerState } from "@zooid/zab";
import type { LogFields } from "./log-fields.ts";

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
 * it serves.
 */
export class RoleLog {
  readonly #info: (text: string, fields: LogFields) => void;
  #last = "";
  #decidedMs = 0;

  constructor(info: (text: string, fields: LogFields) => void) {
    this.#info = info;
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
    this.#say(text, { event: "role", role: state, epoch, peer: leader, durationMs }, `, synced after ${durationMs} ms`);
  }

  #say(text: string, fields: LogFields, rest = ""): void {
    if (text === this.#last) return;
    this.#last = text;
    this.#info(`${text}${rest}`, fields);
  }
}
