import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SecureContextOptions } from "node:tls";
import { type LinkRef, type PeerMessage, serverId } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ConfigError, parseServerConfig } from "../config.ts";
import { AUTHORITY, CLIENT_EXPIRED, HOST, ONE, OTHER_AUTHORITY, STRANGER, TWO } from "../testing/certificates.ts";
import { ask } from "../testing/http.ts";
import { Happenings, TestPeers } from "../testing/peers.ts";
import { startTestServer } from "../testing/server.ts";
import { eitherTransport } from "./either-transport.ts";
import type { EnsembleOptions } from "./ensemble-config.ts";
import { MemberDirectory } from "./member-directory.ts";
import { peerSecret } from "./peer-secret.ts";
import { certificateFault, type PeerStoreOptions, type ResolveAll, tlsTransport } from "./peer-tls.ts";
import { type PeerTransport, PLAIN_TRANSPORT } from "./peer-transport.ts";
import { QuorumLinks } from "./quorum-links.ts";

type Pem = { readonly key: string; readonly cert: string };

const running: QuorumLinks[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const SERVERS = { hostOf: () => "127.0.0.1" };
const NO_CERTIFICATE: PeerTransport = tlsTransport({ ca: [AUTHORITY] }, SERVERS);

function tls({ key, cert }: Pem, more: SecureContextOptions = {}): PeerTransport {
  return tlsTransport({ key: Buffer.from(key), cert: Buffer.from(cert), ca: [AUTHORITY], ...more }, SERVERS);
}

class Side {
  readonly happened = new Happenings();
  readonly messages: PeerMessage[] = [];
  readonly links: QuorumLinks;
  link = 0 as LinkRef;

  constructor(peers: TestPeers, sid: number, transport: PeerTransport, more: Parameters<TestPeers["options"]>[1] = {}) {
    const options = peers.options(sid, { ...more, config: { transport, ...more.config } });
    this.links = new QuorumLinks(
      { ...options, warn: () => {} },
      {
        wake: () => queueMicrotask(() => this.links.flush()),
        linkOpened: (link, other) => {
          this.link = link;
          this.happened.add(`opened ${other}`);
        },
        dialFailed: (reason) => this.happened.add(`dial failed: ${reason}`),
        received: (_, message) => {
          const isPart = message.kind === "snapshot-chunk";
          this.messages.push(
            isPart
              ? { ...message, bytes: Uint8Array.from(message.bytes.subarray(message.start, message.end)) }
              : message,
          );
          this.happened.add(message.kind);
        },
        linkClosed: (_, reason) => this.happened.add(`closed: ${reason}`),
      },
    );
    running.push(this.links);
  }

  /**
   * The events so far, and the reasons why the dial has failed: it is tried again for some ticks.
   */
  get said(): string {
    return [...this.happened.list, this.links.dialFault ?? ""].join("\n");
  }

  async untilRefused(reason: RegExp = /cannot be reached/): Promise<void> {
    await expect.poll(() => this.links.dialFault ?? "", { interval: 5 }).toMatch(reason);
    this.links.cancelDial();
  }
}

/** A leader (1) that listens and a learner (2) that dials it. */
async function dialed(leaderTransport: PeerTransport, learnerTransport: PeerTransport, more = {}) {
  const peers = new TestPeers(2);
  const leader = new Side(peers, 1, leaderTransport, more);
  await leader.links.listen();
  peers.place(1, { quorumPort: leader.links.port });
  const learner = new Side(peers, 2, learnerTransport, more);
  learner.links.dial(serverId(1));
  return { peers, leader, learner };
}

test("two servers with certificates of one authority talk through TLS", async () => {
  const { leader, learner } = await dialed(tls(ONE), tls(TWO));
  await learner.happened.until("opened 1");
  await leader.happened.until("opened 2");
  const bytes = randomBytes(700_000);
  leader.links.send(leader.link, {
    kind: "snapshot-chunk",
    index: 1,
    isLast: true,
    bytes,
    start: 0,
    end: bytes.length,
  });
  leader.links.flush();
  await learner.happened.until("snapshot-chunk");
  expect(learner.messages).toMatchObject([{ index: 1, bytes: Uint8Array.from(bytes) }]);
  learner.links.send(learner.link, { kind: "sync", sequence: 1 });
  learner.links.close(learner.link, { kind: "stopped" });
  await leader.happened.until(/^closed/);
  expect(leader.happened.list).toEqual(["opened 2", "sync", expect.stringContaining("closed: ")]);
});

test.each<["leader" | "learner"]>([["leader"], ["learner"]])(
  "a present link says at the %s whether other authorities would accept the other side",
  async (side) => {
    const sides = await dialed(tls(ONE), tls(TWO));
    await sides.learner.happened.until("opened 1");
    await sides.leader.happened.until("opened 2");
    const [link] = sides[side].links.protectedLinks;
    const trusted = (...ca: string[]): boolean | undefined => link?.isTrustedBy(tls(ONE, { ca }));
    expect([trusted(AUTHORITY), trusted(OTHER_AUTHORITY)]).toEqual([true, false]);
    expect([trusted(OTHER_AUTHORITY, AUTHORITY), trusted(OTHER_AUTHORITY + AUTHORITY)]).toEqual([true, true]);
    expect([trusted(side === "leader" ? TWO.cert : ONE.cert), trusted(HOST.cert)]).toEqual([true, false]);
    expect(link?.isTrustedBy(PLAIN_TRANSPORT)).toBe(true);
  },
);

test("a TLS handshake in progress counts as a stranger's connection, and delays no server", async () => {
  const peers = new TestPeers(2);
  const leader = new Side(peers, 1, tls(ONE));
  await leader.links.listen();
  peers.place(1, { quorumPort: leader.links.port });
  const sockets: Socket[] = [];
  for (let i = 2; i < 20; i++) {
    for (let n = 0; n < 16; n++) {
      const socket = connect({ port: leader.links.port, host: "127.0.0.1", localAddress: `127.0.0.${i}` });
      socket.on("error", () => {});
      await once(socket, "connect");
      sockets.push(socket);
    }
  }
  for (const socket of sockets.slice(0, 32)) {
    if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  }
  const learner = new Side(peers, 2, tls(TWO));
  learner.links.dial(serverId(1));
  await leader.happened.until("opened 2");
  expect(sockets.filter(({ closed }) => !closed)).toEqual(sockets.slice(32));
  for (const socket of sockets) socket.destroy();
});

test("a certificate may name an address instead, and a secret may be asked for besides", async () => {
  const { leader, learner } = await dialed(tls(HOST), tls(HOST), {
    config: { secrets: [peerSecret("a", Buffer.alloc(32, 1))] },
  });
  await learner.happened.until("opened 1");
  await leader.happened.until("opened 2");
});

test("the follower that relays an observer verifies the observer's certificate", async () => {
  const peers = new TestPeers(3, [3]);
  const more = { config: { observerMasterPort: 0 } };
  const leader = new Side(peers, 1, tls(ONE), more);
  await leader.links.listen();
  peers.place(1, { quorumPort: leader.links.port });
  const follower = new Side(peers, 2, tls(TWO), more);
  await follower.links.listen();
  peers.place(2, { observerMasterPort: follower.links.observerMasterPort });
  follower.links.dial(serverId(1));
  await leader.happened.until("opened 2");
  const stranger = new Side(peers, 3, tls(TWO), more);
  stranger.links.dial(serverId(1));
  // First by the follower, then straight to the leader, each time at both sides.
  await expect.poll(() => peers.lines.length, { interval: 5 }).toBeGreaterThanOrEqual(2);
  stranger.links.cancelDial();
  for (const line of peers.lines) expect(line).toContain("the certificate is for server 2, not for server 3");
  expect(leader.happened.list).toEqual(["opened 2"]);
  const observer = new Side(peers, 3, tls(HOST), more);
  observer.links.dial(serverId(1));
  await observer.happened.until("opened 1");
  await leader.happened.until("opened 3");
  expect(follower.links.relayedObservers()).toEqual([3]);
});

describe("a server that is not listed", () => {
  /**
   * A leader that lists itself alone, and a joiner with this certificate that says that it is at
   * this host.
   */
  async function joined(pem: Pem, host: string, resolve?: ResolveAll) {
    const peers = new TestPeers(2);
    const alone = { hostOf: (sid: number) => (sid === 1 ? "127.0.0.1" : undefined) };
    const context = { key: Buffer.from(ONE.key), cert: Buffer.from(ONE.cert), ca: [AUTHORITY] };
    const transport = tlsTransport(context, alone, resolve === undefined ? {} : { resolve });
    const leader = new Side(peers, 1, transport);
    await leader.links.listen();
    peers.place(1, { quorumPort: leader.links.port });
    const { ensemble } = peers.options(2);
    const [first] = ensemble.servers;
    if (first === undefined) throw new Error("there is a server 1");
    const servers = [first, { ...first, sid: serverId(2), host }];
    const directory = new MemberDirectory({
      sid: serverId(2),
      servers,
      observerMasterPort: undefined,
      addressOf: (sid) => peers.addressOf(2, sid),
    });
    const joiner = new Side(peers, 2, tls(pem), { config: { directory } });
    joiner.links.dial(serverId(1));
    await expect
      .poll(() => leader.happened.list.join() + joiner.said, { interval: 5 })
      .toMatch(/opened 2|cannot be reached/);
    return { peers, leader, joiner };
  }
  const to =
    (...addresses: readonly string[]) =>
    () =>
      Promise.resolve(addresses);

  test.each<[string, Pem, string, ResolveAll | undefined]>([
    ["names its number", TWO, "zk-anywhere", undefined],
    ["names its address", HOST, "127.0.0.1", undefined],
    ["names its address, and it says none", HOST, "", undefined],
    ["names its host, which has its address", HOST, "zoo7", to("10.0.0.7", "127.0.0.1")],
    ["names its host, which has its address in another form", HOST, "zoo7", to("::ffff:127.0.0.1")],
  ])("joins if its certificate %s", async (_, pem, host, resolve) => {
    const { leader, joiner } = await joined(pem, host, resolve);
    await joiner.happened.until("opened 1");
    expect(leader.happened.list).toEqual(["opened 2"]);
  });

  test.each<[string, Pem, string, ResolveAll | undefined, string]>([
    ["with the certificate of another host", HOST, "zoo8", to("127.0.0.1"), "names neither zk://…/2 nor zoo8"],
    ["from another address than its host's", HOST, "zoo7", to("10.0.0.7"), "connects from 127.0.0.1, which is not an"],
    ["whose host does not resolve", HOST, "zoo7", () => Promise.reject(new Error("ENOTFOUND zoo7")), "ENOTFOUND zoo7"],
    ["with the number of another server", ONE, "zoo1", to("127.0.0.1"), "for server 1, not for server 2"],
  ])("is refused %s, and both sides say why", async (_, pem, host, resolve, reason) => {
    const { peers, leader, joiner } = await joined(pem, host, resolve);
    expect(joiner.said).toContain(reason);
    expect(leader.happened.list).toEqual([]);
    await expect.poll(() => peers.lines[0] ?? "", { interval: 5 }).toContain(reason);
  });
});

describe("a port with and without TLS", () => {
  const either = (pem: Pem, dialsTls: boolean): PeerTransport => eitherTransport(tls(pem), dialsTls);

  test.each<[string, PeerTransport, PeerTransport, boolean]>([
    ["takes a plain link", either(ONE, true), PLAIN_TRANSPORT, false],
    ["takes a link with TLS", either(ONE, false), tls(TWO), true],
    ["dials plain", PLAIN_TRANSPORT, either(TWO, false), false],
    ["dials with TLS", tls(ONE), either(TWO, true), true],
    ["dials plain where both take both", either(ONE, true), either(TWO, false), false],
    ["dials with TLS where both take both", either(ONE, false), either(TWO, true), true],
  ])("%s", async (_, leaderTransport, learnerTransport, hasTls) => {
    const { leader, learner } = await dialed(leaderTransport, learnerTransport);
    await learner.happened.until("opened 1");
    await leader.happened.until("opened 2");
    const bytes = randomBytes(200_000);
    learner.links.send(learner.link, { kind: "snapshot-chunk", index: 1, isLast: true, bytes, start: 0, end: 200_000 });
    learner.links.flush();
    await leader.happened.until("snapshot-chunk");
    expect(leader.messages).toMatchObject([{ index: 1, bytes: Uint8Array.from(bytes) }]);
    for (const side of [leader, learner])
      expect(side.links.protectedLinks).toMatchObject([{ hasTls, hasProof: false }]);
  });

  test("that dials with TLS does not fall back to none", async () => {
    const { leader, learner } = await dialed(PLAIN_TRANSPORT, either(TWO, true));
    await learner.untilRefused(/sslQuorum/);
    expect(leader.happened.list).toEqual([]);
  });

  test("refuses a certificate that it does not trust", async () => {
    const { leader, learner } = await dialed(either(ONE, true), tls(STRANGER));
    await learner.untilRefused(/server 1 does not accept the other server's certificate/);
    expect(leader.happened.list).toEqual([]);
  });
});

/**
 * OpenSSL's form of an error: a thread, a number, a function, a source file. Node's: an option of
 * its own.
 */
const RAW = /error:[0-9A-F]{8}|routines:|\.c:\d+|--use-system-ca/;
const ECDHE = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256";
const DHE = "DHE-RSA-AES128-GCM-SHA256";

/** A leader and a learner, and what each of them logs at least. */
interface Refused {
  readonly name: string;
  readonly transports: readonly [leader: PeerTransport, learner: PeerTransport];
  readonly reasons: readonly [atLeader: string | undefined, atLearner: string];
}

describe("a link is refused, with a reason that names the remedy,", () => {
  test.each<Refused>([
    {
      name: "with a certificate of another authority",
      transports: [tls(ONE), tls(STRANGER)],
      reasons: ["server 1 does not accept", "refused by the other side: server 1 does not accept"],
    },
    {
      name: "if the server's certificate is of another authority",
      transports: [tls(STRANGER), tls(TWO)],
      reasons: ["refused by the other side: server 2 does not accept", "zooid.peerTls.ca"],
    },
    {
      name: "with an expired certificate",
      transports: [tls(ONE), tls(CLIENT_EXPIRED)],
      reasons: ["CERT_HAS_EXPIRED", "CERT_HAS_EXPIRED"],
    },
    {
      name: "if the server's certificate has expired",
      transports: [tls(CLIENT_EXPIRED), tls(TWO)],
      reasons: ["CERT_HAS_EXPIRED", "CERT_HAS_EXPIRED"],
    },
    {
      name: "without a certificate",
      transports: [tls(ONE), NO_CERTIFICATE],
      reasons: ["ssl.quorum.keyStore.location", "ssl.quorum.keyStore.location"],
    },
    {
      name: "with other versions of TLS",
      transports: [tls(ONE, { minVersion: "TLSv1.3" }), tls(TWO, { maxVersion: "TLSv1.2" })],
      reasons: ["ssl.quorum.enabledProtocols", "ssl.quorum.enabledProtocols"],
    },
    {
      name: "with other cipher suites",
      transports: [
        tls(ONE, { maxVersion: "TLSv1.2", ciphers: ECDHE }),
        tls(TWO, { maxVersion: "TLSv1.2", ciphers: DHE }),
      ],
      reasons: ["ssl.quorum.ciphersuites", "ssl.quorum.ciphersuites"],
    },
    {
      name: "with another server's certificate",
      transports: [tls(ONE), tls(ONE)],
      reasons: ["for server 1, not for server 2", "for server 1, not for server 2"],
    },
    { name: "without TLS", transports: [tls(ONE), PLAIN_TRANSPORT], reasons: ["sslQuorum", "127.0.0.1"] },
    {
      name: "with TLS where there is none",
      transports: [PLAIN_TRANSPORT, tls(TWO)],
      reasons: ["sslQuorum", "sslQuorum"],
    },
  ])("$name", async ({ transports, reasons: [atLeader, atLearner] }) => {
    const { peers, leader, learner } = await dialed(...transports);
    await expect.poll(() => learner.said, { interval: 5 }).toContain(atLearner);
    const reason = learner.said;
    if (atLeader !== undefined) {
      const isSaid = (): boolean => peers.lines.some((line) => line.includes(atLeader));
      while (!isSaid()) await new Promise((resolve) => setImmediate(resolve));
    }
    expect([reason, ...peers.lines].join("\n")).not.toMatch(RAW);
    expect(leader.happened.list).toEqual([]);
  });

  test("a dialer refuses a server with another server's certificate", async () => {
    const { learner } = await dialed(tls(TWO), tls(TWO));
    await learner.untilRefused(/the certificate is for server 2, not for server 1/);
    expect(learner.happened.list).toEqual([]);
  });
});

describe("a certificate", () => {
  test.each<[string, Pem, number, string, string | undefined]>([
    ["of this server", ONE, 1, "anywhere", undefined],
    ["of another server", ONE, 2, "anywhere", "the certificate is for server 1, not for server 2"],
    ["of another server at the right name", ONE, 2, "zoo1", "the certificate is for server 1, not for server 2"],
    ["of this address", HOST, 9, "127.0.0.1", undefined],
    ["of this name", HOST, 9, "zoo7", undefined],
    ["of another name", HOST, 9, "zoo8", "names neither zk://…/9 nor zoo8, where server 9 is"],
    ["of another address", HOST, 9, "127.0.0.2", "names neither zk://…/9 nor 127.0.0.2"],
  ])("%s", (_, { cert }, sid, host, fault) => {
    const found = certificateFault(new X509Certificate(cert), serverId(sid), host);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });
});

describe("stores of keys, as sslQuorum has them", () => {
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "zooid-peer-stores-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  function store(name: string, text: string): string {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Connects a server with this key store and these settings to others. */
  function stores(sid: number, { key, cert }: Pem, more: PeerStoreOptions = {}): PeerTransport {
    const { ensemble } = parseServerConfig({
      ensemble: {
        sid,
        servers: [1, 2].map((one) => ({ sid: one, host: "127.0.0.1", quorumPort: one, electionPort: one + 10 })),
        peerStores: {
          keyStore: { location: store(`${sid}.pem`, key + cert) },
          trustStore: { location: store("authority.pem", AUTHORITY) },
          ...more,
        },
      },
    });
    return ensemble?.transport ?? PLAIN_TRANSPORT;
  }

  test("connect servers with certificates of one authority", async () => {
    const { leader, learner } = await dialed(stores(1, ONE), stores(2, TWO));
    await learner.happened.until("opened 1");
    await leader.happened.until("opened 2");
  });

  test("refuse certificates of other authorities", async () => {
    const { leader, learner } = await dialed(stores(1, ONE), stores(2, STRANGER));
    await learner.untilRefused();
    expect(leader.happened.list).toEqual([]);
  });

  test.each<[string, PeerStoreOptions]>([
    ["of incoming connections", { clientHostnameVerification: false }],
    ["at all", { hostnameVerification: false }],
  ])("accept another server's certificate where names are not verified %s", async (_, lax) => {
    const { leader, learner } = await dialed(stores(1, ONE, lax), stores(2, ONE, { hostnameVerification: false }));
    await learner.happened.until("opened 1");
    await leader.happened.until("opened 2");
  });

  test("refuse another server's certificate at the dialer if only incoming connections are not verified", async () => {
    const lax = { hostnameVerification: false };
    const { learner } = await dialed(stores(1, TWO, lax), stores(2, TWO, { clientHostnameVerification: false }));
    await learner.untilRefused(/the certificate is for server 2, not for server 1/);
  });

  test("are read again when they have changed, and stay in force where they cannot be used", async () => {
    const learnerTransport = stores(2, STRANGER, { certReload: true });
    const { learner, leader } = await dialed(stores(1, ONE), learnerTransport);
    await learner.untilRefused();
    store("2.pem", TWO.key + ONE.cert);
    expect(learnerTransport.reload?.()).toEqual([expect.stringContaining("2.pem")]);
    store("2.pem", TWO.key + TWO.cert);
    expect(learnerTransport.reload?.()).toEqual([]);
    learner.links.dial(serverId(1));
    await leader.happened.until("opened 2");
  });

  test("are watched where they are read again when they change, and else are not", () => {
    const files = ["2.pem", "authority.pem"].map((name) => join(directory, name));
    expect(stores(2, TWO).files).toEqual([]);
    expect(stores(2, TWO, { certReload: false }).files).toEqual([]);
    expect(stores(2, TWO, { certReload: true }).files).toEqual(files);
  });

  test("with another server's certificate stop the start, and settings that accept one are reported", () => {
    expect(() => stores(2, ONE)).toThrow("the certificate is for server 1, not for server 2");
    const { notices } = parseServerConfig({
      ensemble: {
        sid: 1,
        servers: [{ sid: 1, host: "far", quorumPort: 1, electionPort: 2 }],
        peerStores: {
          keyStore: { location: store("one.pem", ONE.key + ONE.cert) },
          trustStore: { location: store("authority.pem", AUTHORITY) },
          hostnameVerification: false,
        },
      },
    });
    expect(notices).toEqual([expect.stringContaining("ssl.quorum.hostnameVerification=false: a host with any")]);
  });
});

describe("files for TLS", () => {
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "zooid-tls-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  function file(name: string, content: string, mode = 0o600): string {
    const path = join(directory, name);
    writeFileSync(path, content);
    chmodSync(path, mode);
    return path;
  }
  const good = () => ({ key: file("key", ONE.key), cert: file("cert", ONE.cert), ca: file("ca", AUTHORITY, 0o644) });

  function problems(peerTls: EnsembleOptions["peerTls"]): readonly string[] {
    const servers = [1, 2].map((sid) => ({ sid, host: `zoo${sid}`, quorumPort: 1, electionPort: 2 }));
    try {
      const config = parseServerConfig({
        ensemble: { sid: 1, servers, ...(peerTls === undefined ? {} : { peerTls }) },
      });
      expect(config.ensemble?.transport).not.toBe(PLAIN_TRANSPORT);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
  }

  test("that belong together need no secret, though peers are beyond this machine", () => {
    expect(problems(good())).toEqual([]);
  });

  test("are read again on demand, and stay in force where they cannot be used", () => {
    const peerTls = good();
    const servers = [1, 2].map((sid) => ({ sid, host: `zoo${sid}`, quorumPort: 1, electionPort: 2 }));
    const { ensemble } = parseServerConfig({ ensemble: { sid: 1, servers, peerTls } });
    const before = ensemble?.transport.material;
    expect(ensemble?.transport.files).toEqual([]);
    expect(ensemble?.transport.reload?.()).toEqual([]);
    expect(ensemble?.transport.material).toBe(before);
    file("key", TWO.key);
    expect(ensemble?.transport.reload?.()).toEqual([expect.stringContaining("does not belong to the certificate")]);
    expect(ensemble?.transport.material).toBe(before);
    file("key", ONE.key);
    file("ca", AUTHORITY + AUTHORITY, 0o644);
    expect(ensemble?.transport.reload?.()).toEqual([]);
    expect(ensemble?.transport.material).not.toBe(before);
  });

  test("each time that they were read again is a metric, and each time that they could not be used another", async () => {
    const peerTls = good();
    const [quorumPort = 0, electionPort = 0] = await freePorts(2);
    const servers = [{ sid: 1, host: "127.0.0.1", quorumPort, electionPort }];
    const options = { port: 0, admin: { port: 0 }, ensemble: { sid: 1, servers, peerTls } };
    await using zk = await startTestServer(options);
    expect(zk.reload(options).problems).toEqual([]);
    file("key", TWO.key);
    expect(zk.reload().problems).toEqual([expect.stringContaining("does not belong to the certificate")]);
    // Here the check of the options finds it.
    expect(zk.reload(options).problems).toEqual([expect.stringContaining("does not belong to the certificate")]);
    // Neither is a fault of the files.
    file("key", ONE.key);
    expect(zk.reload({ ...options, tickMs: -5 }).problems).toHaveLength(1);
    const peerSecretFile = join(directory, "nowhere");
    expect(zk.reload({ ...options, ensemble: { ...options.ensemble, peerSecretFile } }).problems).toHaveLength(1);
    const { body } = await ask(zk.adminPort, "/metrics");
    expect(body.split("\n").filter((line) => /^zooid_tls_reload.*"peers"/.test(line))).toEqual([
      'zooid_tls_reloads_total{key="peers"} 1',
      'zooid_tls_reload_failures_total{key="peers"} 2',
    ]);
  });

  test.each<[string, () => EnsembleOptions["peerTls"], string]>([
    ["that are not all there", () => ({ key: "k" }), "needs all three of zooid.peerTls.key"],
    ["that cannot be read", () => ({ ...good(), ca: join(directory, "nowhere") }), "zooid.peerTls.ca: ENOENT"],
    [
      "whose key others can read",
      () => ({ ...good(), key: file("open", ONE.key, 0o644) }),
      "is open to other users: chmod 600",
    ],
    ["whose key is another's", () => ({ ...good(), key: file("two", TWO.key) }), "does not belong to the certificate"],
    [
      "whose certificate is another's",
      () => ({ key: file("k2", TWO.key), cert: file("c2", TWO.cert), ca: file("ca", AUTHORITY) }),
      "the certificate is for server 2, not for server 1",
    ],
    ["that hold something else", () => ({ ...good(), cert: file("text", "text") }), "zooid.peerTls.cert: "],
    ["without an authority", () => ({ ...good(), ca: file("empty", "") }), "holds no certificate in PEM"],
    ["with a key for an authority", () => ({ ...good(), ca: file("key", ONE.key) }), "zooid.peerTls.ca: "],
    ["without a key", () => ({ ...good(), key: file("text", "text") }), "holds no private key in PEM"],
    [
      "whose key is encrypted",
      () => ({ ...good(), key: file("encrypted", ENCRYPTED) }),
      "is encrypted, and no setting has its password",
    ],
  ])("%s are refused", (_, files, text) => {
    expect(problems(files())).toEqual([expect.stringContaining(text)]);
    expect(problems(files())).not.toEqual([expect.stringMatching(/error:[0-9A-F]{8}|routines:/)]);
  });
});

const ENCRYPTED: string = createPrivateKey(ONE.key)
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
  .toString();
