import type { Identity } from "./acl-entry.ts";

const NONE: ReadonlySet<string> = new Set();

/** A cache: each index is derived from its identities alone, and lives as long as they do. */
const indexes = new WeakMap<readonly Identity[], IdentityIndex>();

/**
 * A connection's identities by scheme and id: made once for a connection that has several.
 */
export class IdentityIndex {
  readonly isSuper: boolean;
  readonly #ids = new Map<string, Set<string>>();

  constructor(identities: readonly Identity[]) {
    for (const { scheme, id } of identities) {
      const ids = this.#ids.get(scheme);
      if (ids === undefined) this.#ids.set(scheme, new Set([id]));
      else ids.add(id);
    }
    this.isSuper = this.#ids.has("super");
  }

  /** @param identities never changed afterwards */
  static of(identities: readonly Identity[]): IdentityIndex {
    let index = indexes.get(identities);
    if (index === undefined) {
      index = new IdentityIndex(identities);
      indexes.set(identities, index);
    }
    return index;
  }

  ids(scheme: string): ReadonlySet<string> {
    return this.#ids.get(scheme) ?? NONE;
  }
}
