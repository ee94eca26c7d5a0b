import type { OperatorEvent } from "./log-events.ts";
import type { LogFields } from "./log-fields.ts";
import { NO_QUORUM_REPORT_MS } from "./no-quorum-report.ts";
import { sentenceOf } from "./operator-sentences.ts";

/** Reasons that last until an operator acts, or until what they are about is there again. */
const LASTING: ReadonlySet<OperatorEvent["kind"]> = new Set([
  "applied-beyond",
  "beside-another-ensemble",
  "histories-differ",
  "history-not-the-leaders",
  "history-of-one-server",
  "leader-of-another-ensemble",
  "leader-unreachable",
  "leaders-level",
]);
/** A refused server tries again sooner than this. */
const REFUSAL_MS = 60_000;
const PAGE = 'see "Members and roles in the log" in docs/operations.md';

export interface NotServingParts {
  /** Whether the server has a role in which it serves clients. */
  readonly isServing: () => boolean;
  /** Whether this server is connected to a quorum of voters that count. */
  readonly hasQuorum: () => boolean;
  error(text: string, fields: LogFields): void;
}

/**
 * Reports that a server has no role for a minute although a quorum of voters is connected: the
 * leader's other port cannot be reached, or it belongs to another ensemble.
 */
export class NotServingReport {
  readonly #parts: NotServingParts;
  /** The last reason why a role ended that an operator must see to. */
  #reason: string | undefined;
  /** The last link that was refused. */
  #refusal: { readonly sentence: string; readonly atMs: number } | undefined;
  #sinceMs: number | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: NotServingParts) {
    this.#parts = parts;
  }

  /** An event of the broadcast, which may be such a reason. */
  noted(event: OperatorEvent): void {
    if (LASTING.has(event.kind)) this.#reason = sentenceOf(event);
  }

  /** This server has refused the link of a listed one, which tries again. */
  refused(sentence: string, nowMs: number): void {
    this.#refusal = { sentence, atMs: nowMs };
  }

  /** For a timer of `NO_QUORUM_CHECK_MS`. */
  check(nowMs: number): void {
    if (this.#parts.isServing()) {
      this.#reason = undefined;
      this.#sinceMs = undefined;
      return;
    }
    // Without a quorum there is another report.
    if (!this.#parts.hasQuorum()) {
      this.#sinceMs = undefined;
      return;
    }
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs < NO_QUORUM_REPORT_MS || nowMs - this.#reportedMs < NO_QUORUM_REPORT_MS) return;
    this.#reportedMs = nowMs;
    const { error } = this.#parts;
    const reasons = this.#reasons(nowMs);
    error(
      `this server has not served for ${this.#seconds(nowMs)} s, though a quorum of the voters is connected${reasons.length === 0 ? "" : `: ${reasons.join("; ")}`}; ${PAGE}`,
      { event: "not-serving" },
    );
  }

  /** For `/readyz`. */
  note(nowMs: number): string {
    if (this.#parts.isServing()) return "";
    const isLong = this.#sinceMs !== undefined && nowMs - this.#sinceMs >= NO_QUORUM_REPORT_MS;
    const time = isLong ? [`not serving for ${this.#seconds(nowMs)} s, ${PAGE}`] : [];
    return [...this.#reasons(nowMs), ...time].map((clause) => `; ${clause}`).join("");
  }

  #seconds(nowMs: number): number {
    return Math.floor((nowMs - (this.#sinceMs ?? nowMs)) / 1000);
  }

  #reasons(nowMs: number): readonly string[] {
    const refusal = this.#refusal;
    const isRecent = refusal !== undefined && nowMs - refusal.atMs < REFUSAL_MS;
    return [this.#reason, isRecent ? refusal.sentence : undefined].filter((reason) => reason !== undefined);
  }
}
