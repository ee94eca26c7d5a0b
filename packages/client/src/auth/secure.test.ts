import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { Permission } from "@zooid/model";
import { filter, firstValueFrom } from "rxjs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect, createClient } from "../connect.ts";
import type { ClientOptions } from "../options.ts";
import { Authority } from "../testing/certificates.ts";
import { Relay } from "../testing.ts";
import type { TlsOptions } from "../transport/tls-transport.ts";
import { digestMd5 } from "./digest-md5.ts";
import type { SaslMechanism } from "./sasl.ts";

const authority = new Authority("those we trust");
const other = new Authority("those we do not");
const alice = authority.holder("alice");

let folder: string;
let server: ZooidServer;
let clients: Client[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-secure-"));
  const { key, cert } = authority.holder("server", ["localhost", "127.0.0.1"]);
  writeFileSync(join(folder, "server.pem"), key + cert, { mode: 0o600 });
  writeFileSync(join(folder, "authority.pem"), authority.cert);
  const users = `user_bob="the builder" user_jürgen="pässword" user_wide="пароль";`;
  writeFileSync(
    join(folder, "jaas.conf"),
    `Server { org.apache.zookeeper.server.auth.DigestLoginModule required ${users} };`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeEach(async () => {
  clients = [];
  server = await startServer({
    port: 0,
    securePort: 0,
    tickMs: 100,
    superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
    tls: {
      keyStore: { location: join(folder, "server.pem") },
      trustStore: { location: join(folder, "authority.pem") },
      clientAuth: "want",
    },
    auth: {
      providers: { 1: "org.apache.zookeeper.server.auth.SASLAuthenticationProvider" },
      jaasFile: join(folder, "jaas.conf"),
      failureDelayMsMax: 0,
    },
  });
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
});

async function open(address: string, options: ClientOptions): Promise<Client> {
  const client = await connect(address, { startTimeoutMs: 20_000, ...options });
  clients.push(client);
  return client;
}

async function whoIs(client: Client): Promise<readonly string[]> {
  return (await client.whoAmI()).map(({ scheme, user }) => `${scheme}:${user}`);
}

describe("TLS", () => {
  const ca = authority.cert;
  const secure = (options: TlsOptions | (() => TlsOptions), host = "127.0.0.1"): Promise<Client> =>
    open(`${host}:${server.securePort}`, { tls: options });

  test("works as without", async () => {
    const zk = await secure({ ca });
    const data = Buffer.alloc(300_000, "x");
    await zk.create("/large", data);
    expect((await zk.get("/large")).data).toEqual(new Uint8Array(data));
  });

  test("verifies the name in the connect string, whatever its address", async () => {
    expect(await whoIs(await secure({ ca }, "localhost"))).toEqual(["ip:127.0.0.1"]);
  });

  test("authenticates the client", async () => {
    expect(await whoIs(await secure({ ca, ...alice }))).toEqual(["ip:127.0.0.1", "x509:CN=alice"]);
  });

  test("reads its options at each connection", async () => {
    await using relay = await Relay.start({ port: server.securePort ?? 0 });
    let holder = alice;
    const zk = await open(`127.0.0.1:${relay.port}`, { tls: () => ({ ca, ...holder }) });
    expect(await whoIs(zk)).toContain("x509:CN=alice");
    holder = authority.holder("renewed");
    const suspended = firstValueFrom(zk.state$.pipe(filter(({ kind }) => kind === "suspended")));
    relay.cut();
    await suspended;
    expect(await whoIs(zk)).toContain("x509:CN=renewed");
  });

  test.each<[string, TlsOptions, string]>([
    ["with an untrusted certificate", { ca: other.cert }, "127.0.0.1"],
    ["with a certificate for another name", { ca, servername: "zoo7" }, "127.0.0.1"],
  ])("a server %s is refused", async (_, options, host) => {
    const TRIES = 3;
    let tries = 0;
    const tried = Promise.withResolvers<void>();
    const client = createClient(`${host}:${server.securePort}`, {
      tls: () => {
        if (++tries === TRIES) tried.resolve();
        return options;
      },
    });
    clients.push(client);
    const connected = client.connected().then(
      () => "believed",
      () => "none",
    );
    await tried.promise;
    await client.close();
    expect(await connected).toBe("none");
  });

  test.each<[string, () => TlsOptions, string]>([
    ["an untrusted certificate", () => ({ ca: other.cert }), "an authority that is not trusted"],
    ["a certificate for another name", () => ({ ca, servername: "zoo7" }), "zoo7"],
  ])("a start with %s of the server's ends at once, with the reason and codes", async (_, options, part) => {
    const error = await secure(options()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "TLS_FAILED", cause: { errors: [{ code: expect.any(String) }] } });
    expect(String(error)).toContain(part);
  });

  test("a client certificate that has expired is named where a server requires one", async () => {
    await using strict = await startServer({
      port: 0,
      securePort: 0,
      tls: {
        keyStore: { location: join(folder, "server.pem") },
        trustStore: { location: join(folder, "authority.pem") },
        clientAuth: "need",
      },
    });
    const expired = authority.holder("old", [], new Date("2020-01-01"));
    const attempt = (tls: TlsOptions): Promise<unknown> =>
      connect(`127.0.0.1:${strict.securePort}`, { tls, startTimeoutMs: 2_000 }).catch((thrown: unknown) => thrown);
    expect(String(await attempt({ ca, ...expired }))).toMatch(/tls\.cert\)? has expired|tls\.cert\): it has expired/);
    expect(String(await attempt({ ca, ...other.holder("foreign") }))).toContain("client");
  });

  test("leads to the ports with TLS, where the ensemble's configuration names them", async () => {
    const { securePort: port = 0 } = server;
    await using first = await Relay.start({ port });
    await using second = await Relay.start({ port });
    const auth = [{ scheme: "digest", auth: "super:test" }];
    const zk = await open(`127.0.0.1:${first.port}`, { tls: { ca }, auth, trackEnsemble: true });
    const known = firstValueFrom(zk.config$.pipe(filter(({ servers }) => servers.length > 0)));
    await zk.set("/zookeeper/config", `server.1=127.0.0.1:1:2;${server.port};${second.port}`);
    await known;
    first.refuse();
    first.cut();
    await expect.poll(() => [zk.server, zk.state.kind]).toEqual([`127.0.0.1:${second.port}`, "connected"]);
    await zk.close();
  });

  test("unusable keys and certificates are reported at once", () => {
    expect(() => createClient("localhost", { tls: { ca, key: alice.key, cert: "no certificate" } })).toThrow(
      /^client options: tls: /,
    );
  });
});

describe("SASL", () => {
  const user = (username: string, password: string): ClientOptions => ({ sasl: digestMd5({ username, password }) });
  const plain = (options: ClientOptions): Promise<Client> => open(`127.0.0.1:${server.port}`, options);

  test.each([
    ["bob", "the builder"],
    ["jürgen", "pässword"],
    ["wide", "пароль"],
  ])("%s is known by a password", async (name, password) => {
    expect(await whoIs(await plain(user(name, password)))).toEqual(["ip:127.0.0.1", `sasl:${name}`]);
  });

  test("over TLS, beside an identity of another scheme", async () => {
    const zk = await open(`127.0.0.1:${server.securePort}`, {
      ...user("bob", "the builder"),
      tls: { ca: authority.cert },
      auth: [{ scheme: "digest", auth: "a:b" }],
    });
    expect((await whoIs(zk)).map((each) => each.split(":")[0])).toEqual(["ip", "sasl", "digest"]);
  });

  test("runs again on each connection, before waiting calls", async () => {
    await using relay = await Relay.start(server);
    const zk = await open(`127.0.0.1:${relay.port}`, user("bob", "the builder"));
    const acl = [{ perms: Permission.ALL, scheme: "sasl", id: "bob" }];
    await zk.create("/bobs", "his", { acl });
    const suspended = firstValueFrom(zk.state$.pipe(filter(({ kind }) => kind === "suspended")));
    relay.cut();
    await suspended;
    expect(await Promise.all([zk.get("/bobs"), zk.set("/bobs", "hers")])).toHaveLength(2);
  });

  test.each([
    ["a wrong password", "bob", "the plumber"],
    ["an unknown user", "stranger", ""],
  ])("%s ends the client", async (_, name, password) => {
    const error = await plain(user(name, password)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "AUTH_FAILED" });
    expect(String(error)).toContain(`SASL DIGEST-MD5 as "${name}": the server does not know the user, or the password`);
  });

  test("a server without SASL is named as such", async () => {
    await using bare = await startServer({ port: 0 });
    const error = await open(bare.connectString, user("bob", "the builder")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "AUTH_FAILED" });
    expect(String(error)).toContain('SASL DIGEST-MD5 as "bob": this server has no SASL');
  });

  test("a server that does not know the password is refused", async () => {
    // A mechanism with another password than the server's fails the server's proof, though the
    // server accepts the client.
    const right = digestMd5({ username: "bob", password: "the builder" });
    const doubting: SaslMechanism = {
      begin: () => {
        const exchange = right.begin();
        let steps = 0;
        return {
          first: exchange.first,
          next: (token) => exchange.next(steps++ === 0 ? token : Buffer.from(`rspauth=${"0".repeat(32)}`)),
        };
      },
    };
    await expect(plain({ sasl: doubting })).rejects.toMatchObject({ code: "AUTH_FAILED" });
  });

  test("a mechanism may start asynchronously, and gets the server's name", async () => {
    const { begin } = digestMd5({ username: "bob", password: "the builder" });
    const heard: string[] = [];
    const slow: SaslMechanism = {
      begin: async ({ name, port }) => {
        heard.push(`${name}:${port}`);
        await new Promise((resolve) => setImmediate(resolve));
        return begin();
      },
    };
    const zk = await open(`localhost:${server.port}`, { sasl: slow });
    expect([await whoIs(zk), heard.at(-1)]).toEqual([expect.arrayContaining(["sasl:bob"]), `localhost:${server.port}`]);
  });

  test("a mechanism that fails to start ends the client", async () => {
    const broken: SaslMechanism = {
      begin: () => {
        throw new Error("no ticket");
      },
    };
    await expect(plain({ sasl: broken })).rejects.toMatchObject({ code: "AUTH_FAILED" });
  });
});
