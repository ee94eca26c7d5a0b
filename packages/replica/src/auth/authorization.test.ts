import { createHash } from "node:crypto";
import { type AclEntry, type ConnectionRef, OpCode, Permission } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, createTtl, multi, onPath, read, setAcl, setData, versioned, watchOn } from "../testing/requests.ts";
import { digestId } from "./auth-schemes.ts";

// Every operation, as every kind of client, on every shape of access list. What is expected follows
// from the rule below, which is a second implementation that shares nothing with the code.

const hashes = {
  digest: (bytes: Uint8Array) => createHash("sha1").update(bytes).digest(),
  sha256: (bytes: Uint8Array) => bytes,
};
const ALICE = digestId(Buffer.from("alice:a"), hashes);

const SUBJECT = "CN=erin,O=there";

interface Subject {
  readonly name: string;
  readonly address: string;
  readonly credentials: readonly string[];
  readonly saslUser?: string;
  readonly certificateSubject?: string;
}
const SUBJECTS: readonly Subject[] = [
  { name: "a stranger", address: "192.168.0.1", credentials: [] },
  { name: "another user", address: "192.168.0.1", credentials: ["bob:b"] },
  { name: "the owner", address: "192.168.0.1", credentials: ["alice:a"] },
  { name: "the owner with a wrong password", address: "192.168.0.1", credentials: ["alice:x"] },
  { name: "two users at once", address: "192.168.0.1", credentials: ["bob:b", "alice:a"] },
  { name: "a stranger in the network", address: "10.7.7.7", credentials: [] },
  { name: "a user of SASL", address: "192.168.0.1", credentials: [], saslUser: "carol" },
  { name: "another user of SASL", address: "192.168.0.1", credentials: [], saslUser: "dave" },
  { name: "the holder of a certificate", address: "192.168.0.1", credentials: [], certificateSubject: SUBJECT },
  { name: "the holder of another certificate", address: "192.168.0.1", credentials: [], certificateSubject: "CN=x" },
  { name: "the superuser", address: "192.168.0.1", credentials: ["super:test"] },
];

const BITS = [0, 1, 2, 4, 8, 16, 31, 31 ^ 1, 31 ^ 16, -1];
const SHAPES: readonly (readonly AclEntry[])[] = [
  ...BITS.map((perms) => [{ perms, scheme: "world", id: "anyone" }]),
  ...BITS.map((perms) => [{ perms, scheme: "digest", id: ALICE }]),
  ...BITS.map((perms) => [{ perms, scheme: "ip", id: "10.0.0.0/8" }]),
  ...BITS.map((perms) => [{ perms, scheme: "sasl", id: "carol" }]),
  ...BITS.map((perms) => [{ perms, scheme: "x509", id: SUBJECT }]),
  [
    { perms: 1, scheme: "world", id: "anyone" },
    { perms: 30, scheme: "digest", id: ALICE },
  ],
  [
    { perms: 2, scheme: "ip", id: "10.0.0.0/8" },
    { perms: 16, scheme: "digest", id: ALICE },
    { perms: 4, scheme: "world", id: "anyone" },
  ],
];

function isAllowed(
  { address, credentials, saslUser, certificateSubject }: Subject,
  acl: readonly AclEntry[],
  need: number,
): boolean {
  if (credentials.includes("super:test")) return true;
  return acl.some(({ perms, scheme }) => {
    if ((perms & need) === 0) return false;
    if (scheme === "world") return true;
    if (scheme === "ip") return address.startsWith("10.");
    if (scheme === "sasl") return saslUser === "carol";
    if (scheme === "x509") return certificateSubject === SUBJECT;
    return credentials.includes("alice:a");
  });
}

interface Operation {
  readonly name: string;
  readonly need: number;
  readonly op: number;
  readonly body: Parameters<TestReplica["ask"]>[2];
  /**
   * The answer to who may; NO_AUTH is the answer to the others, for a multi in the part's place.
   */
  readonly allowed: RegExp;
  readonly refused: string;
}
const { READ, WRITE, CREATE, DELETE, ADMIN } = Permission;
const alone = { refused: "NO_AUTH" };
// The check before it needs nothing that the part does not; the root is open.
const inMulti = { op: OpCode.MULTI, refused: "[ok, NO_AUTH, RUNTIME_INCONSISTENCY]" };
const before = [OpCode.CHECK, versioned("/")] as const;
const after = [OpCode.SET_DATA, setData("/", "touched")] as const;
const OPERATIONS: readonly Operation[] = [
  { name: "create", need: CREATE, op: OpCode.CREATE, body: create("/p/n"), allowed: /^path/, ...alone },
  { name: "create2", need: CREATE, op: OpCode.CREATE2, body: create("/p/n"), allowed: /^path/, ...alone },
  {
    name: "createContainer",
    need: CREATE,
    op: OpCode.CREATE_CONTAINER,
    body: create("/p/n", "", 4),
    allowed: /^path/,
    ...alone,
  },
  { name: "createTTL", need: CREATE, op: OpCode.CREATE_TTL, body: createTtl("/p/n", 1e6), allowed: /^path/, ...alone },
  { name: "delete", need: DELETE, op: OpCode.DELETE, body: versioned("/p/c"), allowed: /^ok$/, ...alone },
  { name: "exists", need: READ, op: OpCode.EXISTS, body: read("/p"), allowed: /^stat/, ...alone },
  { name: "getData", need: READ, op: OpCode.GET_DATA, body: read("/p"), allowed: /^data/, ...alone },
  { name: "setData", need: WRITE, op: OpCode.SET_DATA, body: setData("/p", "x"), allowed: /^stat/, ...alone },
  { name: "getACL", need: READ | ADMIN, op: OpCode.GET_ACL, body: read("/p"), allowed: /^acl/, ...alone },
  { name: "setACL", need: ADMIN, op: OpCode.SET_ACL, body: setAcl("/p", SHAPES[6] ?? []), allowed: /^stat/, ...alone },
  { name: "getChildren", need: READ, op: OpCode.GET_CHILDREN, body: read("/p"), allowed: /^children/, ...alone },
  { name: "getChildren2", need: READ, op: OpCode.GET_CHILDREN2, body: read("/p"), allowed: /^children/, ...alone },
  {
    name: "getAllChildrenNumber",
    need: READ,
    op: OpCode.GET_ALL_CHILDREN_NUMBER,
    body: onPath("/p"),
    allowed: /^integer 1$/,
    ...alone,
  },
  { name: "getEphemerals", need: 0, op: OpCode.GET_EPHEMERALS, body: onPath("/p"), allowed: /^strings/, ...alone },
  { name: "addWatch", need: 0, op: OpCode.ADD_WATCH, body: watchOn("/p", 0), allowed: /^integer 0$/, ...alone },
  {
    name: "exists of what is below",
    need: 0,
    op: OpCode.EXISTS,
    body: read("/p/none"),
    allowed: /^NO_NODE$/,
    ...alone,
  },
  { name: "getData of what is below", need: 0, op: OpCode.GET_DATA, body: read("/p/c"), allowed: /^data/, ...alone },
  { name: "sync", need: 0, op: OpCode.SYNC, body: read("/p"), allowed: /^path/, ...alone },
  {
    name: "create in a multi",
    need: CREATE,
    body: multi(before, [OpCode.CREATE, create("/p/n")], after),
    allowed: /^\[done, path/,
    ...inMulti,
  },
  {
    name: "createContainer in a multi",
    need: CREATE,
    body: multi(before, [OpCode.CREATE_CONTAINER, create("/p/n", "", 4)], after),
    allowed: /^\[done, path/,
    ...inMulti,
  },
  {
    name: "createTTL in a multi",
    need: CREATE,
    body: multi(before, [OpCode.CREATE_TTL, createTtl("/p/n", 1e6)], after),
    allowed: /^\[done, path/,
    ...inMulti,
  },
  {
    name: "delete in a multi",
    need: DELETE,
    body: multi(before, [OpCode.DELETE, versioned("/p/c")], after),
    allowed: /^\[done, done/,
    ...inMulti,
  },
  {
    name: "setData in a multi",
    need: WRITE,
    body: multi(before, [OpCode.SET_DATA, setData("/p", "x")], after),
    allowed: /^\[done, stat/,
    ...inMulti,
  },
  {
    name: "check in a multi",
    need: READ,
    body: multi(before, [OpCode.CHECK, versioned("/p")], after),
    allowed: /^\[done, done/,
    ...inMulti,
  },
  {
    name: "getData in a multiRead",
    need: READ,
    op: OpCode.MULTI_READ,
    body: multi([OpCode.GET_DATA, read("/p")]),
    allowed: /^\[data/,
    refused: "[NO_AUTH]",
  },
  {
    name: "getChildren in a multiRead",
    need: READ,
    op: OpCode.MULTI_READ,
    body: multi([OpCode.GET_CHILDREN, read("/p")]),
    allowed: /^\[children/,
    refused: "[NO_AUTH]",
  },
];

/** A replica with a superuser, who lays out `/p` and `/p/c` with a given list on the former. */
function prepare(): {
  test: TestReplica;
  subject: (who: Subject) => ConnectionRef;
  layOut: (acl: readonly AclEntry[]) => void;
} {
  const zk = new TestReplica({
    isTtlEnabled: true,
    auth: {
      superDigest: digestId(Buffer.from("super:test"), hashes),
      digestEnabled: true,
      skipAcl: false,
      providers: new Set(["sasl", "x509"]),
    },
  });
  const root = zk.open();
  zk.authenticate(root, "super:test");
  const subjects = new Map<Subject, ConnectionRef>();
  return {
    test: zk,
    // Their connections are open before the lists are set.
    subject: (who) => {
      const known = subjects.get(who);
      if (known !== undefined) return known;
      const { address, certificateSubject } = who;
      const ref = zk.open(address, undefined, certificateSubject === undefined ? {} : { certificateSubject });
      for (const credentials of who.credentials) zk.authenticate(ref, credentials);
      if (who.saslUser !== undefined) zk.authenticateBySasl(ref, who.saslUser);
      subjects.set(who, ref);
      return ref;
    },
    layOut: (acl) => {
      for (const path of ["/p/n", "/p/c", "/p"]) zk.ask(root, OpCode.DELETE, versioned(path));
      zk.ask(root, OpCode.CREATE, create("/p", "secret"));
      zk.ask(root, OpCode.CREATE, create("/p/c"));
      const answer = zk.ask(root, OpCode.SET_ACL, setAcl("/p", acl));
      // As plain code: it runs seventeen thousand times.
      if (answer !== "stat") throw new Error(`the list was refused: ${answer}`);
    },
  };
}

describe.each(OPERATIONS)("$name", ({ need, op, body, allowed, refused }) => {
  test.each(SUBJECTS)("by $name is allowed or refused by the list alone, and a refusal changes nothing", (who) => {
    const { test: zk, subject, layOut } = prepare();
    const ref = subject(who);
    const wrong: unknown[] = [];
    for (const acl of SHAPES) {
      layOut(acl);
      // Events of watches that an earlier turn of the table has left.
      zk.take(ref);
      const { tree } = zk.replica;
      const before = [tree.digestHigh, tree.digestLow, tree.nodeCount];
      const answer = zk.ask(ref, op, body);
      const isUnchanged = [tree.digestHigh, tree.digestLow, tree.nodeCount].every((value, i) => value === before[i]);
      const isRight =
        need === 0 || isAllowed(who, acl, need) ? allowed.test(answer) : answer === refused && isUnchanged;
      if (!isRight) wrong.push({ acl, answer, isUnchanged });
    }
    expect(wrong).toEqual([]);
  });
});

test.each(SUBJECTS)("an event reaches $name only where the changed node may be read", (who) => {
  const { test: zk, subject, layOut } = prepare();
  const ref = subject(who);
  const root = zk.open();
  zk.authenticate(root, "super:test");
  for (const acl of SHAPES) {
    layOut([{ perms: 31, scheme: "world", id: "anyone" }]);
    zk.ask(ref, OpCode.GET_DATA, read("/p", true));
    zk.ask(ref, OpCode.GET_CHILDREN, read("/p", true));
    zk.ask(root, OpCode.SET_ACL, setAcl("/p", acl));
    zk.ask(root, OpCode.SET_DATA, setData("/p", "changed"));
    zk.ask(root, OpCode.CREATE, create("/p/n"));
    const events = isAllowed(who, acl, READ) ? ["event 3 /p", "event 4 /p"] : [];
    expect([acl, zk.take(ref)]).toEqual([acl, events]);
  }
});

test.each(SUBJECTS)(
  "a watch of everything below tells $name of the nodes that may be read, whatever the watched one says",
  (who) => {
    const { test: zk, subject, layOut } = prepare();
    const ref = subject(who);
    const root = zk.open();
    zk.authenticate(root, "super:test");
    zk.ask(ref, OpCode.ADD_WATCH, watchOn("/p", 1));
    for (const acl of SHAPES) {
      layOut([{ perms: 31, scheme: "world", id: "anyone" }]);
      zk.ask(root, OpCode.SET_ACL, setAcl("/p", acl));
      zk.take(ref);
      zk.ask(root, OpCode.SET_DATA, setData("/p", "changed"));
      zk.ask(root, OpCode.CREATE, create("/p/n"));
      const events = isAllowed(who, acl, READ) ? ["event 3 /p", "event 1 /p/n"] : ["event 1 /p/n"];
      expect([acl, zk.take(ref)]).toEqual([acl, events]);
    }
  },
);

test.each(SUBJECTS)("getACL shows $name digests whole only with ADMIN", (who) => {
  const { test: zk, subject, layOut } = prepare();
  const ref = subject(who);
  const acl = [
    { perms: 1, scheme: "world", id: "anyone" },
    { perms: 16, scheme: "digest", id: ALICE },
  ];
  layOut(acl);
  const shown = isAllowed(who, acl, ADMIN) ? ALICE : "alice:x";
  expect(zk.ask(ref, OpCode.GET_ACL, read("/p"))).toBe(`acl world:anyone:1,digest:${shown}:16`);
});

test("with skipACL every client may do everything", () => {
  const zk = new TestReplica({ auth: { superDigest: undefined, digestEnabled: true, skipAcl: true } });
  const ref = zk.open();
  zk.ask(ref, OpCode.CREATE, create("/p", "x", 0, [{ perms: 0, scheme: "world", id: "anyone" }]));
  expect(zk.ask(ref, OpCode.GET_DATA, read("/p"))).toBe("data x");
});

test("a list of auth is stored as the identities that its writer authenticated", () => {
  const { test: zk, subject } = prepare();
  const owner = subject(SUBJECTS[2] as Subject);
  const stranger = subject(SUBJECTS[0] as Subject);
  const creatorAll = create("/p", "x", 0, [{ perms: 31, scheme: "auth", id: "" }]);
  expect(zk.ask(stranger, OpCode.CREATE, creatorAll)).toBe("INVALID_ACL");
  expect(zk.ask(owner, OpCode.CREATE, creatorAll)).toBe("path /p");
  expect(zk.ask(owner, OpCode.GET_ACL, read("/p"))).toBe(`acl digest:${ALICE}:31`);
  expect(zk.ask(stranger, OpCode.GET_DATA, read("/p"))).toBe("NO_AUTH");
});
