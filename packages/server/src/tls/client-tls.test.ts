import { once } from "node:events";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { ErrorCode, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { auth, create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StartOptions } from "../server-api.ts";
import {
  AUTHORITY,
  CLIENT_EXPIRED,
  CLIENT_GOOD,
  CLIENT_KEPT,
  CLIENT_REVOKED,
  CLIENT_USAGE,
  EMPTY_REVOCATION_LIST,
  HOST,
  ODD_SUBJECT,
  ONE,
  OTHER_AUTHORITY,
  REVOCATION_LIST,
  REVOKING_AUTHORITY,
  STRANGER,
  TWO,
} from "../testing/certificates.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import type { TlsOptions } from "./tls-config.ts";

let folder: string;
let stores: Pick<TlsOptions, "keyStore" | "trustStore">;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-client-tls-"));
  const location = join(folder, "host.pem");
  const trusted = join(folder, "ca.pem");
  writeFileSync(location, HOST.key + HOST.cert, { mode: 0o600 });
  writeFileSync(trusted, AUTHORITY);
  stores = { keyStore: { location }, trustStore: { location: trusted } };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const START = { address: "127.0.0.1", securePort: 0 };

function start(tls: TlsOptions = {}, more: StartOptions = {}): ReturnType<typeof startTestServer> {
  return startTestServer({ ...START, tls: { ...stores, ...tls }, ...more });
}

/** A client that trusts our authority, and sends the given certificate. */
async function open(port: number | undefined, own: ConnectionOptions = {}): Promise<RawClient> {
  const client = await RawClient.openTls(port ?? 0, { ca: AUTHORITY, ...own });
  await client.handshake();
  return client;
}

/** Whether a client is served; with TLS 1.3 the client learns it only after its own handshake. */
async function isServed(port: number | undefined, own: ConnectionOptions = {}): Promise<boolean> {
  try {
    await using client = await open(port, own);
    return (await client.ask(OpCode.EXISTS, read("/"))).code === 0;
  } catch {
    return false;
  }
}

async function whoAmI(client: RawClient): Promise<readonly string[]> {
  const { body } = await client.ask(OpCode.WHO_AM_I);
  return Array.from({ length: body.int() }, () => `${body.text()}:${body.text()}`);
}

function createFor(path: string, scheme: string, id: string): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text(path);
    writer.text("x");
    writer.int(1);
    writer.int(31);
    writer.text(scheme);
    writer.text(id);
    writer.int(0);
  };
}

describe("a client with a certificate", () => {
  test("has the identity of its subject, and opens only nodes of that identity", async () => {
    await using zk = await start();
    await using one = await open(zk.securePort, ONE);
    expect(await whoAmI(one)).toEqual(["ip:127.0.0.1", "x509:CN=one"]);
    expect(await one.ask(OpCode.CREATE, createFor("/one", "auth", ""))).toMatchObject({ code: 0 });
    expect(await one.ask(OpCode.GET_DATA, read("/one"))).toMatchObject({ code: 0 });
    await using two = await open(zk.securePort, TWO);
    expect(await two.ask(OpCode.GET_DATA, read("/one"))).toMatchObject({ code: ErrorCode.NO_AUTH });
    await using plain = await RawClient.withSession(zk.port);
    expect(await plain.ask(OpCode.GET_DATA, read("/one"))).toMatchObject({ code: ErrorCode.NO_AUTH });
    expect(await plain.ask(OpCode.CREATE, createFor("/of-one", "x509", "CN=one"))).toMatchObject({ code: 0 });
    expect(await plain.ask(OpCode.CREATE, createFor("/bad", "x509", "one"))).toMatchObject({
      code: ErrorCode.INVALID_ACL,
    });
    expect(await one.ask(OpCode.GET_DATA, read("/of-one"))).toMatchObject({ code: 0 });
  });

  test("may authenticate by x509 again, which a client without one may not", async () => {
    await using zk = await start();
    await using one = await open(zk.securePort, ONE);
    expect(await one.ask(OpCode.AUTH, auth("x509", null))).toMatchObject({ code: 0 });
    await using plain = await RawClient.withSession(zk.port);
    expect(await plain.ask(OpCode.AUTH, auth("x509", null))).toMatchObject({ code: ErrorCode.AUTH_FAILED });
  });

  test("that is the superuser's has every permission", async () => {
    await using zk = await start({}, { auth: { x509SuperUser: "CN=one" } });
    await using two = await open(zk.securePort, TWO);
    await two.ask(OpCode.CREATE, createFor("/two", "auth", ""));
    await using one = await open(zk.securePort, ONE);
    expect(await whoAmI(one)).toEqual(["ip:127.0.0.1", "super:", "x509:CN=one"]);
    expect(await one.ask(OpCode.GET_DATA, read("/two"))).toMatchObject({ code: 0 });
  });

  test("satisfies the enforcement of x509", async () => {
    await using zk = await start({}, { auth: { enforceAuth: true, enforcedSchemes: ["x509"] } });
    expect(await isServed(zk.securePort, ONE)).toBe(true);
    await using plain = await RawClient.withSession(zk.port);
    expect(await plain.ask(OpCode.EXISTS, read("/"))).toMatchObject({
      code: ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH,
    });
  });
});

describe("the server serves", () => {
  test.each<[string, ConnectionOptions, readonly boolean[]]>([
    ["clients with a certificate of the authority", ONE, [true, true, true]],
    ["clients without one", {}, [false, true, true]],
    // Our client sends its certificate whether or not the server trusts the authority.
    ["clients with a stranger's", STRANGER, [false, false, true]],
  ])("%s", async (_, own, expected) => {
    const served: boolean[] = [];
    for (const clientAuth of ["need", "want", "none"]) {
      await using zk = await start({ clientAuth });
      served.push(await isServed(zk.securePort, own));
    }
    expect(served).toEqual(expected);
  });

  test.each<[string, ConnectionOptions, boolean]>([
    ["that is valid", CLIENT_GOOD, true],
    ["made for servers", CLIENT_USAGE, false],
    ["that has expired", CLIENT_EXPIRED, false],
    ["before a hundred others", { ...CLIENT_GOOD, cert: CLIENT_GOOD.cert + CLIENT_USAGE.cert.repeat(100) }, true],
  ])("a client with a certificate %s: %s", async (_, own, served) => {
    const location = join(folder, "other-ca.pem");
    writeFileSync(location, OTHER_AUTHORITY);
    for (const clientAuth of ["need", "want"]) {
      await using zk = await start({ clientAuth, trustStore: { location } });
      expect(await isServed(zk.securePort, own)).toBe(served);
    }
  });

  test("no client whose subject cannot be read, and others continue", async () => {
    const location = join(folder, "odd-ca.pem");
    writeFileSync(location, ODD_SUBJECT.cert + AUTHORITY);
    await using zk = await start({ clientAuth: "need", trustStore: { location } });
    expect(await isServed(zk.securePort, ODD_SUBJECT)).toBe(false);
    expect(await isServed(zk.securePort, ONE)).toBe(true);
  });

  /**
   * A server that asks for certificates of an authority that keeps a list of what it has revoked.
   */
  async function startWithList(list: string, tls: TlsOptions = {}): Promise<Awaited<ReturnType<typeof start>>> {
    const trusted = join(folder, "revoking-ca.pem");
    writeFileSync(trusted, REVOKING_AUTHORITY);
    return await start({ trustStore: { location: trusted }, crl: true, crlFile: listFile(list), ...tls });
  }

  function listFile(list: string): string {
    const file = join(folder, "revoked.pem");
    writeFileSync(`${file}.new`, list);
    renameSync(`${file}.new`, file);
    return file;
  }

  test.each(["need", "want"])("no client whose certificate was revoked, with ssl.clientAuth=%s", async (clientAuth) => {
    await using before = await startWithList(EMPTY_REVOCATION_LIST, { clientAuth });
    expect(await isServed(before.securePort, CLIENT_REVOKED)).toBe(true);
    await using zk = await startWithList(REVOCATION_LIST, { clientAuth });
    expect(await isServed(zk.securePort, CLIENT_KEPT)).toBe(true);
    expect(await isServed(zk.securePort, CLIENT_REVOKED)).toBe(false);
  });

  test("no client of an authority whose list is missing", async () => {
    const trusted = join(folder, "two-ca.pem");
    writeFileSync(trusted, REVOKING_AUTHORITY + OTHER_AUTHORITY);
    await using zk = await startWithList(EMPTY_REVOCATION_LIST, { trustStore: { location: trusted } });
    expect(await isServed(zk.securePort, CLIENT_KEPT)).toBe(true);
    expect(await isServed(zk.securePort, CLIENT_GOOD)).toBe(false);
  });

  test("no client that was revoked while the server runs, if it reads its files again", async () => {
    await using zk = await startWithList(EMPTY_REVOCATION_LIST, { certReload: true });
    expect(await isServed(zk.securePort, CLIENT_REVOKED)).toBe(true);
    listFile(REVOCATION_LIST);
    await expect
      .poll(() => zk.lines.join("\n"), { timeout: 10_000 })
      .toContain("use the certificates that were read again");
    expect(await isServed(zk.securePort, CLIENT_REVOKED)).toBe(false);
    expect(await isServed(zk.securePort, CLIENT_KEPT)).toBe(true);
  });

  test("a client whose certificate names another address, unless the address is verified", async () => {
    await using zk = await start({ clientHostnameVerification: true });
    expect(await isServed(zk.securePort, HOST)).toBe(true);
    expect(await isServed(zk.securePort, ONE)).toBe(false);
    expect(zk.lines).toContainEqual(expect.stringContaining("does not name the address that the client comes from"));
  });

  test("clients with a server name of any content and length", async () => {
    await using zk = await start({ clientAuth: "none" });
    const checkServerIdentity = (): undefined => undefined;
    expect(await isServed(zk.securePort, { servername: "unknown.example", checkServerIdentity })).toBe(true);
    await using stranger = await RawClient.open(zk.securePort ?? 0);
    stranger.send(helloWithName(await clientHello(), 15_000));
    await stranger.rest();
    expect(await isServed(zk.securePort)).toBe(true);
  });

  test("no client with an older TLS version than configured", async () => {
    await using zk = await start({ clientAuth: "none", enabledProtocols: ["TLSv1.3"] });
    expect(await isServed(zk.securePort, { maxVersion: "TLSv1.2" })).toBe(false);
    expect(await isServed(zk.securePort, { minVersion: "TLSv1.3" })).toBe(true);
    expect(zk.lines).toContainEqual(expect.stringContaining("its TLS handshake failed"));
  });

  test("clients that offer one of the cipher suites", async () => {
    await using zk = await start({ clientAuth: "none", cipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"] });
    await using client = await RawClient.openTls(zk.securePort ?? 0, { ca: AUTHORITY, maxVersion: "TLSv1.2" });
    expect(client.socket).toMatchObject({ authorized: true });
    expect(await isServed(zk.securePort, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" })).toBe(
      false,
    );
  });
});

describe("a TLS port", () => {
  test("answers four-letter words, in pieces too", async () => {
    await using zk = await start({ clientAuth: "none" }, { fourLetterWords: "*" });
    for (const pieces of [["ruok"], ["r", "u", "o", "k"], ["sr", "vr"]]) {
      await using client = await RawClient.openTls(zk.securePort ?? 0, { ca: AUTHORITY });
      for (const piece of pieces) client.send(Buffer.from(piece));
      expect((await client.rest()).toString()).toMatch(/^imok$|^Zookeeper version/);
    }
  });

  test("takes frames near the limit, and gives them back", async () => {
    await using zk = await start({ clientAuth: "none" });
    await using client = await open(zk.securePort);
    const data = "x".repeat(1_000_000);
    expect(await client.ask(OpCode.CREATE, create("/large", data))).toMatchObject({ code: 0 });
    const { body } = await client.ask(OpCode.GET_DATA, read("/large"));
    expect(body.int()).toBe(data.length);
  });

  test("closes what is not TLS, and serves others meanwhile", async () => {
    await using zk = await start({ clientAuth: "none" });
    for (const bytes of [
      "ruok",
      "GET / HTTP/1.1\r\n\r\n",
      "\0\0\0\x2d",
      "\x16\x03\x01\xff\xff",
      "\x80\x2e\x01\x03\x01",
    ]) {
      await using stranger = await RawClient.open(zk.securePort ?? 0);
      stranger.send(Buffer.from(bytes, "latin1"));
      stranger.socket.end();
      await stranger.rest();
      expect(await isServed(zk.securePort)).toBe(true);
    }
  });

  test("gives up a handshake that stalls, at any step", async () => {
    await using zk = await start({ clientAuth: "none", handshakeTimeoutMs: 400 });
    const hello = await clientHello();
    const stall = async (byteCount: number): Promise<void> => {
      await using stalled = await RawClient.open(zk.securePort ?? 0);
      stalled.send(hello.subarray(0, byteCount));
      await stalled.rest();
    };
    await Promise.all([0, 1, 5, 6, hello.length - 1, hello.length].map(stall));
    // A busy machine may take longer for a handshake of its own.
    await expect.poll(() => isServed(zk.securePort)).toBe(true);
  });

  test("has as many handshakes at a time as configured, and no more", async () => {
    await using zk = await start({ clientAuth: "none", handshakeCountMax: 2 });
    await using one = await RawClient.open(zk.securePort ?? 0);
    await using two = await RawClient.open(zk.securePort ?? 0);
    await using three = await RawClient.open(zk.securePort ?? 0);
    await three.rest();
    expect(zk.lines).toContainEqual(expect.stringContaining("2 TLS handshakes are in progress"));
    await one[Symbol.asyncDispose]();
    await two[Symbol.asyncDispose]();
    await expect.poll(() => isServed(zk.securePort)).toBe(true);
  });

  test("counts what one address has there apart from what it has on the plain port", async () => {
    await using zk = await start({ clientAuth: "none" }, { connectionsPerAddressMax: 1 });
    await using plain = await RawClient.withSession(zk.port);
    await using secure = await open(zk.securePort);
    expect(await isServed(zk.securePort)).toBe(false);
    expect(await secure.ask(OpCode.PING)).toMatchObject({ code: 0 });
    expect(await plain.ask(OpCode.PING)).toMatchObject({ code: 0 });
  });

  test("logs nothing about port probes", async () => {
    await using zk = await start({ clientAuth: "none" });
    const hello = await clientHello();
    for (const sent of [0, 1, hello.length]) {
      for (const isReset of [false, true]) {
        await using probe = await RawClient.open(zk.securePort ?? 0);
        probe.socket.write(hello.subarray(0, sent));
        if (sent === hello.length) await once(probe.socket, "data");
        if (isReset) probe.socket.resetAndDestroy();
        else probe.socket.end();
        await probe.rest();
      }
    }
    await using stranger = await RawClient.open(zk.securePort ?? 0);
    stranger.socket.write("GET / HTTP/1.1\r\n\r\n");
    await expect.poll(() => zk.lines).toHaveLength(1);
    expect(zk.lines).toEqual([expect.stringContaining("it sent an HTTP request")]);
  });

  test("may be the only one", async () => {
    await using zk = await start({ clientAuth: "none" }, { plainPort: false });
    expect(zk.port).toBe(zk.securePort);
    expect(await isServed(zk.port)).toBe(true);
  });

  test("closes handshakes in progress when the server stops", async () => {
    const zk = await start({}, { portUnification: true });
    await using secure = await RawClient.open(zk.securePort ?? 0);
    await using silent = await RawClient.open(zk.port);
    // Its answer shows that the two before it were accepted.
    await using seen = await RawClient.withSession(zk.port);
    await zk.stop();
    await Promise.all([secure.rest(), silent.rest(), seen.rest()]);
  });

  test("cuts off a client that does not read", async () => {
    await using zk = await start({ clientAuth: "none" }, { outputBytesMax: 65_536 });
    await using client = await open(zk.securePort);
    await client.ask(OpCode.CREATE, create("/large", "x".repeat(900_000)));
    client.socket.pause();
    for (let i = 0; i < 20; i++) client.send(readFrame(i));
    await expect.poll(() => zk.lines.join()).toContain("wait for a client that does not read them");
    expect(await isServed(zk.securePort)).toBe(true);
  });
});

describe("a port with and without TLS", () => {
  test("serves clients with TLS and without, and four-letter words of both", async () => {
    await using zk = await start({ clientAuth: "want" }, { portUnification: true, fourLetterWords: "*" });
    expect(await isServed(zk.port, ONE)).toBe(true);
    await using plain = await RawClient.withSession(zk.port);
    expect(await whoAmI(plain)).toEqual(["ip:127.0.0.1"]);
    await using secure = await open(zk.port, ONE);
    expect(await whoAmI(secure)).toEqual(["ip:127.0.0.1", "x509:CN=one"]);
    for (const pieces of [["ruok"], ["r", "u", "o", "k"]]) {
      await using client = await RawClient.open(zk.port);
      for (const piece of pieces) client.send(Buffer.from(piece));
      expect((await client.rest()).toString()).toBe("imok");
    }
  });

  test("needs no other port, and is plain by default", async () => {
    await using both = await startTestServer({ portUnification: true, tls: { ...stores, clientAuth: "none" } });
    expect(both.securePort).toBeUndefined();
    expect(await isServed(both.port)).toBe(true);
    await using plain = await startTestServer({ tls: stores });
    expect(await isServed(plain.port)).toBe(false);
    expect(plain.lines).toContainEqual(expect.stringContaining("ssl.* has no effect"));
  });

  test("accepts a handshake that arrives a byte at a time", async () => {
    await using zk = await start({ clientAuth: "none" }, { portUnification: true });
    const hello = await clientHello();
    await using slow = await RawClient.open(zk.port);
    for (const byte of hello) slow.send(Buffer.of(byte));
    await slow.until("the server's part", () => slow.receivedBytes > 5);
  });

  test("closes a connection that sends nothing", async () => {
    await using zk = await start({ handshakeTimeoutMs: 50 }, { portUnification: true });
    await using silent = await RawClient.open(zk.port);
    await silent.rest();
    expect(zk.lines).toContainEqual(expect.stringContaining("it did not say a byte in time"));
  });
});

describe("certificates that change", () => {
  /** A server that reads its files again, and waits for lines of its log. */
  async function startReloading(): Promise<{
    zk: Awaited<ReturnType<typeof startTestServer>>;
    write: (content: string) => void;
    logged: (part: string) => Promise<void>;
  }> {
    const location = join(mkdtempSync(join(folder, "reload-")), "host.pem");
    const write = (content: string): void => {
      writeFileSync(`${location}.new`, content, { mode: 0o600 });
      renameSync(`${location}.new`, location);
    };
    write(HOST.key + HOST.cert);
    const zk = await start({ keyStore: { location }, clientAuth: "none", certReload: true });
    const logged = async (part: string): Promise<void> => {
      await expect.poll(() => zk.lines.join("\n"), { timeout: 10_000 }).toContain(part);
    };
    return { zk, write, logged };
  }

  async function serverName(port: number | undefined): Promise<string> {
    const socket = connectTls({
      port: port ?? 0,
      host: "127.0.0.1",
      ca: AUTHORITY,
      checkServerIdentity: () => undefined,
    });
    await once(socket, "secureConnect");
    const name = socket.getPeerCertificate().subject.CN;
    socket.destroy();
    return String(name);
  }

  test("are read again when Kubernetes puts another secret in place of a key and its certificate", async () => {
    const mount = mkdtempSync(join(folder, "secret-"));
    const put = (name: string, { key, cert }: { readonly key: string; readonly cert: string }): void => {
      mkdirSync(join(mount, name));
      writeFileSync(join(mount, name, "tls.key"), key, { mode: 0o600 });
      writeFileSync(join(mount, name, "tls.crt"), cert);
      symlinkSync(name, join(mount, "..data.new"));
      renameSync(join(mount, "..data.new"), join(mount, "..data"));
    };
    put("..first", HOST);
    for (const name of ["tls.key", "tls.crt"]) symlinkSync(`..data/${name}`, join(mount, name));
    const keyStore = { location: join(mount, "tls.key") };
    await using server = await start({ keyStore, clientAuth: "none", certReload: true });
    expect(await serverName(server.securePort)).toBe("host");
    put("..second", TWO);
    await expect.poll(() => server.lines.join("\n"), { timeout: 10_000 }).toContain("were read again");
    expect(await serverName(server.securePort)).toBe("two");
  });

  test("are sent on new connections, and open connections stay", async () => {
    const { zk, write, logged } = await startReloading();
    await using server = zk;
    await using client = await open(server.securePort);
    expect(await serverName(server.securePort)).toBe("host");
    write(TWO.key + TWO.cert);
    await logged("use the certificates that were read again");
    expect(await serverName(server.securePort)).toBe("two");
    expect(await client.ask(OpCode.PING)).toMatchObject({ code: 0 });
  });

  test("to invalid ones leave the old ones in force", async () => {
    const { zk, write, logged } = await startReloading();
    await using server = zk;
    write(TWO.key + HOST.cert);
    await logged("stay in force");
    expect(await serverName(server.securePort)).toBe("host");
  });
});

function readFrame(xid: number): Buffer {
  const path = Buffer.from("/large");
  const frame = Buffer.alloc(4 + 8 + 4 + path.length + 1);
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt32BE(xid, 4);
  frame.writeInt32BE(OpCode.GET_DATA, 8);
  frame.writeInt32BE(path.length, 12);
  path.copy(frame, 16);
  return frame;
}

/**
 * A ClientHello whose server name has `nameBytes` bytes, with the lengths of all its parts
 * adjusted.
 */
function helloWithName(hello: Buffer, nameBytes: number): Buffer {
  const extension = Buffer.alloc(9 + nameBytes, "a");
  extension.writeUInt16BE(0, 0);
  extension.writeUInt16BE(5 + nameBytes, 2);
  extension.writeUInt16BE(3 + nameBytes, 4);
  extension.writeUInt8(0, 6);
  extension.writeUInt16BE(nameBytes, 7);
  // Record header, message header, version, random, session id, suites, compressions; then the
  // extensions' length.
  const session = 5 + 4 + 2 + 32;
  const suites = session + 1 + (hello[session] ?? 0);
  const compressions = suites + 2 + hello.readUInt16BE(suites);
  const extensions = compressions + 1 + (hello[compressions] ?? 0);
  const longer = Buffer.concat([hello.subarray(0, extensions + 2), extension, hello.subarray(extensions + 2)]);
  longer.writeUInt16BE(hello.readUInt16BE(extensions) + extension.length, extensions);
  longer.writeUIntBE(hello.readUIntBE(6, 3) + extension.length, 6, 3);
  longer.writeUInt16BE(hello.readUInt16BE(3) + extension.length, 3);
  return longer;
}

/** The first bytes that a TLS client says. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const client = connectTls({ port, host: "127.0.0.1" });
  client.on("error", () => {
    // It is given up below.
  });
  const [socket] = (await once(server, "connection")) as [Socket];
  const [bytes] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

test("the end of the certificate is a metric, and so is each time that it was read again", async () => {
  await using zk = await start({}, { admin: { port: 0 } });
  const { location = "" } = stores.keyStore ?? {};
  expect(zk.reload().problems).toEqual([]);
  writeFileSync(location, "no key");
  const { problems } = zk.reload({ fourLetterWords: "*" });
  expect(problems).toEqual([expect.stringContaining(location)]);
  // All or nothing: the list of words stays too.
  await using client = await RawClient.open(zk.port);
  client.send(Buffer.from("ruok"));
  expect((await client.rest()).toString()).not.toBe("imok");
  writeFileSync(location, HOST.key + HOST.cert);
  const { body } = await ask(zk.adminPort, "/metrics");
  const lines = body.split("\n").filter((line) => line.startsWith("zooid_tls_"));
  expect(lines).toEqual([
    expect.stringMatching(/^zooid_tls_certificate_not_after_seconds\{key="clients"\} 49\d{8}$/),
    'zooid_tls_reloads_total{key="clients"} 1',
    'zooid_tls_reload_failures_total{key="clients"} 1',
  ]);
});
