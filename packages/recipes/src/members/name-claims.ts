import type { Client } from "@zooid/client";

/** A maintainer of a node, as others of the same session see it. */
export interface Claimant {
  /** Another one has the name now. */
  replaced(): void;
}

interface Claim {
  readonly owner: Claimant;
  /** Resolves when it is given up. */
  readonly over: Promise<void>;
  readonly end: () => void;
}

/** By the session, and by the absolute path. */
const claims = new WeakMap<object, Map<string, Claim>>();

/**
 * Names that maintainers of one client have. The server cannot tell them apart: a node of theirs
 * has the same session, so that each would take the other's for its own, and delete it when it is
 * closed.
 */
export class NameClaims {
  readonly #root: string;
  readonly #byPath: Map<string, Claim>;

  constructor(zk: Client) {
    this.#root = zk.root;
    let byPath = claims.get(zk.sharedBySession);
    if (byPath === undefined) {
      byPath = new Map();
      claims.set(zk.sharedBySession, byPath);
    }
    this.#byPath = byPath;
  }

  /**
   * Takes the name if it is free. @returns undefined if it is the claimant's now, else a promise of
   * the end of the other one's claim
   */
  take(path: string, owner: Claimant): Promise<void> | undefined {
    const key = this.#keyOf(path);
    const known = this.#byPath.get(key);
    if (known !== undefined) return known.owner === owner ? undefined : known.over;
    this.#enter(key, owner);
    return undefined;
  }

  /** Takes the name from another maintainer, which learns that. */
  takeOver(path: string, owner: Claimant): void {
    const known = this.#byPath.get(this.#keyOf(path));
    if (known === undefined || known.owner === owner) return;
    this.release(path, known.owner);
    // Those that waited for the name go behind the new one.
    this.#enter(this.#keyOf(path), owner);
    known.owner.replaced();
  }

  /** Whether the claimant has the name. */
  holds(path: string, owner: Claimant): boolean {
    return this.#byPath.get(this.#keyOf(path))?.owner === owner;
  }

  /** Gives the name up, if it is the claimant's. */
  release(path: string, owner: Claimant): void {
    const key = this.#keyOf(path);
    const known = this.#byPath.get(key);
    if (known?.owner !== owner) return;
    this.#byPath.delete(key);
    known.end();
  }

  #enter(key: string, owner: Claimant): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#byPath.set(key, { owner, over: promise, end: resolve });
  }

  #keyOf(path: string): string {
    return this.#root === "/" ? path : `${this.#root}${path}`;
  }
}
