/**
 * Writes that are gathered to be made as one transaction. They are kept by this page alone, until
 * it is closed.
 */
import type { MultiOpJson, WrittenData } from "../../../src/api/shapes.ts";

interface DraftBase {
  readonly path: string;
  /** The text before the write, for the difference. */
  readonly before: string;
}

export type Draft =
  | (DraftBase & { readonly op: "create"; readonly mode: CreateMode; readonly data: WrittenData })
  | (DraftBase & { readonly op: "set"; readonly data: WrittenData; readonly version: number })
  | (DraftBase & { readonly op: "delete"; readonly version: number })
  | (DraftBase & { readonly op: "check"; readonly version: number });
export type CreateMode = "persistent" | "persistent-sequential" | "container";

export type Kept = Draft & { readonly id: number };

/** As many as the API takes. */
export const DRAFTS_MAX = 1000;

export class Basket {
  readonly #listeners = new Set<() => void>();
  #drafts: readonly Kept[] = [];
  #lastId = 0;

  /** In the order in which the transaction carries them out. A changed list is another object. */
  get drafts(): readonly Kept[] {
    return this.#drafts;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A later write of the same kind to the same node takes the place of the earlier one. */
  add(draft: Draft): void {
    const at = this.#drafts.findIndex(({ op, path }) => op === draft.op && path === draft.path);
    const isSequential = draft.op === "create" && draft.mode === "persistent-sequential";
    const kept: Kept = { ...draft, id: ++this.#lastId };
    if (at >= 0 && !isSequential) return this.#change(this.#drafts.with(at, kept));
    if (this.#drafts.length >= DRAFTS_MAX) throw new RangeError(`a transaction has at most ${DRAFTS_MAX} writes`);
    this.#change([...this.#drafts, kept]);
  }

  remove(id: number): void {
    this.#change(this.#drafts.filter((draft) => draft.id !== id));
  }

  /** @param by -1: one place earlier; 1: one place later */
  move(id: number, by: -1 | 1): void {
    const at = this.#drafts.findIndex((draft) => draft.id === id);
    const [one, other] = [this.#drafts[at], this.#drafts[at + by]];
    if (one !== undefined && other !== undefined) this.#change(this.#drafts.with(at, other).with(at + by, one));
  }

  /** The write is made over another version of its node. */
  rebase(id: number, { version, before }: { readonly version: number; readonly before: string }): void {
    this.#change(
      this.#drafts.map((draft) => (draft.id !== id || draft.op === "create" ? draft : { ...draft, version, before })),
    );
  }

  clear(): void {
    this.#change([]);
  }

  #change(drafts: readonly Kept[]): void {
    this.#drafts = drafts;
    for (const listener of this.#listeners) listener();
  }
}

export function multiOp(draft: Draft): MultiOpJson {
  const { op, path } = draft;
  switch (op) {
    case "create":
      return { op, path, data: draft.data, mode: draft.mode };
    case "set":
      return { op, path, data: draft.data, version: draft.version };
    case "delete":
    case "check":
      return { op, path, version: draft.version };
  }
}

/** The text after the write: nothing of a deleted node, the same of a node that is only checked. */
export function afterOf(draft: Draft): string {
  switch (draft.op) {
    case "create":
    case "set":
      return "text" in draft.data ? draft.data.text : draft.data.base64;
    case "delete":
      return "";
    case "check":
      return draft.before;
  }
}

export const basket = new Basket();
