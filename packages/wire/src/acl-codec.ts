import { ACL_COUNT_MAX, type Acl, type AclEntry, OPEN_ACL } from "@zooid/model";
import type { JuteReader } from "./jute-reader.ts";
import type { JuteWriter } from "./jute-writer.ts";

/** An entry is at least its permissions and two lengths. */
const ENTRY_BYTES_MIN = 12;
/**
 * How many different lists are remembered, and how many bytes of them; when there are more, all are
 * forgotten.
 */
const CACHE_COUNT_MAX = 1024;
const CACHE_BYTES_MAX = 1024 * 1024;
/**
 * A longer list is decoded each time. The parts of a multi are decoded twice, so lists of a
 * thousand entries are worth remembering.
 */
const CACHED_BYTES_MAX = 64 * 1024;
/**
 * In place of a list that is too long, however long: no scheme has this name, so no fix-up accepts
 * it either.
 */
const TOO_LONG: Acl = Object.freeze([Object.freeze({ perms: 0, scheme: "", id: "" })]);

/**
 * Reads access lists. Clients send the same few lists again and again, so a list that was seen
 * before is found by its bytes, and is the same object as before.
 */
export class AclReader {
  readonly #seen = new Map<string, Acl>();
  #seenBytes = 0;

  /**
   * A null list is undefined. A list of more than {@link ACL_COUNT_MAX} entries is one that is not
   * valid. Null schemes and ids become entries that no fix-up accepts.
   */
  read(reader: JuteReader): Acl | undefined {
    const start = reader.at;
    const count = reader.count(ENTRY_BYTES_MIN);
    if (count === -1) return undefined;
    const { bytes } = reader;
    const known = this.#lookUp(bytes, start, skipEntries(reader, count));
    if (known !== undefined) return known;
    if (count > ACL_COUNT_MAX) return TOO_LONG;
    const entries: AclEntry[] = [];
    const end = reader.at;
    reader.at = start + 4;
    for (let i = 0; i < count; i++)
      entries.push({ perms: reader.int(), scheme: reader.text() ?? "", id: reader.text() ?? "" });
    const only = entries[0];
    const open = entries.length === 1 && only?.perms === 31 && only.scheme === "world" && only.id === "anyone";
    const acl = open ? OPEN_ACL : entries;
    if (end - start <= CACHED_BYTES_MAX) {
      this.#seenBytes += end - start;
      if (this.#seen.size >= CACHE_COUNT_MAX || this.#seenBytes > CACHE_BYTES_MAX) {
        this.#seen.clear();
        this.#seenBytes = end - start;
      }
      this.#seen.set(bytes.toString("latin1", start, end), acl);
    }
    return acl;
  }

  #lookUp(bytes: Buffer, start: number, end: number): Acl | undefined {
    return end - start > CACHED_BYTES_MAX ? undefined : this.#seen.get(bytes.toString("latin1", start, end));
  }
}

const scratch = { bytes: new Uint8Array(0) as Uint8Array, start: 0, end: 0 };

/** Moves past the entries and says where they end; throws on a malformed one. */
function skipEntries(reader: JuteReader, count: number): number {
  for (let i = 0; i < count; i++) {
    reader.int();
    reader.slice(scratch);
    reader.slice(scratch);
  }
  return reader.at;
}

export function writeAcl(writer: JuteWriter, acl: Acl): void {
  writer.int(acl.length);
  for (const entry of acl) {
    writer.int(entry.perms);
    writer.text(entry.scheme);
    writer.text(entry.id);
  }
}
