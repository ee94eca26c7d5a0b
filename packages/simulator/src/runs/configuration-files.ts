import { counterOf, isSameVotes, type Members, type ServerId, ZXID_NONE } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import type { Plan } from "./plan.ts";

/**
 * The configuration in each server's files, which outlast its disk. A server where clients change
 * the members keeps the committed one there, or the first one for good where its files cannot be
 * written. Other files are their operator's.
 */
export class ConfigurationFiles {
  readonly #first: Members | undefined;
  readonly #isWritable: boolean;
  readonly #operated: ReadonlySet<ServerId>;
  readonly #earlier: Set<ServerId>;
  readonly #written = new Map<ServerId, Members>();

  constructor({ members, hasWritableFiles, fileServers, earlierServers }: Plan) {
    this.#first = members;
    this.#isWritable = hasWritableFiles;
    this.#operated = new Set(fileServers);
    this.#earlier = new Set(earlierServers);
  }

  /**
   * Undefined for a server that counts by the plan's list: the members never change, or it is of
   * version 0.1.0.
   */
  of(sid: ServerId): Members | undefined {
    return this.#earlier.has(sid) ? undefined : (this.#written.get(sid) ?? this.#first);
  }

  /** Servers of version 0.1.0. */
  get earlier(): ReadonlySet<ServerId> {
    return this.#earlier;
  }

  /** The next start of a server is one of the present version. */
  upgrade(sid: ServerId): void {
    this.#earlier.delete(sid);
  }

  /** An operator edits the files of a server. */
  edit(sid: ServerId, members: Members): void {
    this.#written.set(sid, members);
  }

  /** Whether the list in force at a server came from files that an operator edited. */
  isListOfFiles({ sid, replica }: SimServer): boolean {
    const { committed } = replica.zab.members;
    if (committed === undefined || counterOf(committed.version) === 0 || !this.#operated.has(sid)) return false;
    const written = this.#written.get(sid);
    return written !== undefined && isSameVotes(written, committed);
  }

  stepped({ sid, replica }: SimServer): void {
    if (!this.#isWritable || this.#operated.has(sid)) return;
    const { committed } = replica.zab.members;
    if (committed === undefined || committed.version === ZXID_NONE) return;
    // A file has the lines that clients see.
    if (this.#written.get(sid)?.version !== committed.version) {
      this.#written.set(sid, { ...committed, disks: new Map() });
    }
  }
}
