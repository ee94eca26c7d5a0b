import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { AUTHORITY, ONE, STRANGER, TWO } from "../testing/certificates.ts";
import { type TestPeerOptions, TestPeers } from "../testing/peers.ts";
import { ElectionMesh } from "./election-mesh.ts";
import { peerSecret } from "./peer-secret.ts";
import { tlsTransport } from "./peer-tls.ts";
import { QuorumLinks } from "./quorum-links.ts";
import { Reachability } from "./reachability.ts";

// What operators get wrong about the links of two servers: each server concerned has a sentence
// about it in its log.

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

/** A server with both of its ports, and a log of its own. */
class Side {
  readonly peers = new TestPeers(3);
  readonly sid: number;
  readonly mesh: ElectionMesh;
  readonly links: QuorumLinks;
  readonly lines: string[] = this.peers.lines;

  constructor(sid: number, more: TestPeerOptions) {
    this.sid = sid;
    const options = this.peers.options(sid, more);
    const note = (text: string): void => void this.lines.push(text);
    const reachability = new Reachability({
      ensemble: options.ensemble,
      isLooking: () => true,
      info: note,
      warn: note,
    });
    this.mesh = new ElectionMesh(
      { ...options, othersTurnMs: 60_000 },
      {
        wake: () => {},
        message: () => {},
        linkUp: (other) => reachability.connected(other),
        linkDown: (other, reason) => reachability.failed(other, reason),
        dialFailed: (other, reason, isRefused) => reachability.failed(other, reason, isRefused),
        answers: () => {},
        unheard: () => {},
        unanswered: () => {},
        measured: () => {},
        clockCompared: () => {},
      },
    );
    this.links = new QuorumLinks(
      { ...options, warn: note },
      { wake: () => {}, linkOpened: () => {}, dialFailed: note, received: () => {}, linkClosed: () => {} },
    );
    running.push(this.mesh, this.links);
  }

  async says(text: string): Promise<void> {
    while (!this.lines.some((line) => line.includes(text))) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Server 2 dials the place of server 1, where another one may be; each has its settings. */
async function meet(
  first: TestPeerOptions,
  second: TestPeerOptions,
  { place, firstSid = 1 }: { readonly place?: (one: Side, two: Side) => object; readonly firstSid?: number } = {},
) {
  const [one, two] = [new Side(firstSid, first), new Side(2, second)];
  await one.mesh.listen();
  await one.links.listen();
  await two.mesh.listen();
  const { port: electionPort } = one.mesh;
  two.peers.place(1, { electionPort, quorumPort: one.links.port, ...place?.(one, two) });
  await two.mesh.start();
  return { one, two };
}

const secrets = (id: string, byte: number): TestPeerOptions => ({
  config: { secrets: [peerSecret(id, Buffer.alloc(32, byte))] },
});
const tls = ({ key, cert }: { readonly key: string; readonly cert: string }): TestPeerOptions => ({
  config: { transport: tlsTransport({ key, cert, ca: [AUTHORITY] }, { hostOf: () => "127.0.0.1" }) },
});

test.each<[string, TestPeerOptions, TestPeerOptions, string, string]>([
  ["no secret at one", secrets("a", 1), {}, "asks for proof of a secret", "asks for proof of a secret"],
  ["another secret", secrets("a", 1), secrets("b", 2), "no secret in common", "no secret in common"],
  [
    "another secret under the same id",
    secrets("a", 1),
    secrets("a", 2),
    "proof of the shared secret is wrong",
    "is wrong",
  ],
  [
    "a certificate of another server",
    tls(ONE),
    tls(ONE),
    "for server 1, not for server 2",
    "for server 1, not for server 2",
  ],
  [
    "another authority",
    tls(ONE),
    tls(STRANGER),
    "does not accept the other server's certificate",
    "refused by the other side",
  ],
  ["TLS at one", tls(ONE), {}, "sslQuorum and zooid.peerTls", "it may take only TLS on this port"],
  ["TLS at the other", {}, tls(TWO), "sslQuorum and zooid.peerTls", "sslQuorum and zooid.peerTls"],
  ["two ensembles", { ensembleId: "e" }, { ensembleId: "f" }, "the ensemble e", "the ensemble e"],
])("%s is a sentence in both logs", async (_, first, second, atOne, atTwo) => {
  const { one, two } = await meet(first, second);
  await one.says(atOne);
  await two.says(atTwo);
});

test("a refused link from the address of a listed server is reported apart, and none of a stranger's", async () => {
  const refused: string[] = [];
  const memberRefused = (address: string, reason: string): void => void refused.push(`${address}: ${reason}`);
  const { one } = await meet({ memberRefused }, tls(TWO));
  await one.says("it speaks TLS, which this server does not");
  expect(refused).toEqual([expect.stringMatching(/^127\.0\.0\.1: it speaks TLS/)]);
  const count = one.lines.length;
  const stranger = connect({ port: one.mesh.port, host: "127.0.0.1", localAddress: "127.0.0.9" });
  stranger.on("error", () => {}).end("GET / HTTP/1.1\r\n\r\n");
  await once(stranger, "close");
  while (one.lines.length === count) await new Promise((resolve) => setImmediate(resolve));
  expect(one.lines.at(-1)).toContain("127.0.0.9");
  expect(refused.filter((line) => !line.startsWith("127.0.0.1"))).toEqual([]);
});

test("a server whose certificate is not accepted learns nothing of the other one's configuration", async () => {
  const { two } = await meet({ ...tls(ONE), ensembleId: "ours" }, { ...tls(STRANGER), ensembleId: "theirs" });
  await two.says("server 1 does not accept the other server's certificate");
  expect(two.lines.join()).not.toContain("ours");
});

test("swapped ports are a sentence in both logs", async () => {
  const swapped = (one: Side): object => ({ electionPort: one.links.port, quorumPort: one.mesh.port });
  const { one, two } = await meet({}, {}, { place: swapped });
  const text = "a link for election came to the quorum port; see the ports of server.N";
  await one.says(text);
  await two.says(`refused by the other side: ${text}`);
});

test("this server's own port in the line of another one is a sentence in its log", async () => {
  const { two } = await meet({}, {}, { place: (_, own) => ({ electionPort: own.mesh.port }) });
  await two.says("another server says that it is server 2 too (myid), or this one reached itself");
});

test("the port of a third server in another one's line is a sentence in both logs", async () => {
  const { one, two } = await meet({}, {}, { firstSid: 3 });
  await two.says("at the address of server 1 is server 3");
  await one.says("refused by the other side: at the address of server 1 is server 3");
});

test("a name that does not resolve is a sentence in the log", async () => {
  const { two } = await meet({}, {}, { place: () => ({ host: "zooid-unknown.invalid" }) });
  await two.says("zooid-unknown.invalid");
  expect(two.lines.join()).toMatch(/server 1 at .* is unreachable: getaddrinfo (ENOTFOUND|EAI_AGAIN)/);
});
