import type { Random } from "@zooid/conformance/internal/random";
import { formatZxid, type Zxid } from "@zooid/model";

/** A write that was answered, or a node as a server shows it. */
export interface AnsweredWrite {
  readonly zxid: Zxid;
  readonly path: string;
  readonly value: string;
}

/** Zxids of one history: those behind `after`, up to and including `through`. */
interface Part {
  readonly after: number;
  readonly through: number;
}

/**
 * The writes that clients have answers to, and which of them are in the history that an ensemble
 * continues: a restore takes the place of all behind the moment that it goes back to.
 */
export class RestoredHistories {
  readonly #writes: AnsweredWrite[];
  /** The history that each write of an earlier time was in, up to it. */
  readonly #partsOf: Map<AnsweredWrite, readonly Part[]>;
  #parts: readonly Part[] = [{ after: 0, through: Number.POSITIVE_INFINITY }];

  constructor(of?: RestoredHistories, parts?: readonly Part[]) {
    this.#writes = of === undefined ? [] : of.#writes;
    this.#partsOf = of === undefined ? new Map() : of.#partsOf;
    this.#parts = parts ?? this.#parts;
  }

  get count(): number {
    return this.#writes.length;
  }

  add(write: AnsweredWrite): void {
    this.#writes.push(write);
  }

  /** Settles the answered writes: each is in the present history, or in the one before it. */
  settle(): void {
    for (const write of this.#writes) {
      if (!this.#partsOf.has(write) && isIn(this.#parts, write.zxid)) this.#partsOf.set(write, this.#parts);
    }
  }

  /** A settled write at or before a zxid; undefined while there is none. */
  pick(random: Random, end: Zxid): AnsweredWrite | undefined {
    this.settle();
    const writes = [...this.#partsOf.keys()].filter(({ zxid }) => zxid <= end);
    return writes.length === 0 ? undefined : random.pick(writes);
  }

  /** These histories, as if the state at a write had been restored at a zxid. */
  restored(moment: AnsweredWrite, at: Zxid): RestoredHistories {
    const before = (this.#partsOf.get(moment) ?? this.#parts)
      .filter(({ after }) => after < moment.zxid)
      .map(({ after, through }) => ({ after, through: Math.min(through, moment.zxid) }));
    return new RestoredHistories(this, [...before, { after: at, through: Number.POSITIVE_INFINITY }]);
  }

  restore(moment: AnsweredWrite, at: Zxid): void {
    this.#parts = this.restored(moment, at).#parts;
    this.settle();
  }

  /** The faults of a server's nodes, by the history that is continued. */
  faultsOf(nodes: readonly AnsweredWrite[]): readonly string[] {
    const lasts = new Map<string, AnsweredWrite>();
    const answered = new Set<string>();
    for (const write of this.#writes) {
      answered.add(write.value);
      if (!isIn(this.#parts, write.zxid)) continue;
      if ((lasts.get(write.path)?.zxid ?? 0) < write.zxid) lasts.set(write.path, write);
    }
    return nodes.flatMap((found) => {
      const last = lasts.get(found.path);
      if (found.value === (last?.value ?? "") && (last === undefined || found.zxid === last.zxid)) return [];
      // A write without an answer may have been carried out.
      const isLater = found.zxid > (last?.zxid ?? 0) && isIn(this.#parts, found.zxid);
      if (isLater && !answered.has(found.value)) return [];
      const due = last === undefined ? "empty" : `${last.value} of ${formatZxid(last.zxid)}`;
      return [`${found.path} is ${found.value} of ${formatZxid(found.zxid)}, and was ${due}`];
    });
  }
}

function isIn(parts: readonly Part[], zxid: number): boolean {
  return parts.some(({ after, through }) => zxid > after && zxid <= through);
}
