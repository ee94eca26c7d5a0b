import type { Zxid } from "@zooid/model";

const FAULTS_SHOWN = 20;

/** A change as clients name it: values and names never repeat, so that each is one of its kind. */
export interface Change {
  readonly op: "create" | "set" | "delete";
  readonly path: string;
  readonly value: string;
}

/** A change that a stream of changes or a history has, of any kind. */
export interface SeenChange {
  readonly op: string;
  readonly path: string;
  readonly value: string;
  readonly zxid: number;
}

interface Written extends Change {
  readonly writer: number;
  isAnswered: boolean;
  /** That of the answer, where it has one. */
  zxid: number | undefined;
}

/** The changes of one transaction, which are asked for. */
export class WrittenTransaction {
  readonly #changes: readonly Written[];

  constructor(changes: readonly Written[]) {
    this.#changes = changes;
  }

  answered(zxid: Zxid | undefined): void {
    for (const change of this.#changes) {
      change.isAnswered = true;
      change.zxid = zxid;
    }
  }
}

/**
 * Changes that clients asked for, as a model of what a history says: each one that was answered,
 * once; others once or never; by their zxids, and each writer's in the order in which it made them.
 */
export class WrittenChanges {
  readonly #written = new Map<string, Written>();
  readonly #faults: string[] = [];

  get answeredCount(): number {
    return [...this.#written.values()].filter(({ isAnswered }) => isAnswered).length;
  }

  /** To be called before the request is sent; one writer has one request at a time. */
  begin(writer: number, changes: readonly Change[]): WrittenTransaction {
    const all = changes.map((change) => ({ ...change, writer, isAnswered: false, zxid: undefined }));
    for (const change of all) this.#written.set(keyOf(change), change);
    return new WrittenTransaction(all);
  }

  /** A writer that was refused, although it cannot be. */
  refused(error: Error): void {
    this.#faults.push(`a write was refused: ${error.message}`);
  }

  /** @returns what is wrong, at most some of it */
  check(seen: readonly SeenChange[], name: string): readonly string[] {
    const faults = [...this.#faults];
    const left = new Map([...this.#written].filter(([, { isAnswered }]) => isAnswered));
    const places = new Map([...this.#written.keys()].map((key, place) => [key, place]));
    const known = new Set<string>();
    const lastOf = new Map<number, number>();
    let before = 0;
    for (const change of seen) {
      const key = keyOf(change);
      const written = this.#written.get(key);
      left.delete(key);
      if (known.has(key)) faults.push(`${name}: ${key} comes twice`);
      known.add(key);
      if (written === undefined) {
        faults.push(`${name}: ${key} was never asked for`);
        continue;
      }
      if (written.zxid !== undefined && written.zxid !== change.zxid)
        faults.push(`${name}: ${key} is at ${hex(change.zxid)}, and was answered at ${hex(written.zxid)}`);
      if (change.zxid < before) faults.push(`${name}: ${key}, at ${hex(change.zxid)}, comes behind ${hex(before)}`);
      before = change.zxid;
      const place = places.get(key) ?? 0;
      if (place < (lastOf.get(written.writer) ?? -1))
        faults.push(`${name}: ${key} comes behind a later change of its writer`);
      lastOf.set(written.writer, place);
    }
    for (const key of left.keys()) faults.push(`${name}: ${key} was answered, and is missing`);
    return faults.slice(0, FAULTS_SHOWN);
  }
}

function keyOf({ op, path, value }: Omit<SeenChange, "zxid">): string {
  return `${op} ${path} ${value}`.trimEnd();
}

function hex(zxid: number): string {
  return `0x${zxid.toString(16)}`;
}
