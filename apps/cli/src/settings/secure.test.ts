import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { HOST_JKS, PASSWORD, pemOfHost } from "@zooid/java-files/testing/stores";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliRuns } from "../testing/cli-process.ts";
import { results } from "../testing/transcript.ts";

// The command line against a server that requires authentication, with zkCli's settings.

let folder = "";
let server: ZooidServer;
const runs = new CliRuns(() => `127.0.0.1:${server.securePort}`);
const run = runs.run.bind(runs);
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-cli-secure-"));
  const { key, cert, authority } = pemOfHost();
  writeFileSync(at("server.pem"), key + cert, { mode: 0o600 });
  writeFileSync(at("authority.pem"), authority);
  writeFileSync(at("host.jks"), HOST_JKS);
  const digest = "org.apache.zookeeper.server.auth.DigestLoginModule required";
  writeFileSync(at("server.conf"), `Server { ${digest} user_bob="the builder"; };`);
  writeFileSync(at("bob.conf"), `Client { ${digest} username="bob" password="the builder"; };`);
  writeFileSync(at("mallory.conf"), `Client { ${digest} username="bob" password="guess"; };`);
  const stores = [
    "zookeeper.client.secure=true",
    "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty",
    `zookeeper.ssl.trustStore.location=${at("authority.pem")}`,
    `zookeeper.ssl.keyStore.location=${at("host.jks")}`,
    `zookeeper.ssl.keyStore.password=${PASSWORD}`,
  ];
  writeFileSync(at("client.cfg"), stores.join("\n"));
  server = await startServer({
    port: 0,
    securePort: 0,
    connectionsPerAddressMax: 0,
    tls: {
      keyStore: { location: at("server.pem") },
      trustStore: { location: at("authority.pem") },
      clientAuth: "want",
    },
    auth: {
      providers: { 1: "org.apache.zookeeper.server.auth.SASLAuthenticationProvider" },
      jaasFile: at("server.conf"),
      failureDelayMsMax: 0,
    },
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

describe("TLS", () => {
  test("is configured by a file of Java settings, and the certificate is the identity", async () => {
    const { stdout, stderr, status } = await run("-client-configuration", at("client.cfg"), "whoami");
    expect([results(stdout), stderr, status]).toEqual([expect.stringContaining("x509: CN=host"), "", 0]);
  });

  test("accepts a trusted server and no other", async () => {
    const secure = ["-Dzookeeper.client.secure=true", "-timeout", "5000", "ls", "/"];
    const { stderr, status } = await run(...secure);
    expect(status).toBe(1);
    expect(stderr).toMatch(/ConnectionLoss.*certificate/);
    const trusted = await run(`-Dzookeeper.ssl.trustStore.location=${at("authority.pem")}`, ...secure);
    expect([results(trusted.stdout), trusted.status]).toEqual(["[zookeeper]\n", 0]);
  });

  test("works for a reconfiguration too", async () => {
    const { stderr, status } = await run("-client-configuration", at("client.cfg"), "reconfig", "-remove", "1");
    expect([stderr, status]).toEqual([expect.not.stringContaining("ConnectionLoss"), 1]);
  });
});

describe("SASL", () => {
  const plain = (): string[] => ["-server", server.connectString];

  test("takes credentials from a JAAS file", async () => {
    const login = `-Djava.security.auth.login.config=${at("bob.conf")}`;
    const { stdout, stderr, status } = await run(...plain(), login, "whoami");
    expect([results(stdout), stderr, status]).toEqual([expect.stringContaining("sasl: bob"), "", 0]);
  });

  test("a wrong password is reported", async () => {
    const login = `-Djava.security.auth.login.config=${at("mallory.conf")}`;
    const { stderr, status } = await run(...plain(), login, "whoami");
    expect([stderr, status]).toEqual([expect.stringContaining("AuthFailed"), 1]);
  });
});

test("unusable settings are reported before connecting", async () => {
  const { stdout, stderr, status } = await run("-Dzookeeper.client.secure=true", "-Dzookeeper.ssl.crl=true", "ls", "/");
  expect([stdout, stderr, status]).toEqual([
    "",
    expect.stringContaining("zookeeper.ssl.crl=true cannot be honoured"),
    1,
  ]);
});
