import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseJaas } from "@zooid/java-files";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GssError } from "./gss-context.ts";
import { openGssAcceptor } from "./gss-library.ts";
import { hasKerberos, parseKerberos } from "./kerberos.ts";

const KRB5 = "com.sun.security.auth.module.Krb5LoginModule";
let folder = "";
let keyTab = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-kerberos-"));
  keyTab = join(folder, "server.keytab");
  writeFileSync(keyTab, "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The problems of a section with these options. */
function parsed(
  options: string,
  open: Parameters<typeof parseKerberos>[3] = () => ({ context: () => fail() }),
  more: Parameters<typeof parseKerberos>[1] = {},
) {
  const sections = parseJaas(`Server { ${KRB5} required ${options.replaceAll("KEYTAB", keyTab)}; };`);
  if (typeof sections === "string") throw new Error(sections);
  const problems: string[] = [];
  const modules = sections.get("Server") ?? [];
  expect(hasKerberos(modules)).toBe(true);
  const kerberos = parseKerberos(modules, { jaasFile: "jaas.conf", ...more }, problems, open);
  return { kerberos, problems };
}

function fail(): never {
  throw new Error("no client comes");
}

const PRINCIPAL = 'principal="zookeeper/zk-1@REALM"';

test("a principal with its keytab is opened, and its realm is the clients'", () => {
  const { kerberos, problems } = parsed(`useKeyTab=true keyTab="KEYTAB" storeKey=true ${PRINCIPAL}`);
  expect(problems).toEqual([]);
  expect(kerberos?.names.userOf("alice@REALM")).toBe("alice@REALM");
});

const GOOD = `useKeyTab=true keyTab="KEYTAB" ${PRINCIPAL}`;

test("a rule names a principal of another realm, and those that no rule names have no user", () => {
  const authToLocal = "RULE:[2:$1@$0](hbase@OTHER)s/@.*// DEFAULT";
  const { kerberos } = parsed(GOOD, undefined, {
    authToLocal,
    removeHostFromPrincipal: true,
    removeRealmFromPrincipal: true,
  });
  const principals = ["hbase/node1@OTHER", "zookeeper/zk-1@REALM", "hbase@OTHER", "alice@OTHER", "no principal"];
  expect(principals.map((one) => kerberos?.names.userOf(one))).toEqual([
    "hbase",
    "zookeeper",
    undefined,
    undefined,
    undefined,
  ]);
});

test("host and realm follow the short name unless they are removed", () => {
  const { kerberos } = parsed(GOOD, undefined, { authToLocal: "RULE:[2:$1]s/hbase/storage/" });
  expect(kerberos?.names.userOf("hbase/node1@OTHER")).toBe("storage/node1@OTHER");
});

test("a rule that cannot be read is a problem", () => {
  const { kerberos, problems } = parsed(GOOD, undefined, { authToLocal: "RULE:[1:$1" });
  expect(kerberos).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining("security.auth_to_local")]);
});

test.each([
  ["no principal", 'useKeyTab=true keyTab="KEYTAB"', "needs principal="],
  ["a principal without a host", 'useKeyTab=true keyTab="KEYTAB" principal="zookeeper@REALM"', '"zookeeper@REALM"'],
  ["no keytab", `useKeyTab=true ${PRINCIPAL}`, "needs useKeyTab=true and keyTab="],
  ["a ticket cache", `useTicketCache=true ${PRINCIPAL}`, "needs useKeyTab=true and keyTab="],
  ["a keytab that is not there", `useKeyTab=true keyTab="KEYTAB.absent" ${PRINCIPAL}`, "ENOENT"],
])("%s is a problem", (_, options, part) => {
  const { kerberos, problems } = parsed(options);
  expect(kerberos).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining(part)]);
});

test("what the library reports is a problem, such as a keytab without the principal's key", () => {
  const { problems } = parsed(`useKeyTab=true keyTab="KEYTAB" ${PRINCIPAL}`, () => {
    throw new GssError("no key");
  });
  expect(problems).toEqual([expect.stringContaining("asks for Kerberos: no key")]);
});

test("the system's library refuses an empty keytab, and where it is absent the sentence names its package", () => {
  const { kerberos, problems } = parsed(`useKeyTab=true keyTab="KEYTAB" ${PRINCIPAL}`, openGssAcceptor);
  expect(kerberos).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining("asks for Kerberos: ")]);
});
