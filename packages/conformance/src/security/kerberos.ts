/**
 * Authenticates ZooKeeper's Java client by Kerberos, at Apache's server and at Zooid, with MIT's
 * key distribution center as Debian ships it.
 *
 *     npm run tool -- kerberos [--against apache|zooid]
 *
 * It needs krb5kdc, kadmin.local, java, javac and mvn, and fails without them where CI is set.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { compileWithApache, fetchApacheJars, isOnPath } from "../clients.ts";
import { printDiff } from "../diff.ts";
import { startEndpoint } from "../servers/endpoint.ts";
import { eachOf, toolOptions } from "../tool-options.ts";
import { KerberosRealm, REALM } from "./kerberos-realm.ts";

const SERVICE = `zookeeper/localhost@${REALM}`;
const SASL = "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider";
const NEEDS = ["krb5kdc", "kadmin.local", "kdb5_util", "java", "javac", "mvn"];
const DEADLINE_MS = 120_000;

/** The output of Java's client at a server with these settings. */
const CASES = [
  { name: "names as they are", settings: [], alice: `alice@${REALM}`, service: `hbase/node1.zooid.test@${REALM}` },
  {
    name: "names without host and realm",
    settings: ["kerberos.removeHostFromPrincipal=true", "kerberos.removeRealmFromPrincipal=true"],
    alice: "alice",
    service: "hbase",
  },
  {
    name: "names by rules",
    settings: [
      `security.auth_to_local=RULE:[2:$1@$0](hbase@${REALM})s/hbase@.*/storage/ RULE:[1:$1]s/^a/A/`,
      "kerberos.removeHostFromPrincipal=true",
      "kerberos.removeRealmFromPrincipal=true",
    ],
    alice: "Alice",
    service: "storage",
  },
];

const options = toolOptions({ against: eachOf(["apache", "zooid"]) });
process.env["PATH"] = `${process.env["PATH"] ?? ""}:/usr/sbin`;
const missing = NEEDS.filter((command) => !isOnPath(command));
if (missing.length > 0) {
  console.log(`skipped: kerberos needs ${missing.join(", ")}`);
  if (process.env["CI"] === "true") process.exitCode = 1;
} else process.exitCode = await run();

async function run(): Promise<number> {
  const jars = fetchApacheJars();
  const classPath = compileWithApache("Kerberized.java");
  let failed = 0;
  for (const kind of options.against) {
    await using realm = await KerberosRealm.start();
    const jaas = writeJaas(realm);
    const java = [`-Djava.security.auth.login.config=${jaas}`, `-Djava.security.krb5.conf=${realm.krb5Conf}`];
    const client = async (phase: string, port: number): Promise<readonly string[]> => {
      const argv = [...java, "-cp", classPath, "Kerberized", phase, `localhost:${port}`];
      const { stdout } = await promisify(execFile)("java", argv, { timeout: DEADLINE_MS });
      return stdout.trimEnd().split("\n");
    };
    for (const { name, settings, alice, service } of CASES) {
      await using server = await startEndpoint(kind, kind === "apache" ? jars : undefined, [SASL, ...settings], java);
      failed += report(`${kind}, ${name}`, served(alice, service), await client("served", server.port));
    }
    await using server = await startEndpoint(kind, kind === "apache" ? jars : undefined, [SASL], java);
    realm.changeKey(SERVICE);
    failed += report(`${kind}, a keytab that is out of date`, ["alice: refused"], await client("refused", server.port));
  }
  return failed === 0 ? 0 : 1;
}

function report(title: string, expected: readonly string[], found: readonly string[]): number {
  const difference = printDiff(expected, found);
  console.log(difference === "" ? `passed  ${title}: ${found.length} lines` : `FAILED  ${title}\n${difference}`);
  return difference === "" ? 0 : 1;
}

function served(alice: string, service: string): readonly string[] {
  return [
    `who is alice: ip:127.0.0.1, sasl:${alice}`,
    `who is the service: ip:127.0.0.1, sasl:${service}`,
    "create by alice: /alice",
    `get acl by alice: sasl:${alice}:31`,
    "get by alice: /alice",
    "get by the service: NOAUTH",
    "get by guest: NOAUTH",
    "create by the service: /service",
    `get acl by the service: sasl:${service}:31`,
    "create with auth by guest: INVALIDACL",
  ];
}

function writeJaas(realm: KerberosRealm): string {
  const section = (name: string, principal: string, keyTab: string): string =>
    `${name} {
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true storeKey=true useTicketCache=false doNotPrompt=true
  keyTab="${realm.add(principal, keyTab)}" principal="${principal}";
};
`;
  const file = join(realm.folder, "jaas.conf");
  writeFileSync(
    file,
    section("Server", SERVICE, "server.keytab") +
      section("Alice", `alice@${REALM}`, "alice.keytab") +
      section("Service", `hbase/node1.zooid.test@${REALM}`, "hbase.keytab"),
  );
  return file;
}
