import type { BackupTarget } from "../targets/backup-target.ts";
import { parseSharedFacts, type SharedFacts } from "./shared-facts.ts";

const NAME = "lease.json";
const LEASE_BYTES_MAX = 16 * 1024;
const HOLDER_CHARS_MAX = 200;

/** The content of the lease's object, which other servers may have written. */
interface Held {
  readonly holder: string;
  /** Its text: it changes with each renewal. */
  readonly text: string;
  readonly facts: SharedFacts | undefined;
}

export interface UploadLeaseOptions {
  readonly target: BackupTarget;
  /** This server, in words for others: the same after a restart. */
  readonly holder: string;
  /** A lease that was not renewed for this time is free. */
  readonly leaseMs: number;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
}

export type LeaseAnswer =
  | { readonly kind: "held" }
  /** Another server has it; the facts are what it last said. */
  | { readonly kind: "others"; readonly holder: string; readonly facts: SharedFacts | undefined };

/**
 * The object of a target by which one member of an ensemble uploads at a time. A holder renews it;
 * the others watch whether it changes, each by its own clock, so that no clocks are compared. Two
 * that take it at once upload the same files, which is waste and no damage: no file is ever
 * replaced by another one.
 */
export class UploadLease {
  readonly #options: UploadLeaseOptions;
  #count = 0;
  #isHeld = false;
  /** The text of another's lease, and since when it is unchanged. */
  #seen: { readonly text: string; readonly sinceMs: number } | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;

  constructor(options: UploadLeaseOptions) {
    this.#options = options;
  }

  /** Takes the lease, renews it, or says who has it. */
  async take(facts: SharedFacts): Promise<LeaseAnswer> {
    const { holder, leaseMs, nowMs } = this.#options;
    const found = await this.#read();
    if (found !== undefined && found.holder !== holder) {
      this.#isHeld = false;
      if (this.#seen?.text !== found.text) this.#seen = { text: found.text, sinceMs: nowMs() };
      if (nowMs() - this.#seen.sinceMs < leaseMs) return { kind: "others", holder: found.holder, facts: found.facts };
    }
    await this.#write(facts);
    return { kind: "held" };
  }

  /**
   * Renews the lease while a pass lasts, not each time.
   *
   * @returns false if another server has it now
   */
  async keep(facts: SharedFacts): Promise<boolean> {
    const { leaseMs, nowMs } = this.#options;
    if (!this.#isHeld) return false;
    if (nowMs() - this.#renewedMs < leaseMs / 4) return true;
    return (await this.take(facts)).kind === "held";
  }

  /** Frees the lease, for another server to continue at once. */
  async free(): Promise<void> {
    if (!this.#isHeld) return;
    if ((await this.#read())?.holder === this.#options.holder) await this.#options.target.remove(NAME);
    this.#isHeld = false;
  }

  async #write(facts: SharedFacts): Promise<void> {
    const { holder, nowMs, target } = this.#options;
    this.#count++;
    await target.put(NAME, Buffer.from(`${JSON.stringify({ holder, count: this.#count, facts })}\n`));
    this.#isHeld = true;
    this.#seen = undefined;
    this.#renewedMs = nowMs();
  }

  async #read(): Promise<Held | undefined> {
    const text = (await this.#options.target.get(NAME, LEASE_BYTES_MAX))?.toString("utf8");
    if (text === undefined) return undefined;
    const { holder, facts } = fieldsIn(text);
    const isName = typeof holder === "string" && holder.length <= HOLDER_CHARS_MAX && /^[\x20-\x7e]+$/.test(holder);
    // What is no lease is one that is not renewed.
    return { holder: isName ? holder : "a server that is not known", text, facts: parseSharedFacts(facts) };
  }
}

function fieldsIn(text: string): { readonly holder?: unknown; readonly facts?: unknown } {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === "object" && fields !== null ? fields : {};
  } catch {
    return {};
  }
}
