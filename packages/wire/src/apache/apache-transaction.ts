/**
 * A transaction of Apache ZooKeeper's in Jute: its header, a record by its type, and since 3.6 the
 * digest of the tree behind it.
 */
import type { Acl, AclEntry } from "@zooid/model";
import { APACHE_DIGEST_VERSION } from "./apache-format.ts";

export interface ApacheTransaction {
  readonly session: bigint;
  /** The client's number of the request; 0 for what a server does. */
  readonly cxid: number;
  /** One of {@link ApacheType}. */
  readonly type: number;
  readonly zxid: bigint;
  readonly timeMs: bigint;
  /** The code of the error that it failed with, as clients know it; 0 if it did not fail. */
  readonly error: number;
  /** Its changes, in order; none if it failed. */
  readonly changes: readonly ApacheChange[];
  /** Undefined where it has none. */
  readonly digest: bigint | undefined;
}

export type ApacheChange =
  | {
      readonly kind: "create";
      readonly path: string;
      readonly data: Buffer | null;
      readonly acl: Acl;
      readonly owner: bigint;
      /** The parent's number of children ever created; -1: one more than it has. */
      readonly parentCversion: number;
    }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "set"; readonly path: string; readonly data: Buffer | null; readonly version: number }
  | { readonly kind: "set-acl"; readonly path: string; readonly acl: Acl; readonly aversion: number }
  | { readonly kind: "open-session"; readonly timeoutMs: number }
  | { readonly kind: "close-session"; readonly paths: readonly string[] };

/** Types of transactions. */
export const ApacheType = {
  ERROR: -1,
  CREATE: 1,
  DELETE: 2,
  SET_DATA: 5,
  SET_ACL: 7,
  CHECK: 13,
  MULTI: 14,
  CREATE2: 15,
  RECONFIG: 16,
  CREATE_CONTAINER: 19,
  DELETE_CONTAINER: 20,
  CREATE_TTL: 21,
  CREATE_SESSION: -10,
  CLOSE_SESSION: -11,
} as const;

/** The session, the client's number, the zxid, the time and the type stand before a record. */
const HEADER_BYTES = 32;
const ZXID_START = 12;
/** The digest behind a record. */
const DIGEST_BYTES = 12;
const CONTAINER_OWNER = -(2n ** 63n);
/** A TTL node's owner has it in the high byte, and its time to live in the low 40 bits. */
const TTL_OWNER = BigInt.asIntN(64, 0xff00_0000_0000_0000n);

/** @throws RangeError for anything but a transaction of a known version */
export function apacheTransaction(bytes: Buffer): ApacheTransaction {
  const reader = new Reader(bytes);
  const session = reader.long();
  const cxid = reader.int();
  const zxid = reader.long();
  const timeMs = reader.long();
  const type = reader.int();
  const { error, changes } = effectsOf(type, reader, session);
  // Later versions may add to a record, but a digest is at its end.
  const hasDigest = reader.left >= DIGEST_BYTES && reader.int() === APACHE_DIGEST_VERSION;
  const digest = hasDigest ? BigInt.asUintN(64, reader.long()) : undefined;
  return { session, cxid, zxid, timeMs, type, error, changes, digest };
}

/** The zxid alone; undefined for bytes that are too short for a transaction. */
export function apacheZxid(bytes: Buffer): bigint | undefined {
  return bytes.length < HEADER_BYTES ? undefined : bytes.readBigInt64BE(ZXID_START);
}

type Effects = Pick<ApacheTransaction, "error" | "changes">;

function effectsOf(type: number, reader: Reader, session: bigint): Effects {
  switch (type) {
    case ApacheType.ERROR:
      return { error: reader.int(), changes: [] };
    case ApacheType.MULTI:
      return partsOf(reader, session);
    default:
      return { error: 0, changes: changesOf(type, reader, session) };
  }
}

function changesOf(type: number, reader: Reader, session: bigint): readonly ApacheChange[] {
  switch (type) {
    case ApacheType.CREATE_SESSION:
      return [{ kind: "open-session", timeoutMs: reader.int() }];
    case ApacheType.CLOSE_SESSION:
      return [{ kind: "close-session", paths: reader.closedPaths() }];
    case ApacheType.CHECK:
      reader.text();
      reader.int();
      return [];
    case ApacheType.CREATE:
    case ApacheType.CREATE2: {
      const [path, data, acl] = [reader.text(), reader.buffer(), reader.acl()];
      const owner = reader.bool() ? session : 0n;
      // The first version of the record ends here.
      const parentCversion = reader.left >= 4 && reader.left !== DIGEST_BYTES ? reader.int() : -1;
      return [{ kind: "create", path, data, acl, owner, parentCversion }];
    }
    case ApacheType.CREATE_CONTAINER: {
      const [path, data, acl, parentCversion] = [reader.text(), reader.buffer(), reader.acl(), reader.int()];
      return [{ kind: "create", path, data, acl, owner: CONTAINER_OWNER, parentCversion }];
    }
    case ApacheType.CREATE_TTL: {
      const [path, data, acl, parentCversion] = [reader.text(), reader.buffer(), reader.acl(), reader.int()];
      const owner = BigInt.asIntN(64, TTL_OWNER | reader.long());
      return [{ kind: "create", path, data, acl, owner, parentCversion }];
    }
    case ApacheType.DELETE:
    case ApacheType.DELETE_CONTAINER:
      return [{ kind: "delete", path: reader.text() }];
    case ApacheType.SET_DATA:
    case ApacheType.RECONFIG:
      return [{ kind: "set", path: reader.text(), data: reader.buffer(), version: reader.int() }];
    case ApacheType.SET_ACL:
      return [{ kind: "set-acl", path: reader.text(), acl: reader.acl(), aversion: reader.int() }];
    default:
      throw new RangeError(`a transaction of type ${type} is not known`);
  }
}

/**
 * A multi of which a part failed changes nothing. The failing part has its code, the parts before
 * it report 0, and those behind it another code.
 */
function partsOf(reader: Reader, session: bigint): Effects {
  const changes: ApacheChange[] = [];
  let [error, hasFailed] = [0, false];
  for (let left = reader.count(); left > 0; left--) {
    const type = reader.int();
    const record = new Reader(reader.buffer() ?? Buffer.alloc(0));
    if (type === ApacheType.ERROR) {
      hasFailed = true;
      const code = record.int();
      if (error === 0) error = code;
    } else {
      changes.push(...changesOf(type, record, session));
    }
  }
  return { error, changes: hasFailed ? [] : changes };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  int(): number {
    const value = this.#bytes.readInt32BE(this.#at);
    this.#at += 4;
    return value;
  }

  long(): bigint {
    const value = this.#bytes.readBigInt64BE(this.#at);
    this.#at += 8;
    return value;
  }

  bool(): boolean {
    return this.#bytes.readInt8(this.#at++) !== 0;
  }

  buffer(): Buffer | null {
    const length = this.int();
    if (length === -1) return null;
    if (length < 0 || length > this.left)
      throw new RangeError(`a field of ${length} bytes, where ${this.left} are left`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return (this.buffer() ?? Buffer.alloc(0)).toString();
  }

  /** Each element has 4 bytes at least. */
  count(): number {
    const count = this.int();
    if (count === -1) return 0;
    if (count < 0 || count > this.left / 4)
      throw new RangeError(`a count of ${count}, where ${this.left} bytes are left`);
    return count;
  }

  acl(): Acl {
    const acl: AclEntry[] = [];
    for (let left = this.count(); left > 0; left--)
      acl.push({ perms: this.int(), scheme: this.text(), id: this.text() });
    return acl;
  }

  /** Versions up to 3.5 write no list. No list is as short as a digest that stands alone. */
  closedPaths(): readonly string[] {
    if (this.left === 0 || (this.left === DIGEST_BYTES && this.#bytes.readInt32BE(this.#at) === APACHE_DIGEST_VERSION))
      return [];
    return Array.from({ length: this.count() }, () => this.text());
  }
}
