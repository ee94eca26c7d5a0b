import type { AccessRules, Acl, Identity } from "./acl-entry.ts";
import { IdentityIndex } from "./identity-index.ts";
import { IpRangePerms } from "./ip-range-perms.ts";

/** Verdicts that one list remembers; when there are more, all are forgotten. */
const VERDICT_COUNT_MAX = 16;
const ALL_BITS = -1;
/** The one scheme whose entries name ranges. */
const RANGE_SCHEME = "ip";

/** The entries of one scheme in one list. */
interface SchemeEntries {
  /** Permissions of all of them together. */
  allPerms: number;
  readonly permsById: Map<string, number>;
}

/**
 * A list of many entries by scheme and id, so that a check costs a look-up for each identity or
 * each entry, whichever are fewer, and not a comparison of each identity with each entry. The last
 * verdicts are kept: most checks of a list are about the few connections that use it at the time.
 */
export class AclIndex {
  readonly #anyonePerms: number;
  readonly #schemes = new Map<string, SchemeEntries>();
  readonly #ranges: IpRangePerms;
  #rules: AccessRules | undefined;
  /** Weak, so that the identities of closed connections are not kept. */
  #verdicts = new WeakMap<readonly Identity[], number>();
  #verdictCount = 0;

  constructor(acl: Acl) {
    let anyonePerms = 0;
    for (const { perms, scheme, id } of acl) {
      if (scheme === "world" && id === "anyone") anyonePerms |= perms;
      if (scheme === "world" || scheme === RANGE_SCHEME) continue;
      let entries = this.#schemes.get(scheme);
      if (entries === undefined) {
        entries = { allPerms: 0, permsById: new Map() };
        this.#schemes.set(scheme, entries);
      }
      entries.allPerms |= perms;
      entries.permsById.set(id, (entries.permsById.get(id) ?? 0) | perms);
    }
    this.#anyonePerms = anyonePerms;
    this.#ranges = new IpRangePerms(acl.filter(({ scheme }) => scheme === RANGE_SCHEME));
  }

  /** Everything that the list gives to the identities. */
  permsOf(rules: AccessRules, identities: readonly Identity[]): number {
    if (this.#rules !== rules) {
      this.#rules = rules;
      this.#forget();
    }
    let perms = this.#verdicts.get(identities);
    if (perms === undefined) {
      perms = this.#judge(rules, identities);
      if (this.#verdictCount === VERDICT_COUNT_MAX) this.#forget();
      this.#verdicts.set(identities, perms);
      this.#verdictCount++;
    }
    return perms;
  }

  /** The permissions that the entries of ranges give to an address. They are not remembered. */
  rangePermsOf(address: string): number {
    return this.#ranges.of(address);
  }

  /** Walks the identities of a scheme or the entries, whichever are fewer. */
  #judge(rules: AccessRules, identities: readonly Identity[]): number {
    const index = IdentityIndex.of(identities);
    if (index.isSuper) return ALL_BITS;
    let perms = this.#anyonePerms;
    if (rules.schemes.get(RANGE_SCHEME)?.isRange === true) {
      for (const address of index.ids(RANGE_SCHEME)) perms |= this.#ranges.of(address);
    }
    for (const [scheme, { allPerms, permsById }] of this.#schemes) {
      const rule = rules.schemes.get(scheme);
      const ids = index.ids(scheme);
      if (rule === undefined || ids.size === 0) continue;
      if (rule.masterId !== undefined && ids.has(rule.masterId)) perms |= allPerms;
      if (rule.everyoneId !== undefined) perms |= permsById.get(rule.everyoneId) ?? 0;
      if (ids.size < permsById.size) for (const id of ids) perms |= permsById.get(id) ?? 0;
      else for (const [id, given] of permsById) if (ids.has(id)) perms |= given;
    }
    return perms;
  }

  #forget(): void {
    this.#verdicts = new WeakMap();
    this.#verdictCount = 0;
  }
}
