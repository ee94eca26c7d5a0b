import { expect, test } from "vitest";
import { PrincipalNames, realmOf } from "./principal-names.ts";
import { parsePrincipalRules } from "./principal-rules.ts";

test.each([
  ["alice@REALM", false, false, "alice@REALM"],
  ["alice@REALM", true, true, "alice"],
  ["hbase/node1@REALM", false, false, "hbase/node1@REALM"],
  ["hbase/node1@REALM", true, false, "hbase@REALM"],
  ["hbase/node1@REALM", false, true, "hbase/node1"],
  ["hbase/node1@REALM", true, true, "hbase"],
  ["alice@OTHER", true, true, undefined],
  ["alice", true, true, undefined],
  ["a/b/c@REALM", true, true, undefined],
  ["alice\\@OTHER@REALM", true, true, undefined],
  ["@REALM", true, true, undefined],
  [`${"a".repeat(1024)}@REALM`, true, true, undefined],
])("%s, host removed %s, realm removed %s: %s", (principal, removesHost, removesRealm, user) => {
  const rules = parsePrincipalRules("DEFAULT", "REALM");
  if (typeof rules === "string") throw new Error(rules);
  expect(new PrincipalNames({ rules, removesHost, removesRealm }).userOf(principal)).toBe(user);
});

test("a service's principal has a host and a realm", () => {
  expect(realmOf("zookeeper/zk-1@REALM")).toBe("REALM");
  for (const other of ["zookeeper@REALM", "zookeeper/zk-1", "*", ""]) expect(realmOf(other)).toBeUndefined();
});
