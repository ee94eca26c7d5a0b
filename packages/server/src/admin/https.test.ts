import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { RawClient } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigError, parseServerConfig, type ServerOptions } from "../config.ts";
import { AUTHORITY, CLIENT_EXPIRED, HOST, ONE, STRANGER, TWO } from "../testing/certificates.ts";
import { ask, say } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { subjectName } from "../tls/subject-name.ts";
import type { AdminOptions } from "./http-options.ts";

let folder: string;
let admin: AdminOptions;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-admin-tls-"));
  const keyStore = { location: join(folder, "host.pem") };
  const trustStore = { location: join(folder, "ca.pem") };
  writeFileSync(keyStore.location, HOST.key + HOST.cert, { mode: 0o600 });
  writeFileSync(trustStore.location, AUTHORITY);
  admin = { port: 0, forceHttps: true, tls: { keyStore, trustStore } };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const X509 = "org.apache.zookeeper.server.auth.X509AuthenticationProvider";

interface HttpsAnswer {
  readonly status: number | undefined;
  readonly body: string;
}

/** Sends a request by HTTPS, trusting our authority. */
async function askSecurely(port: number | undefined, path: string, options: RequestOptions = {}): Promise<HttpsAnswer> {
  const trust = { ca: AUTHORITY, checkServerIdentity: () => undefined };
  const sent = request({ port, host: "127.0.0.1", path, agent: false, ...trust, ...options }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response.setEncoding("utf8")) body += chunk;
  return { status: response.statusCode, body };
}

test("with HTTPS everything is answered by it, and nothing without", async () => {
  await using zk = await startTestServer({ admin });
  expect((await askSecurely(zk.adminPort, "/commands/ruok")).body).toContain('"error" : null');
  expect((await askSecurely(zk.adminPort, "/readyz")).status).toBe(200);
  const plain = await say(zk.adminPort, "GET /commands/ruok HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(plain).not.toContain("200");
  expect(zk.lines).toEqual([]);
});

test("with port unification the first byte decides between HTTP and HTTPS, and a silent connection holds up no stop", async () => {
  const zk = await startTestServer({ admin: { ...admin, forceHttps: false, portUnification: true } });
  expect((await askSecurely(zk.adminPort, "/commands/ruok")).body).toContain('"error" : null');
  expect((await ask(zk.adminPort, "/commands/ruok")).body).toContain('"error" : null');
  expect((await askSecurely(zk.adminPort, "/readyz")).status).toBe(200);
  const silent = connect({ port: zk.adminPort ?? 0, host: "127.0.0.1" });
  await once(silent, "connect");
  const closed = once(silent, "close");
  silent.on("error", () => {
    // It may be reset.
  });
  await zk.stop();
  await closed;
  expect(zk.lines).toEqual([]);
});

/** The end of the certificate that the port shows. */
async function shownNotAfter(port: number | undefined): Promise<string> {
  const socket = connectTls({ port: port ?? 0, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { valid_to: validTo } = socket.getPeerCertificate();
  socket.destroy();
  return validTo;
}

test("its certificate is a metric, ends with a warning, and is read again on demand, from where the options say", async () => {
  const location = join(folder, "renewed.pem");
  writeFileSync(location, CLIENT_EXPIRED.key + CLIENT_EXPIRED.cert, { mode: 0o600 });
  const options = { admin: { ...admin, tls: { ...admin.tls, keyStore: { location } } } };
  await using zk = await startTestServer(options);
  expect(zk.lines).toEqual([expect.stringMatching(/^the certificate that operators see expired at /)]);
  expect((await askSecurely(zk.adminPort, "/metrics", { rejectUnauthorized: false })).body).toMatch(
    /zooid_tls_certificate_not_after_seconds\{key="operators"\} \d+/,
  );
  writeFileSync(location, HOST.key + HOST.cert);
  const { certificates } = zk.reload();
  expect(certificates).toEqual([expect.objectContaining({ shownTo: "operators" })]);
  expect(certificates[0]?.notAfter).toBeGreaterThan(certificates[0]?.notAfterBefore ?? 0);
  expect(await shownNotAfter(zk.adminPort)).toBe(new X509Certificate(HOST.cert).validTo);
  writeFileSync(location, "no key");
  expect(zk.reload().problems).toEqual([expect.stringContaining(location)]);
  // Here the check of the options finds it.
  expect(zk.reload(options).problems).toEqual([expect.stringContaining(location)]);
  expect(zk.reload({ admin }).problems).toEqual([]);
  expect(zk.reload({ admin, tickMs: -5 }).problems).toHaveLength(1);
  expect(await shownNotAfter(zk.adminPort)).toBe(new X509Certificate(HOST.cert).validTo);
  const { body } = await askSecurely(zk.adminPort, "/metrics", { rejectUnauthorized: false });
  expect(body.match(/^zooid_tls_reload.*"operators".*$/gm)).toEqual([
    'zooid_tls_reloads_total{key="operators"} 2',
    'zooid_tls_reload_failures_total{key="operators"} 2',
  ]);
});

test.each<[string, ServerOptions, string]>([
  ["tickTime", { tickMs: -5 }, "tickTime is a whole number from 1"],
  ["maxSessionTimeout", { sessionTimeoutMsMax: 1 }, "minSessionTimeout 4000 must not exceed maxSessionTimeout 1"],
  ["a store of clients", { securePort: 0, tls: { keyStore: { location: "/nowhere" } } }, "/nowhere"],
])("a reload refuses what a start refuses, and changes nothing: %s", async (_, options, problem) => {
  await using zk = await startTestServer({});
  const { problems } = zk.reload({ ...options, fourLetterWords: "*" });
  expect(problems.join()).toContain(problem);
  expect(() => parseServerConfig(options)).toThrow(problem);
  await using client = await RawClient.open(zk.port);
  client.send(Buffer.from("ruok"));
  expect((await client.rest()).toString()).not.toBe("imok");
});

test("with HTTPS forced, port unification accepts no HTTP", async () => {
  await using zk = await startTestServer({ admin: { ...admin, portUnification: true } });
  expect((await askSecurely(zk.adminPort, "/readyz")).status).toBe(200);
  expect(await say(zk.adminPort, "GET /commands/ruok HTTP/1.1\r\nHost: localhost\r\n\r\n")).not.toContain("200");
});

test("a required certificate: requests without a trusted one are not answered", async () => {
  await using zk = await startTestServer({ admin: { ...admin, needClientAuth: true } });
  expect((await askSecurely(zk.adminPort, "/commands/ruok", ONE)).status).toBe(200);
  await expect(askSecurely(zk.adminPort, "/commands/ruok")).rejects.toThrow();
  await expect(askSecurely(zk.adminPort, "/commands/ruok", STRANGER)).rejects.toThrow();
});

test("the subject of a certificate may take a snapshot if the root permits it", async () => {
  await using zk = await startTestServer({
    admin: { ...admin, needClientAuth: true },
    auth: { providers: { x509: X509 } },
  });
  await using client = await RawClient.withSession(zk.port);
  const headers = { authorization: "x509" };
  const may = async (own: RequestOptions): Promise<number | undefined> =>
    (await askSecurely(zk.adminPort, "/commands/snapshot", { ...own, headers })).status;
  await client.ask(OpCode.SET_ACL, rootFor("CN=somebody else", subjectName(new X509Certificate(ONE.cert).raw)));
  // 503 is the answer to an authorized request.
  expect(await may(ONE)).toBe(503);
  expect(await may(TWO)).toBe(403);
});

test("a request by HTTP has no certificate subject", async () => {
  await using zk = await startTestServer({ admin: { port: 0 } });
  expect((await ask(zk.adminPort, "/commands/snapshot", { headers: { authorization: "x509" } })).status).toBe(401);
});

test.each([
  [{ needClientAuth: true }, "admin.needClientAuth=true asks for certificates, which need admin.forceHttps=true"],
  [{ forceHttps: true }, "TLS needs ssl.quorum.keyStore.location"],
])("%j is refused", (options, problem) => {
  expect(() => parseServerConfig({ admin: options })).toThrow(ConfigError);
  expect(() => parseServerConfig({ admin: options })).toThrow(problem);
});

test("keys without HTTPS are reported", () => {
  const { forceHttps: _, ...rest } = admin;
  expect(parseServerConfig({ admin: rest }).notices).toEqual([expect.stringContaining("ssl.quorum.* has no effect")]);
});

function rootFor(...subjects: readonly string[]): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text("/");
    writer.int(subjects.length);
    for (const subject of subjects) {
      writer.int(31);
      writer.text("x509");
      writer.text(subject);
    }
    writer.int(-1);
  };
}

test("a head that does not come in time ends a connection by HTTPS, as one by HTTP", async () => {
  await using zk = await startTestServer({ admin: { ...admin, idleTimeoutMs: 100 } });
  const socket = connectTls({
    port: zk.adminPort ?? 0,
    host: "127.0.0.1",
    ca: AUTHORITY,
    checkServerIdentity: () => undefined,
  });
  socket.resume();
  socket.write("GET /livez HTTP/1.1\r\n");
  await once(socket, "close");
});
