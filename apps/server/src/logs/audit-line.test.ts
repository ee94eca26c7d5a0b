import type { AuditRecord } from "@zooid/embedded-server";
import type { SessionId, Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { auditLine, auditTime, processLine } from "./audit-line.ts";

const TIME = auditTime(new Date(2026, 10, 22, 10, 34, 12, 34));
const PREFIX = "2026-11-22 10:34:12,034";

function record(fields: Partial<AuditRecord>): AuditRecord {
  return {
    zxid: 1 as Zxid,
    session: 0x1000020ba7c0000n as SessionId,
    identities: [{ scheme: "ip", id: "127.0.0.1" }],
    address: "127.0.0.1",
    operation: "create",
    path: "/a",
    createMode: undefined,
    acl: undefined,
    result: "success",
    ...fields,
  };
}

const ASKER = "session=0x1000020ba7c0000\tuser=127.0.0.1\tip=127.0.0.1";

// Each is a line that Apache ZooKeeper 3.9.5 wrote.
test.each([
  [
    record({ createMode: "persistent" }),
    `INFO audit.Slf4jAuditLogger: ${ASKER}\toperation=create\tznode=/a\tznode_type=persistent\tresult=success`,
  ],
  [
    record({ path: "/missing/x", createMode: "persistent", result: "failure" }),
    `ERROR audit.Slf4jAuditLogger: ${ASKER}\toperation=create\tznode=/missing/x\tznode_type=persistent\tresult=failure`,
  ],
  [
    record({ operation: "multiOperation", path: undefined, result: "failure" }),
    `ERROR audit.Slf4jAuditLogger: ${ASKER}\toperation=multiOperation\tresult=failure`,
  ],
  [
    record({ operation: "setAcl", acl: [{ perms: 31, scheme: "world", id: "anyone" }] }),
    `INFO audit.Slf4jAuditLogger: ${ASKER}\toperation=setAcl\tznode=/a\tacl=world:anyone:cdrwa\tresult=success`,
  ],
  [
    record({
      operation: "ephemeralZNodeDeletionOnSessionCloseOrExpire",
      identities: undefined,
      address: undefined,
      path: "/e",
    }),
    "INFO audit.Slf4jAuditLogger: session=0x1000020ba7c0000\tuser=root" +
      "\toperation=ephemeralZNodeDeletionOnSessionCloseOrExpire\tznode=/e\tresult=success",
  ],
])("%o is written as Apache writes it", (one, text) => {
  expect(auditLine(one, "root", TIME)).toBe(`${PREFIX} ${text}\n`);
});

test("the process's start and stop are written as Apache writes them", () => {
  expect([processLine("serverStart", "root", TIME), processLine("serverStop", "root", TIME)]).toEqual([
    `${PREFIX} INFO audit.Slf4jAuditLogger: user=root\toperation=serverStart\tresult=success\n`,
    `${PREFIX} INFO audit.Slf4jAuditLogger: user=root\toperation=serverStop\tresult=invoked\n`,
  ]);
});

test("of users and access lists no hash of a password is shown", () => {
  const identities = [
    { scheme: "ip", id: "127.0.0.1" },
    { scheme: "digest", id: "alice:aGFzaA==" },
    { scheme: "x509", id: "CN=bob,OU=people" },
    { scheme: "super", id: "" },
  ];
  const acl = [
    { perms: 1, scheme: "digest", id: "alice:aGFzaA==" },
    { perms: 6, scheme: "auth", id: "" },
  ];
  const line = auditLine(record({ operation: "setAcl", identities, acl }), "root", TIME);
  expect(line).toContain("\tuser=127.0.0.1,alice,CN=bob,OU=people\t");
  expect(line).toContain("\tacl=digest:alice:x:rauth::cw\t");
});

test("whatever a client puts into a path or a name, its line is one line, and its fields are those that they were", () => {
  const hostile = "/a\tresult=success\n2026 INFO x\u001b[31m\u2028\u202e";
  const identities = [{ scheme: "digest", id: "eve\tip=1.2.3.4:hash" }];
  const line = auditLine(record({ path: hostile, identities, result: "failure" }), "root", TIME);
  expect(line.trimEnd().split(/[\n\r\u2028]/)).toHaveLength(1);
  expect(line.split("\t").map((field) => field.split("=")[0])).toEqual([
    `${PREFIX} ERROR audit.Slf4jAuditLogger: session`,
    ...["user", "ip", "operation", "znode", "result"],
  ]);
  expect(line).toContain("znode=/a\\u0009result=success\\u000a2026 INFO x\\u001b[31m\\u2028\\u202e\t");
});
