import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUTHORITY_JKS, AUTHORITY_PKCS12, HOST_JKS, PASSWORD, pemOfHost } from "@zooid/java-files/testing/stores";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseClientConfiguration } from "./client-configuration.ts";
import { readJavaSettings } from "./java-settings.ts";

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-cli-configuration-"));
  const { key, cert, authority } = pemOfHost();
  writeFileSync(at("host.pem"), key + cert);
  writeFileSync(at("authority.pem"), authority);
  writeFileSync(at("stranger.pem"), key + authority);
  writeFileSync(at("host.jks"), HOST_JKS);
  writeFileSync(at("authority.jks"), AUTHORITY_JKS);
  writeFileSync(at("authority.p12"), AUTHORITY_PKCS12);
  writeFileSync(at("password"), `${PASSWORD}\n`);
  writeFileSync(at("empty.pem"), "");
  const digest = "org.apache.zookeeper.server.auth.DigestLoginModule";
  const kerberos = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;";
  writeFileSync(
    at("jaas.conf"),
    `Server { ${digest} required user_bob="x"; };
     /* who we are */ Client { ${digest} required username="bob" password="the \\"builder\\""; };
     Other { ${digest} required username=jim; }; Kerberos { ${kerberos} };`,
  );
  writeFileSync(at("server.conf"), `Server { ${digest} required user_bob="x"; };`);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** As in a file; `@` stands for the folder. */
function parse(...lines: readonly string[]) {
  const settings = lines.map((line) => {
    const [key = "", ...rest] = line.split("=");
    return { key, value: rest.join("=").replace("@", folder), where: "f.cfg" };
  });
  return parseClientConfiguration(settings);
}

test("settings are read from the environment, a file and the command line, and the last one wins", () => {
  writeFileSync(at("f.cfg"), "jute.maxbuffer=2048\nzookeeper.client.secure = false\n");
  const environment = { CLIENT_JVMFLAGS: "-Xmx1g -Djute.maxbuffer=1024 -Dlog4j.x=1", JVMFLAGS: "-Dzookeeper.a=b" };
  const file = at("f.cfg");
  const settings = readJavaSettings({ environment, file, properties: ["-Djute.maxbuffer=4096", "-Dzookeeper.c"] });
  expect(settings.map(({ key, value, where }) => `${where}: ${key}=${value}`)).toEqual([
    "CLIENT_JVMFLAGS: jute.maxbuffer=1024",
    "JVMFLAGS: zookeeper.a=b",
    `${file}: jute.maxbuffer=2048`,
    `${file}: zookeeper.client.secure=false`,
    "the command line: jute.maxbuffer=4096",
    "the command line: zookeeper.c=true",
  ]);
  expect(parseClientConfiguration(settings)).toEqual({
    frameBytesMax: 4096,
    tls: undefined,
    sasl: undefined,
    warnings: ["JVMFLAGS: zookeeper.a has no effect here", "the command line: zookeeper.c has no effect here"],
  });
});

test("a missing file is named", () => {
  const read = () => readJavaSettings({ environment: {}, file: "/no/such/file", properties: [] });
  expect(read).toThrow("cannot read the client configuration /no/such/file");
});

describe("TLS", () => {
  const SECURE = "zookeeper.client.secure=true";

  test("uses the stores, in any format", () => {
    const pem = parse(
      SECURE,
      "zookeeper.ssl.keyStore.location=@/host.pem",
      "zookeeper.ssl.trustStore.location=@/authority.pem",
    );
    expect(Object.keys(pem.tls ?? {}).sort()).toEqual(["ca", "cert", "key"]);
    const jks = ["zookeeper.ssl.keyStore.location=@/host.jks", "zookeeper.ssl.keyStore.passwordPath=@/password"];
    expect(Object.keys(parse(SECURE, ...jks).tls ?? {}).sort()).toEqual(["cert", "key"]);
    for (const name of ["authority.jks", "authority.p12"]) {
      const trust = [`zookeeper.ssl.trustStore.location=@/${name}`, `zookeeper.ssl.trustStore.password=${PASSWORD}`];
      expect(parse(SECURE, ...trust).tls?.ca).toEqual([expect.stringMatching(/^-----BEGIN CERTIFICATE-----/)]);
    }
  });

  test("is not used by default", () => {
    expect(parse("zookeeper.ssl.keyStore.location=@/host.pem")).toMatchObject({ tls: undefined, warnings: [] });
  });

  test("uses the configured versions, and verifies host names unless disabled", () => {
    const named = parse(SECURE, "zookeeper.ssl.protocol=TLSv1.2", "zookeeper.ssl.hostnameVerification=false");
    expect(named.tls).toEqual({ maxVersion: "TLSv1.2", checkServerIdentity: expect.any(Function) });
    expect(parse(SECURE, "zookeeper.ssl.enabledProtocols=TLSv1.3, TLSv1.2").tls).toEqual({
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
    });
    expect(parse(SECURE, "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty")).toMatchObject({
      tls: {},
      warnings: [],
    });
  });

  test.each([
    ["zookeeper.ssl.keyStore.location=/no/such.pem", "/no/such.pem cannot be used: ENOENT"],
    ["zookeeper.ssl.keyStore.location=@/empty.pem", "cannot be used"],
    ["zookeeper.ssl.keyStore.location=@/stranger.pem", "key values mismatch"],
    ["zookeeper.ssl.keyStore.location=@/password", "keyStore.type is PEM, PKCS12 or JKS"],
    ["zookeeper.ssl.keyStore.location=@/authority.jks", "cannot be used"],
    ["zookeeper.ssl.trustStore.location=@/empty.pem", "it holds no certificate"],
    ["zookeeper.ssl.trustStore.location=@/authority.p12", "cannot be used"],
    ["zookeeper.ssl.protocol=TLSv1.1", "zookeeper.ssl.protocol names TLSv1.2 or TLSv1.3, found TLSv1.1"],
    ["zookeeper.ssl.crl=true", "zookeeper.ssl.crl=true cannot be honoured"],
    ["zookeeper.ssl.ciphersuites=x", "zookeeper.ssl.ciphersuites=x cannot be honoured"],
  ])("%s is refused", (line, sentence) => {
    expect(() => parse(SECURE, line)).toThrow(sentence);
  });
});

describe("SASL", () => {
  const JAAS = "java.security.auth.login.config=@/jaas.conf";

  test("uses the section Client, or the configured one", () => {
    expect(parse(JAAS).sasl).toBeDefined();
    expect(parse(JAAS, "zookeeper.sasl.client=true", "zookeeper.sasl.clientconfig=Client").sasl).toBeDefined();
    expect(parse(JAAS, "zookeeper.sasl.client=false")).toMatchObject({ sasl: undefined, warnings: [] });
  });

  test("is not used with a server's file", () => {
    const { sasl, warnings } = parse("java.security.auth.login.config=@/server.conf");
    expect([sasl, warnings]).toEqual([undefined, [expect.stringContaining("has no section Client")]]);
  });

  test.each([
    [["java.security.auth.login.config=/no/such"], "java.security.auth.login.config: ENOENT"],
    [[JAAS, "zookeeper.sasl.clientconfig=Missing"], "has no section Missing"],
    [[JAAS, "zookeeper.sasl.clientconfig=Other"], "the section Other has no username and password"],
    [[JAAS, "zookeeper.sasl.clientconfig=Kerberos"], "Krb5LoginModule cannot be used"],
    [["zookeeper.sasl.client=true"], "needs java.security.auth.login.config"],
  ])("%j is refused", (lines, sentence) => {
    expect(() => parse(...lines)).toThrow(sentence);
  });
});

test.each([["much"], ["12"], ["0x"]])("jute.maxbuffer=%s is refused", (value) => {
  expect(() => parse(`jute.maxbuffer=${value}`)).toThrow(
    `jute.maxbuffer takes bytes from 1024 to 2147483647, found "${value}"`,
  );
});
