import {
  type Acl,
  aclIndexBytes,
  assert,
  derivedKey,
  type HashKey,
  keyedHash,
  OPEN_ACL,
  prepareAcl,
} from "@zooid/model";
import { hashAcl, WordHash } from "../digest.ts";
import { HashTable } from "./hash-table.ts";

/**
 * Every different ACL once, by a number that nodes keep. Millions of nodes share a handful of ACLs;
 * one that no node uses any more is forgotten and its number used again.
 */

/** The number of the open ACL. */
export const OPEN_ACL_ID = 1;
/** The bytes of an entry of a list beside its texts. */
const ENTRY_BYTES = 64;
const TEXT_BYTES_FIRST = 256;

interface Entry {
  readonly acl: Acl;
  readonly tableHash: number;
  /** For the digest, see {@link hashAcl}. */
  readonly hashHigh: number;
  readonly hashLow: number;
  readonly bytes: number;
  references: number;
}

export class AclTable {
  readonly #entries: (Entry | undefined)[] = [undefined];
  readonly #freeIds: number[] = [];
  readonly #table = new HashTable();
  readonly #hash = new WordHash();
  readonly #key: HashKey;
  /**
   * The list that was acquired last, which transactions of many creates bring again and again, and
   * its number.
   */
  #lastAcl: Acl = OPEN_ACL;
  #lastId: number = OPEN_ACL_ID;
  #text: Buffer = Buffer.allocUnsafeSlow(TEXT_BYTES_FIRST);
  #bytes = 0;

  /** @param key secret, so that clients cannot choose access lists that collide */
  constructor(key: HashKey) {
    this.#key = derivedKey(key, 4);
    this.acquire(OPEN_ACL);
  }

  /** The number of an ACL of this content, with one reference more. */
  acquire(acl: Acl): number {
    const isLast = acl === this.#lastAcl && this.#entries.length > OPEN_ACL_ID;
    if (!isLast) {
      this.#lastId = isOpen(acl) && this.#entries.length > OPEN_ACL_ID ? OPEN_ACL_ID : this.#findOrAdd(acl);
      this.#lastAcl = acl;
    }
    this.#entry(this.#lastId).references++;
    return this.#lastId;
  }

  release(id: number): void {
    const entry = this.#entry(id);
    entry.references--;
    if (entry.references > 0) return;
    if (id === this.#lastId) {
      this.#lastId = OPEN_ACL_ID;
      this.#lastAcl = OPEN_ACL;
    }
    this.#table.remove(entry.tableHash, id);
    this.#bytes -= entry.bytes;
    this.#entries[id] = undefined;
    this.#freeIds.push(id);
  }

  get(id: number): Acl {
    return this.#entry(id).acl;
  }

  hashHigh(id: number): number {
    return this.#entry(id).hashHigh;
  }

  hashLow(id: number): number {
    return this.#entry(id).hashLow;
  }

  /** How many different ACLs are in use, the open one always among them. */
  get count(): number {
    return this.#table.count;
  }

  /** The bytes of the lists in use in memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  #findOrAdd(acl: Acl): number {
    const tableHash = this.#tableHash(acl);
    for (let id = this.#table.first(tableHash); id !== 0; id = this.#table.next()) {
      if (isEqual(this.#entry(id).acl, acl)) return id;
    }
    hashAcl(this.#hash, acl);
    const id = this.#freeIds.pop() ?? this.#entries.length;
    const kept = acl === OPEN_ACL ? acl : acl.map(({ perms, scheme, id }) => ({ perms, scheme, id }));
    prepareAcl(kept);
    const bytes = aclBytes(kept);
    const { high: hashHigh, low: hashLow } = this.#hash;
    this.#entries[id] = { acl: kept, tableHash, hashHigh, hashLow, bytes, references: 0 };
    this.#bytes += bytes;
    this.#table.insert(tableHash, id);
    return id;
  }

  #tableHash(acl: Acl): number {
    let hash = acl.length;
    for (const { perms, scheme, id } of acl) hash = this.#hashText(this.#hashText(hash ^ perms, scheme), id);
    return hash;
  }

  #hashText(before: number, text: string): number {
    // A UTF-16 unit takes three bytes at most.
    if (text.length * 3 > this.#text.length) this.#text = Buffer.allocUnsafeSlow(text.length * 3);
    return keyedHash(this.#key, before, this.#text, 0, this.#text.write(text));
  }

  #entry(id: number): Entry {
    const entry = this.#entries[id];
    assert(entry !== undefined, "an ACL that a node names is in the table");
    return entry;
  }
}

/** The bytes of a list in memory, about. */
export function aclBytes(acl: Acl): number {
  let bytes = aclIndexBytes(acl);
  for (const { scheme, id } of acl) bytes += ENTRY_BYTES + scheme.length + id.length;
  return bytes;
}

function isOpen(acl: Acl): boolean {
  return acl === OPEN_ACL || isEqual(acl, OPEN_ACL);
}

function isEqual(acl: Acl, other: Acl): boolean {
  if (acl.length !== other.length) return false;
  for (let i = 0; i < acl.length; i++) {
    if (acl[i].perms !== other[i].perms || acl[i].scheme !== other[i].scheme || acl[i].id !== other[i].id) return false;
  }
  return true;
}
