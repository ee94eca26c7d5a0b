import { BUDGETS } from "@zooid/model";
import type { LogFields } from "./log-fields.ts";

/** Lines of one kind that are written within one window. */
const { ofKind: LINES_PER_WINDOW, everyMs: WINDOW_MS } = BUDGETS.refusalLines;
/** Between two lines about a repeated attempt, and how many of those are remembered. */
const REPEAT_MS = 60_000;
const REPEATED_COUNT_MAX = 1024;

/**
 * Logs refused connections and requests as a few lines and exact counts: a flood of refusals must
 * not become a flood of lines.
 */
export class RefusalLog {
  readonly counts: Map<string, number> = new Map();
  readonly #warn: (text: string, fields: LogFields) => void;
  readonly #nowMs: () => number;
  readonly #debug: (text: string, fields: LogFields) => void;
  readonly #windows = new Map<string, { startMs: number; lines: number; suppressed: number }>();

  readonly #repeated = new Map<string, number>();

  constructor(
    warn: (text: string, fields: LogFields) => void,
    nowMs: () => number,
    debug: (text: string, fields: LogFields) => void = () => {},
  ) {
    this.#warn = warn;
    this.#nowMs = nowMs;
    this.#debug = debug;
  }

  /** Counts what happens in normal operation; its lines are for those who look for a fault. */
  noteExpected(kind: string, peer: string, text: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.#debug(`closed ${peer}: ${text}`, { event: "refused", refusal: kind, address: peer });
  }

  /**
   * As {@link note}, for an attempt that is repeated until an operator acts: its line is written
   * once a minute.
   *
   * @param cause identifies the attempt and its reason
   */
  noteRepeated(kind: string, cause: string, peer: string, text: string): void {
    const nowMs = this.#nowMs();
    const key = `${kind} ${cause}`;
    const loggedMs = this.#repeated.get(key);
    if (loggedMs !== undefined && nowMs - loggedMs < REPEAT_MS) {
      this.noteExpected(kind, peer, text);
      return;
    }
    // The oldest comes first.
    this.#repeated.delete(key);
    this.#repeated.set(key, nowMs);
    const [oldest = ""] = this.#repeated.keys();
    if (this.#repeated.size > REPEATED_COUNT_MAX) this.#repeated.delete(oldest);
    this.note(kind, peer, text);
  }

  /** @param kind identifies lines of one kind; a text of ours, never input */
  note(kind: string, peer: string, text: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    const now = this.#nowMs();
    let window = this.#windows.get(kind);
    if (window === undefined || now - window.startMs >= WINDOW_MS) {
      if (window !== undefined && window.suppressed > 0) {
        const text = `${window.suppressed} more refusals of this kind in the last ${WINDOW_MS / 1000} s: ${kind}`;
        this.#warn(text, { event: "refused", refusal: kind });
      }
      window = { startMs: now, lines: 0, suppressed: 0 };
      this.#windows.set(kind, window);
    }
    if (window.lines < LINES_PER_WINDOW) {
      window.lines++;
      this.#warn(`closed ${peer}: ${text}`, { event: "refused", refusal: kind, address: peer });
    } else {
      window.suppressed++;
    }
  }
}
