/**
 * A snapshot that is written while transactions are applied, then those transactions: the tree must
 * become that of the server which wrote it, whatever the moments between two nodes.
 */
import { crc32 } from "node:zlib";
import type { FollowEvent } from "@zooid/apache-peer";
import { ApacheDigest, ApacheTranslator, DataTree } from "@zooid/data-tree";
import { type Acl, emptySlice, newTxnHeader, OPEN_ACL, type SessionId, STAT_BYTES, type Zxid } from "@zooid/model";
import { ApacheTree, derivedPasswordHash } from "@zooid/txn-log/sqlite";
import {
  type ApacheTransaction,
  ApacheType,
  apacheTransaction,
  STAT_LENGTHS_BYTES,
  STAT_LENGTHS_START,
} from "@zooid/wire/apache";
import { recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Candidate } from "./candidate.ts";

const OPTIONS = { passwordHash: derivedPasswordHash, dataBytesMax: 1024 * 1024 };
const HASH_KEY = { k0: 1, k1: 2 };
const EPOCH = 5n << 32n;
const SESSIONS = [0x100000000000001n, 0x200000000000001n, 0x300000000000001n];
const NAMES = ["a", "b", "é"];
const ACLS: readonly Acl[] = [
  OPEN_ACL,
  [{ perms: 31, scheme: "digest", id: "u:x" }],
  [{ perms: 1, scheme: "ip", id: "10.0.0.0/8" }],
];
/** Numbers of one step: the choice, and what it is made with. */
type Step = readonly [number, number, number];

/** Apache's server: what it applies fits, and what does not becomes an error. */
class Leader {
  readonly tree = new ApacheTree();
  readonly log: ApacheTransaction[] = [];
  zxid = EPOCH;

  readonly #listsEnds: boolean;

  constructor(listsEnds: boolean) {
    this.#listsEnds = listsEnds;
    this.tree.addBuiltIn();
  }

  step([kind, a, b]: Step): void {
    const path = this.#path(a, b);
    const acl = ACLS[b % ACLS.length] ?? OPEN_ACL;
    const session = SESSIONS[a % SESSIONS.length] ?? 0n;
    const isOpen = this.tree.sessions.has(session);
    switch (kind % 12) {
      case 0:
      case 1:
        return this.#create(
          path,
          acl,
          isOpen && b % 3 === 0 ? session : 0n,
          b % 2 === 0 ? ApacheType.CREATE : ApacheType.CREATE2,
        );
      case 2:
        return this.#create(path, acl, 0n, b % 2 === 0 ? ApacheType.CREATE_CONTAINER : ApacheType.CREATE_TTL);
      case 3:
      case 4:
        return this.#commit(
          this.#isLeaf(path)
            ? [b % 2 === 0 ? ApacheType.DELETE : ApacheType.DELETE_CONTAINER, recordOf.delete(path)]
            : ERROR,
        );
      case 5:
        return this.#commit(
          this.tree.nodes.has(path) ? [ApacheType.SET_DATA, recordOf.set(path, `${this.zxid}`, a)] : ERROR,
        );
      case 6:
        return this.#commit(this.tree.nodes.has(path) ? [ApacheType.SET_ACL, recordOf.setAcl(path, acl, b)] : ERROR);
      case 7:
        return this.#commit(isOpen ? ERROR : [ApacheType.CREATE_SESSION, recordOf.number(4000)], session);
      case 8: {
        const owned = [...this.tree.nodes]
          .filter(([, { stat }]) => stat.readBigInt64BE(44) === session)
          .map(([each]) => each);
        const record = this.#listsEnds ? recordOf.paths(owned) : Buffer.alloc(0);
        return this.#commit(isOpen ? [ApacheType.CLOSE_SESSION, record] : ERROR, session);
      }
      case 9:
        return this.#multi(path, acl);
      case 10:
        return this.#commit([
          ApacheType.MULTI,
          recordOf.multi([
            [ApacheType.DELETE, recordOf.delete(path)],
            [ApacheType.ERROR, recordOf.number(-101)],
          ]),
        ]);
      default:
        return this.#commit([
          ApacheType.RECONFIG,
          recordOf.set("/zookeeper/config", `server.1=h:1:2 ${this.zxid}`, -1),
        ]);
    }
  }

  open(session: bigint): void {
    this.#commit([ApacheType.CREATE_SESSION, recordOf.number(4000)], session);
  }

  close(session: bigint): void {
    this.#commit([ApacheType.CLOSE_SESSION, Buffer.alloc(0)], session);
  }

  create(path: string, owner: bigint): void {
    this.#create(path, OPEN_ACL, owner, ApacheType.CREATE);
  }

  /** A node goes and comes again in one transaction. */
  #multi(path: string, acl: Acl): void {
    if (!this.#isLeaf(path) || !this.tree.nodes.has(path)) return this.#commit(ERROR);
    const parts: [number, Buffer][] = [
      [ApacheType.SET_DATA, recordOf.set(path, "last", 9)],
      [ApacheType.DELETE, recordOf.delete(path)],
      [ApacheType.CHECK, Buffer.concat([recordOf.delete("/zookeeper"), recordOf.number(1)])],
      [ApacheType.CREATE, recordOf.create(path, { acl, data: "again", parentCversion: this.#count(path) + 1 })],
    ];
    this.#commit([ApacheType.MULTI, recordOf.multi(parts)]);
  }

  #create(path: string, acl: Acl, owner: bigint, type: number): void {
    const parent = this.tree.nodes.get(parentOf(path));
    const isFree = parent !== undefined && !this.tree.nodes.has(path) && !this.#isEphemeral(parentOf(path));
    if (!isFree) return this.#commit(ERROR);
    const parentCversion = this.#count(path) + 1;
    const isEphemeral = owner !== 0n;
    const record =
      type === ApacheType.CREATE_CONTAINER
        ? recordOf.container(path, parentCversion)
        : type === ApacheType.CREATE_TTL
          ? recordOf.ttl(path, parentCversion, 60_000n)
          : recordOf.create(path, { acl, data: `${this.zxid}`, isEphemeral, parentCversion });
    this.#commit([type, record], owner);
  }

  #commit([type, record]: readonly [number, Buffer], session = 0n): void {
    this.zxid++;
    const bytes = transaction({ zxid: this.zxid, type, record, session, timeMs: 1000n + (this.zxid & 0xffffn) });
    const decoded = apacheTransaction(bytes);
    // The configuration is each server's own.
    if (type !== ApacheType.RECONFIG) this.tree.apply(decoded);
    this.log.push(decoded);
  }

  #path(a: number, b: number): string {
    const depth = 1 + (b % 3);
    return Array.from({ length: depth }, (_, i) => `/${NAMES[(a >> (2 * i)) % NAMES.length]}`).join("");
  }

  #isLeaf(path: string): boolean {
    return this.tree.nodes.has(path) && ![...this.tree.nodes.keys()].some((each) => each.startsWith(`${path}/`));
  }

  #isEphemeral(path: string): boolean {
    return SESSIONS.includes(this.tree.nodes.get(path)?.stat.readBigInt64BE(44) ?? 0n);
  }

  #count(path: string): number {
    return this.tree.nodes.get(parentOf(path))?.stat.readInt32BE(36) ?? 0;
  }
}

const ERROR = [ApacheType.ERROR, recordOf.number(-110)] as const;

/** As Apache writes one: a node together with the names of its children, then those, one by one. */
function* serialized(tree: ApacheTree): Generator<Extract<FollowEvent, { kind: "session" | "acl" | "node" }>> {
  for (const [id, timeoutMs] of [...tree.sessions]) yield { kind: "session", id, timeoutMs };
  const lists = new Set([...tree.nodes.values()].map(({ acl }) => JSON.stringify(acl)));
  for (const [key, text] of [...lists].entries()) yield { kind: "acl", key: BigInt(key), acl: JSON.parse(text) as Acl };
  const keys = new Map([...lists].map((text, key) => [text, BigInt(key)]));
  const waiting = [""];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const node = tree.nodes.get(path);
    if (node === undefined) continue;
    const isChild = (each: string): boolean => each !== "" && parentOf(each) === path;
    waiting.unshift(...[...tree.nodes.keys()].filter(isChild));
    const aclKey = keys.get(JSON.stringify(node.acl)) ?? 999n;
    yield { kind: "node", path, data: node.data, aclKey, stat: Buffer.from(node.stat) };
  }
}

interface Shown {
  readonly nodes: Record<string, unknown>;
  readonly sessions: readonly string[];
}

function shownOf(tree: DataTree): Shown {
  const nodes: Record<string, unknown> = {};
  const view = new DataView(new ArrayBuffer(STAT_BYTES));
  const data = emptySlice();
  for (const node of tree.nodesByAge()) {
    const path = tree.parent(node) === 0 ? "" : tree.pathOf(node);
    tree.storedStat(node, view);
    const whole = Buffer.from(view.buffer);
    const stat = Buffer.concat([
      whole.subarray(0, STAT_LENGTHS_START),
      whole.subarray(STAT_LENGTHS_START + STAT_LENGTHS_BYTES),
    ]);
    const hasData = tree.storedData(node, data);
    nodes[path] = {
      data: hasData ? Buffer.from(data.bytes.subarray(data.start, data.end)).toString() : null,
      acl: tree.view(node).acl,
      stat: stat.toString("hex"),
    };
  }
  const sessions: string[] = [];
  tree.forEachSession((high, low, timeoutMs) =>
    sessions.push(`${(BigInt(high) << 32n) | BigInt(low >>> 0)} ${timeoutMs}`),
  );
  return { nodes, sessions: sessions.sort() };
}

function expectedOf(tree: ApacheTree): Shown {
  const nodes = Object.fromEntries(
    [...tree.nodes].map(([path, { data, acl, stat }]) => [
      path,
      { data: data?.toString() ?? null, acl, stat: stat.toString("hex") },
    ]),
  );
  return { nodes, sessions: [...tree.sessions].map(([id, timeoutMs]) => `${id} ${timeoutMs}`).sort() };
}

function digestOf(tree: DataTree): bigint {
  const digest = new ApacheDigest(tree, crc32);
  for (const _ of digest.begin());
  return digest.value;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

const step = fc.tuple(fc.nat(11), fc.nat(63), fc.nat(11)) as fc.Arbitrary<Step>;

test("a fuzzy snapshot and what follows it lead to the tree of the server that wrote it", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.array(fc.tuple(fc.nat(2), fc.array(step, { maxLength: 6 })), { maxLength: 30 }),
      fc.nat(3),
      fc.boolean(),
      (before, during, back, listsEnds) => {
        const leader = new Leader(listsEnds);
        for (const each of before) leader.step(each);
        const zxid = leader.zxid;
        const candidate = new Candidate(Number(zxid) as Zxid, 1, HASH_KEY, OPTIONS);
        // 3.5 does not name the nodes that go with a session: a parent that was written before them
        // keeps its older pzxid, in Apache's own replay, too.
        const replayed = new ApacheTree();
        let at = 0;
        for (const part of serialized(leader.tree)) {
          candidate.take(part);
          if (part.kind === "session") replayed.session(part.id as SessionId, part.timeoutMs);
          else if (part.kind === "acl") replayed.acl(part.key, part.acl);
          else replayed.node(Buffer.from(part.path), part.data, part.aclKey, part.stat);
          const [pause = 0, steps = []] = part.kind === "node" ? (during[at++] ?? []) : [];
          if (pause > 0) for (const each of steps) leader.step(each);
        }
        candidate.take({ kind: "snapshot-end", zxid: Number(zxid) as Zxid });
        for (const each of leader.log) {
          if (each.zxid <= zxid - BigInt(back)) continue;
          candidate.apply(each);
          if (each.type !== ApacheType.RECONFIG) replayed.apply(each);
        }
        expect(shownOf(candidate.tree)).toEqual(expectedOf(listsEnds ? leader.tree : replayed));
        expect(digestOf(candidate.tree)).toBe((listsEnds ? leader.tree : replayed).digest);
        expect(BigInt(candidate.applied)).toBe(leader.zxid);
      },
    ),
    { numRuns: 300 },
  );
});

test("an exact tree stays Apache's with each transaction, and so does its digest", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.boolean(), (steps, listsEnds) => {
      const leader = new Leader(listsEnds);
      const tree = new DataTree({ hashKey: HASH_KEY });
      const candidate = new Candidate(Number(EPOCH) as Zxid, 1, HASH_KEY, OPTIONS);
      for (const part of serialized(leader.tree)) candidate.take(part);
      candidate.take({ kind: "snapshot-end", zxid: Number(EPOCH) as Zxid });
      tree.loadSnapshot(candidate.tree.snapshot());
      const translator = new ApacheTranslator(tree, OPTIONS);
      const digest = new ApacheDigest(tree, crc32);
      for (const _ of digest.begin());
      const header = newTxnHeader();
      for (const each of steps) {
        leader.step(each);
        const last = leader.log.at(-1) as ApacheTransaction;
        translator.header(last, header);
        for (const op of translator.ops(last)) {
          digest.applying(op);
          digest.applied(op, tree.apply(header, op, undefined));
        }
        tree.finish(header);
        expect(digest.value).toBe(leader.tree.digest);
      }
      expect(shownOf(tree)).toEqual(expectedOf(leader.tree));
    }),
    { numRuns: 100 },
  );
});

test("a node that went with its session and came again while the snapshot was written counts as a child", () => {
  const [first = 0n, second = 0n] = SESSIONS;
  const leader = new Leader(false);
  leader.open(first);
  leader.open(second);
  leader.create("/a", first);
  const zxid = Number(leader.zxid) as Zxid;
  const candidate = new Candidate(zxid, 1, HASH_KEY, OPTIONS);
  for (const part of serialized(leader.tree)) {
    candidate.take(part);
    if (part.kind !== "node" || part.path !== "") continue;
    leader.close(first);
    leader.create("/a", second);
  }
  candidate.take({ kind: "snapshot-end", zxid });
  for (const each of leader.log) if (each.zxid > zxid) candidate.apply(each);
  expect(shownOf(candidate.tree)).toEqual(expectedOf(leader.tree));
});
