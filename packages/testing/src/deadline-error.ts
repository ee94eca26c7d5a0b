import { errorJson, keepCode } from "@zooid/model";

/**
 * A `run` has not ended within its virtual deadline. The message says what waits, and how servers
 * and clients are.
 */
export class VirtualDeadlineError extends Error {
  override readonly name = "VirtualDeadlineError";
  readonly code = "VIRTUAL_DEADLINE";
  /** The event that was waited for. */
  readonly waitsFor: string;
  readonly deadlineMs: number;
  readonly seed: number;
  /** How every server and every client was at the deadline, a line each. */
  readonly situation: readonly string[];

  constructor(parts: {
    readonly waitsFor: string;
    readonly deadlineMs: number;
    readonly seed: number;
    readonly situation: readonly string[];
  }) {
    const { waitsFor, deadlineMs, seed, situation } = parts;
    super(
      [
        `${waitsFor} was not settled within ${deadlineMs} ms of virtual time (seed ${seed})`,
        ...situation.map((line) => `  ${line}`),
        "  What waits for the real world (files, sockets, other processes) stands inside of ensemble.real(() => …).",
      ].join("\n"),
    );
    this.waitsFor = waitsFor;
    this.deadlineMs = deadlineMs;
    this.seed = seed;
    this.situation = situation;
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}
