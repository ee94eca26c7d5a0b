/** Transactions and logs as Apache ZooKeeper writes them, for tests. */
import { type Acl, OPEN_ACL } from "@zooid/model";
import { Adler32, int, long } from "../apache/apache-format.ts";

export { ApacheType } from "../apache/apache-transaction.ts";

export interface Written {
  readonly zxid: bigint;
  readonly type: number;
  readonly record: Buffer;
  readonly session?: bigint;
  readonly timeMs?: bigint;
  /** The digest of the tree after it. */
  readonly digest?: bigint;
}

export function transaction({ zxid, type, record, session = 7n, timeMs = 1000n, digest }: Written): Buffer {
  const tail = digest === undefined ? [] : [int(2), long(BigInt.asIntN(64, digest))];
  return Buffer.concat([long(session), int(1), long(zxid), long(timeMs), int(type), record, ...tail]);
}

/** A log of these transactions, with `padding` zeros behind them. */
export function apacheLog(transactions: readonly Buffer[], padding = 100): Buffer {
  const header = [Buffer.from("ZKLG"), int(2), long(0n)];
  return Buffer.concat([...header, ...transactions.map(entry), Buffer.alloc(padding)]);
}

function entry(bytes: Buffer): Buffer {
  const sum = new Adler32();
  sum.add(bytes, 0, bytes.length);
  return Buffer.concat([long(BigInt(sum.value)), int(bytes.length), bytes, Buffer.of(0x42)]);
}

export const recordOf = {
  create: (
    path: string,
    {
      data = "",
      acl = OPEN_ACL,
      isEphemeral = false,
      parentCversion,
    }: { data?: string; acl?: Acl; isEphemeral?: boolean; parentCversion?: number } = {},
  ): Buffer =>
    Buffer.concat([
      text(path),
      text(data),
      list(acl),
      Buffer.of(isEphemeral ? 1 : 0),
      ...(parentCversion === undefined ? [] : [int(parentCversion)]),
    ]),
  container: (path: string, parentCversion: number): Buffer =>
    Buffer.concat([text(path), text(""), list(OPEN_ACL), int(parentCversion)]),
  ttl: (path: string, parentCversion: number, ttlMs: bigint): Buffer =>
    Buffer.concat([text(path), text(""), list(OPEN_ACL), int(parentCversion), long(ttlMs)]),
  delete: (path: string): Buffer => text(path),
  set: (path: string, data: string, version: number): Buffer => Buffer.concat([text(path), text(data), int(version)]),
  setAcl: (path: string, acl: Acl, aversion: number): Buffer => Buffer.concat([text(path), list(acl), int(aversion)]),
  number: (value: number): Buffer => int(value),
  paths: (paths: readonly string[]): Buffer => Buffer.concat([int(paths.length), ...paths.map(text)]),
  multi: (parts: readonly (readonly [type: number, record: Buffer])[]): Buffer =>
    Buffer.concat([int(parts.length), ...parts.flatMap(([type, record]) => [int(type), int(record.length), record])]),
};

function list(acl: Acl): Buffer {
  const entries = acl.flatMap(({ perms, scheme, id }) => [int(perms), text(scheme), text(id)]);
  return Buffer.concat([int(acl.length), ...entries]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int(bytes.length), bytes]);
}
