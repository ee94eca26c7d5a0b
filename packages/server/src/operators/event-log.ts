import { counted } from "@zooid/model";
import type { OperatorEvent } from "./log-events.ts";
import { fieldsOf, type LogFields } from "./log-fields.ts";
import { sentenceOf } from "./operator-sentences.ts";

/** Levels of events that last until an operator acts, or come again and again until then. */
const LEVELS: Partial<Readonly<Record<OperatorEvent["kind"], "info" | "warn" | "error">>> = {
  "electors-lost": "info",
  "no-quorum-follows": "info",
  "history-of-one-server": "error",
  "leader-of-another-ensemble": "error",
  "beside-another-ensemble": "error",
  "leaders-level": "error",
  "applied-beyond": "error",
  "histories-differ": "error",
  "committed-history-unknown": "error",
  "history-not-the-leaders": "error",
  "leader-unreachable": "warn",
  "refused-by-learner": "warn",
  "refused-by-leader": "warn",
  "learner-not-counted": "warn",
  "old-disk": "warn",
  "list-differs": "warn",
};
/** Minimum interval between equal lines about something that an operator must do. */
const REPEAT_MS = 60_000;
/** Different lines that are remembered. */
const LINES_MAX = 64;

interface Lines {
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
  error(text: string, fields: LogFields): void;
}

/**
 * Writes events of the ensemble as log lines. Servers try again some times a second where only an
 * operator can help: the same line is written once a minute then, with how often it happened.
 */
export class EventLog {
  readonly #log: Lines;
  readonly #nowMs: () => number;
  readonly #written = new Map<string, { atMs: number; moreCount: number }>();

  constructor(log: Lines, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  note(event: OperatorEvent): void {
    const text = sentenceOf(event);
    const level = LEVELS[event.kind];
    if (level === undefined) {
      this.#log.info(text, fieldsOf(event));
      return;
    }
    const nowMs = this.#nowMs();
    const before = this.#written.get(text);
    if (before !== undefined && nowMs - before.atMs < REPEAT_MS) {
      before.moreCount++;
      return;
    }
    const more =
      before === undefined || before.moreCount === 0 ? "" : ` (${counted(before.moreCount, "more time")} since)`;
    this.#log[level](`${text}${more}`, fieldsOf(event));
    this.#written.delete(text);
    this.#written.set(text, { atMs: nowMs, moreCount: 0 });
    const [oldest] = this.#written.keys();
    if (this.#written.size > LINES_MAX && oldest !== undefined) this.#written.delete(oldest);
  }
}
