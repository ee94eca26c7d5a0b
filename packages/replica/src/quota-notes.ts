/** Between two sentences about quotas. */
const INTERVAL_MS = 10_000;

/** Tells operators of writes that go beyond a quota: not of each, since a client that does so once does so often. */
export class QuotaNotes {
  readonly #note: (text: string) => void;
  #silentUntilMs = 0;
  #unsaid = 0;

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  tell(text: string, nowMs: number): void {
    if (nowMs < this.#silentUntilMs) {
      this.#unsaid++;
      return;
    }
    this.#note(this.#unsaid === 0 ? text : `${text} (and ${this.#unsaid} more since the last such line)`);
    this.#silentUntilMs = nowMs + INTERVAL_MS;
    this.#unsaid = 0;
  }
}
