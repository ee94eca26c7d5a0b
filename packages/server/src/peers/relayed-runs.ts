import type { EntriesMessage, Zxid } from "@zooid/model";
import { FRAME_HEADER_BYTES, frameLength, frameZxid } from "@zooid/model";

/** Bytes of the newest entries that a follower is assumed to hold. */
const SENT_BYTES_MAX = 4 * 1024 * 1024;
/** A follower holds more than that, so that neither side has to ask the other. */
const HELD_BYTES_MAX = 2 * SENT_BYTES_MAX;

type Span = Pick<EntriesMessage, "first" | "last">;

/**
 * A leader's record of the newest entries sent to a follower, which the follower can insert into
 * relayed links itself.
 */
export class SentRuns {
  readonly #runs: (Span & { readonly sizeBytes: number })[] = [];
  #sizeBytes = 0;

  sent({ previous, first, last, start, end }: EntriesMessage): void {
    const sizeBytes = end - start;
    if (this.#runs.at(-1)?.last !== previous || sizeBytes > SENT_BYTES_MAX) {
      this.#runs.length = 0;
      this.#sizeBytes = 0;
    }
    if (sizeBytes > SENT_BYTES_MAX) return;
    this.#runs.push({ first, last, sizeBytes });
    this.#sizeBytes += sizeBytes;
    while (this.#sizeBytes > SENT_BYTES_MAX) this.#sizeBytes -= this.#runs.shift()?.sizeBytes ?? 0;
  }

  covers({ first, last }: Span): boolean {
    const oldest = this.#runs[0];
    const newest = this.#runs.at(-1);
    return oldest !== undefined && newest !== undefined && oldest.first <= first && last <= newest.last;
  }
}

/** The positions of frames. */
export interface HeldFrames {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** A follower's newest entries as received: those that {@link SentRuns} records are here. */
export class HeldRuns {
  readonly #runs: EntriesMessage[] = [];
  #sizeBytes = 0;
  /** The last assembled run: several observers are sent the same. */
  #latest: (Span & { readonly frames: HeldFrames }) | undefined;

  /** Keeps a message and its bytes, which must not be overwritten. */
  received(message: EntriesMessage): void {
    if (this.#runs.at(-1)?.last !== message.previous) this.clear();
    this.#runs.push(message);
    this.#sizeBytes += message.end - message.start;
    while (this.#sizeBytes > HELD_BYTES_MAX && this.#runs.length > 1) {
      const oldest = this.#runs.shift();
      if (oldest !== undefined) this.#sizeBytes -= oldest.end - oldest.start;
    }
  }

  /** The frames from one entry to another; undefined if some are missing. */
  framesOf({ first, last }: Span): HeldFrames | undefined {
    if (this.#latest?.first === first && this.#latest.last === last) return this.#latest.frames;
    const from = this.#runs.findIndex((run) => run.last >= first);
    const parts: HeldFrames[] = [];
    for (const run of this.#runs.slice(Math.max(from, 0))) {
      if (run.first > last) break;
      parts.push(cut(run, first, last));
    }
    const [only] = parts;
    const held = this.#runs[from];
    const newest = this.#runs.at(-1);
    if (only === undefined || held === undefined || newest === undefined) return undefined;
    if (held.first > first || newest.last < last) return undefined;
    const frames = parts.length === 1 ? only : joined(parts);
    this.#latest = { first, last, frames };
    return frames;
  }

  clear(): void {
    this.#runs.length = 0;
    this.#sizeBytes = 0;
    this.#latest = undefined;
  }
}

/** The frames of a run between two entries, both included. */
function cut({ bytes, start, end, ...run }: EntriesMessage, first: Zxid, last: Zxid): HeldFrames {
  if (first <= run.first && run.last <= last) return { bytes, start, end };
  const frameEnd = (at: number): number => at + FRAME_HEADER_BYTES + frameLength(bytes, at);
  let from = start;
  while (from < end && frameZxid(bytes, from) < first) from = frameEnd(from);
  let to = from;
  while (to < end && frameZxid(bytes, to) <= last) to = frameEnd(to);
  return { bytes, start: from, end: to };
}

function joined(parts: readonly HeldFrames[]): HeldFrames {
  const bytes = Buffer.concat(parts.map(({ bytes, start, end }) => bytes.subarray(start, end)));
  return { bytes, start: 0, end: bytes.length };
}
