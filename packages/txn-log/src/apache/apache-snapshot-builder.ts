import { randomBytes, randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import {
  type Acl,
  composeZxid,
  copyBytes,
  counterOf,
  EPOCH_MAX,
  epochOf,
  formatsAt,
  isValidPath,
  lastSlash,
  nodeKind,
  OPEN_ACL,
  type SessionId,
  StatOffset,
  sessionIdFromHalves,
  sessionIdHigh,
  sessionIdLow,
  type Zxid,
} from "@zooid/model/storage";
import { type ApacheSnapshotParts, STAT_LENGTHS_BYTES, STAT_LENGTHS_START } from "@zooid/wire/apache";
import { syncDirectoryOf, syncPath } from "../disk/sync-path.ts";
import type { TestBreak } from "../disk/test-break.ts";
import type { Chain } from "../log/chain.ts";
import type { EpochRange } from "../log/txn-log.ts";
import { refused, type SnapshotHeader } from "../snapshots/snapshot-format.ts";
import { RowOffset, sealRow, setHasData } from "../state/node-row.ts";
import { removeStateFile, StateFile } from "../state/state-file.ts";
import type { StateMeta } from "../state/state-store.ts";
import { derivedPasswordHash } from "./apache-password.ts";
import { ApacheSnapshotDecoder } from "./apache-snapshot-decoder.ts";
import type { ImportOptions } from "./import-options.ts";
import { PathIndex } from "./path-index.ts";

/** Into which history a snapshot is taken over. */
export interface ImportExpectation extends Required<Omit<ImportOptions, "at">> {
  readonly at?: Zxid | undefined;
  readonly ensembleId: string;
  /** The feature level in force in that history. */
  readonly level: number;
}

const OPEN_KEY = -1n;
const ROOT_ID = 1;
/** Without these a tree is not what every server expects it to be. */
const NEEDED = ["/zookeeper", "/zookeeper/quota", "/zookeeper/config"];
const ZXID_OFFSETS = [StatOffset.czxid, StatOffset.mzxid];
const TIME_OFFSETS = [StatOffset.ctime, StatOffset.mtime];
/** Behind the owner, since the lengths are left out. */
const STORED_PZXID = STAT_LENGTHS_START;
/** Stands in place of a digest that has not been computed yet. */
const NO_DIGEST = { digestHigh: 0, digestLow: 0 };

/** A table of more has no place in a map. */
const SESSION_COUNT_MAX = 2 ** 23;
const BITS = 8;
const PLACES_FIRST = 1024;

/**
 * Makes a state file from a snapshot of Apache's. No snapshot has passwords: a session that is kept
 * gets the one that Apache's servers derive from its id.
 *
 * A session that is not in the snapshot and owns ephemeral nodes has ended. It is kept as one whose
 * end has begun, with the timeout 0: no client can renew it, and the first leader deletes its nodes
 * by a transaction.
 */
export class ApacheSnapshotBuilder implements ApacheSnapshotParts {
  readonly #file: string;
  readonly #expected: ImportExpectation;
  readonly #state: StateFile;
  readonly #decoder = new ApacheSnapshotDecoder(this);
  readonly #paths = new PathIndex({ k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 });
  readonly #aclIds = new Map<bigint, number>();
  /** The timeouts of sessions; 0 of one that has ended and owns nodes. */
  readonly #sessions = new Map<SessionId, number>();
  /** By place: which nodes are ephemeral. */
  #ephemerals = new Uint8Array(PLACES_FIRST);
  #isOpen = true;
  #epochMax = 0;

  constructor(file: string, expected: ImportExpectation, testBreak?: TestBreak) {
    this.#file = file;
    this.#expected = expected;
    this.#state = new StateFile(file, { make: "blank", testBreak });
    this.#aclIds.set(OPEN_KEY, this.#state.aclId(OPEN_ACL));
  }

  add(piece: Buffer): void {
    this.#decoder.add(piece);
  }

  finish(): SnapshotHeader {
    const last = this.#decoder.end();
    if (last !== undefined) this.#noteZxid(last, () => "its end");
    for (const path of NEEDED) {
      const bytes = Buffer.from(path);
      const found = this.#paths.find(bytes, 0, bytes.length);
      if (found === -1) throw refused("its end", `it has no node ${path}`);
      if (this.#isEphemeralAt(found)) throw refused("its end", `its node ${path} is ephemeral`);
    }
    const zxid = this.#expected.at ?? this.#newBeginning();
    for (const [id, timeoutMs] of this.#sessions) {
      const [idHigh, idLow] = [sessionIdHigh(id), sessionIdLow(id)];
      this.#state.openSession({ idHigh, idLow, timeoutMs, passwordHash: derivedPasswordHash(idHigh, idLow) });
    }
    const position = { zxid, chain: newChain() };
    const { ensembleId, level } = this.#expected;
    const nextNodeId = this.#paths.count + ROOT_ID;
    const meta: StateMeta = { applied: position, ...NO_DIGEST, ensembleId, nextNodeId, level };
    this.#state.commit(meta);
    this.close();
    syncPath(this.#file);
    rmSync(`${this.#file}-journal`, { force: true });
    syncDirectoryOf(this.#file);
    return {
      format: formatsAt(level).snapshot,
      ensembleId,
      position,
      epochs: epochsAt(zxid),
      nextNodeId,
      level,
      ...NO_DIGEST,
      nodeCount: this.#paths.count,
      sessionCount: this.#sessions.size,
    };
  }

  /** The state stands in an epoch of its own, which no leader has. */
  #newBeginning(): Zxid {
    const { epochMin, epochGap } = this.#expected;
    const next = Math.max(epochMin, this.#epochMax + epochGap);
    if (next >= EPOCH_MAX) throw refused("its end", `it is of epoch ${this.#epochMax}, and no epoch would be left`);
    return composeZxid(next - 1, 1);
  }

  /** Leaves nothing behind. */
  abandon(): void {
    this.close();
    removeStateFile(this.#file);
  }

  /** Undoes what is not finished; the file stays. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#state.close();
  }

  session(id: SessionId, timeoutMs: number): void {
    if (this.#expected.sessions === "drop") return;
    const place = `the session 0x${BigInt.asUintN(64, id).toString(16)}`;
    if (this.#sessions.has(id)) throw refused(place, "it comes twice");
    if (this.#sessions.size === SESSION_COUNT_MAX) throw refused(place, `it is one of more than ${SESSION_COUNT_MAX}`);
    // 0 is the timeout of one whose end has begun, which a snapshot of ours may have.
    if (timeoutMs < 0) throw refused(place, `a timeout of ${timeoutMs} ms`);
    if (nodeKind(sessionIdHigh(id), sessionIdLow(id)) !== "ephemeral")
      throw refused(place, "its id marks nodes of another kind than ephemeral ones; drop the sessions to leave it out");
    this.#sessions.set(id, timeoutMs);
  }

  acl(key: bigint, acl: Acl): void {
    if (this.#aclIds.has(key)) throw refused(`access list ${key}`, "it comes twice");
    this.#aclIds.set(key, this.#state.aclId(acl));
  }

  node(path: Buffer, data: Buffer | null, aclKey: bigint, stat: Buffer): void {
    // Made where it is needed: a million nodes are in order.
    const place = (): string => `the node ${JSON.stringify(path.toString())}`;
    const aclId = this.#aclIds.get(aclKey);
    if (aclId === undefined) throw refused(place(), `its access list ${aclKey} is missing`);
    for (const offset of ZXID_OFFSETS) this.#noteZxid(stat.readBigInt64BE(offset), place);
    this.#noteZxid(stat.readBigInt64BE(STORED_PZXID), place);
    for (const offset of TIME_OFFSETS) {
      const time = stat.readBigInt64BE(offset);
      if (time < BigInt(Number.MIN_SAFE_INTEGER) || time > BigInt(Number.MAX_SAFE_INTEGER)) {
        throw refused(place(), `a time of ${time}`);
      }
    }
    const slash = path.length === 0 ? -1 : lastSlash(path, 0, path.length);
    const parent = this.#parentOf(path, slash, place);
    const isEphemeral = this.#isEphemeral(stat);
    if (isEphemeral && this.#expected.sessions === "drop") return;
    if (isEphemeral) this.#noteOwner(stat, path, place);
    const id = this.#paths.count + ROOT_ID;
    this.#paths.add(id, parent, path, slash + 1, path.length);
    const name = path.subarray(slash + 1);
    const parentId = parent === -1 ? 0 : parent + ROOT_ID;
    this.#state.insertNode(id, rowOf({ id, parentId, aclId, name, data, stat }));
  }

  rest(): void {
    this.#state.endInserts();
  }

  /** The place of a node's parent; -1 for the root. What cannot be a path of a tree is refused. */
  #parentOf(path: Buffer, slash: number, place: () => string): number {
    if (path.length === 0) {
      if (this.#paths.count > 0) throw refused(place(), "a second root");
      return -1;
    }
    if (!isValidPath(path, 0, path.length)) throw refused(place(), "no path");
    const parent = this.#paths.find(path, 0, slash);
    if (parent === -1) throw refused(place(), "its parent is missing");
    if (this.#isEphemeralAt(parent)) throw refused(place(), "its parent is ephemeral");
    if (this.#paths.child(parent, path, slash + 1, path.length) !== -1) throw refused(place(), "it comes twice");
    return parent;
  }

  #isEphemeral(stat: Buffer): boolean {
    const [high, low] = ownerOf(stat);
    return nodeKind(high, low) === "ephemeral";
  }

  /** The next node is ephemeral: its session is kept, or has ended. */
  #noteOwner(stat: Buffer, path: Buffer, place: () => string): void {
    if (path.length === 0) throw refused(place(), "the root is ephemeral");
    const owner = sessionIdFromHalves(...ownerOf(stat));
    if (!this.#sessions.has(owner) && this.#expected.at === undefined) {
      if (this.#sessions.size === SESSION_COUNT_MAX) throw refused(place(), "there are too many sessions");
      this.#sessions.set(owner, 0);
    }
    const at = this.#paths.count;
    if (at >>> 3 >= this.#ephemerals.length) {
      const grown = new Uint8Array(2 * (at >>> 3));
      grown.set(this.#ephemerals);
      this.#ephemerals = grown;
    }
    this.#ephemerals[at >>> 3] = (this.#ephemerals[at >>> 3] ?? 0) | (1 << (at % BITS));
  }

  #isEphemeralAt(place: number): boolean {
    return ((this.#ephemerals[place >>> 3] ?? 0) & (1 << (place % BITS))) !== 0;
  }

  #noteZxid(zxid: bigint, place: () => string): void {
    const epoch = Number(zxid >> 32n);
    if (zxid < 0n || epoch >= EPOCH_MAX) throw refused(place(), `a zxid of 0x${BigInt.asUintN(64, zxid).toString(16)}`);
    if (epoch > this.#epochMax) this.#epochMax = epoch;
  }
}

/** A leader that has proposed nothing yet stands at the counter 0. */
function epochsAt(zxid: Zxid): readonly EpochRange[] {
  const last = counterOf(zxid);
  return last === 0 ? [] : [{ epoch: epochOf(zxid), first: 1, last }];
}

function ownerOf(stat: Buffer): readonly [high: number, low: number] {
  return [stat.readInt32BE(StatOffset.ephemeralOwner), stat.readInt32BE(StatOffset.ephemeralOwner + 4)];
}

interface Row {
  readonly id: number;
  readonly parentId: number;
  readonly aclId: number;
  readonly name: Buffer;
  readonly data: Buffer | null;
  readonly stat: Buffer;
}

function rowOf({ id, parentId, aclId, name, data, stat }: Row): Buffer {
  const dataLength = data?.length ?? 0;
  const row = Buffer.alloc(RowOffset.name + name.length + dataLength);
  row.writeDoubleBE(id, RowOffset.id);
  row.writeDoubleBE(parentId, RowOffset.parentId);
  row.writeUInt32BE(aclId, RowOffset.aclId);
  row.writeUInt32BE(name.length, RowOffset.nameLength);
  setHasData(row, 0, data !== null);
  copyBytes(stat, 0, STAT_LENGTHS_START, row, RowOffset.stat);
  row.writeInt32BE(dataLength, RowOffset.stat + StatOffset.dataLength);
  copyBytes(stat, STAT_LENGTHS_START, stat.length, row, RowOffset.stat + STAT_LENGTHS_START + STAT_LENGTHS_BYTES);
  name.copy(row, RowOffset.name);
  data?.copy(row, RowOffset.name + name.length);
  return sealRow(row, 0);
}

/** No other history has it. */
function newChain(): Chain {
  return randomBytes(8).readBigUInt64BE() as Chain;
}
