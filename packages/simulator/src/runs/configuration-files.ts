import { type Members, type ServerId, ZXID_NONE } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import type { Plan } from "./plan.ts";

/**
 * The configuration in each server's files, which outlast its disk. A server keeps the committed one
 * there, or the first one for ever where its files cannot be written.
 */
export class ConfigurationFiles {
  readonly #first: Members | undefined;
  readonly #isWritable: boolean;
  readonly #written = new Map<ServerId, Members>();

  constructor({ members, hasWritableFiles }: Plan) {
    this.#first = members;
    this.#isWritable = hasWritableFiles;
  }

  /** Undefined where the configuration does not change. */
  of(sid: ServerId): Members | undefined {
    return this.#written.get(sid) ?? this.#first;
  }

  stepped({ sid, replica }: SimServer): void {
    if (!this.#isWritable) return;
    const { committed } = replica.zab.members;
    if (committed !== undefined && committed.version !== ZXID_NONE) this.#written.set(sid, committed);
  }
}
