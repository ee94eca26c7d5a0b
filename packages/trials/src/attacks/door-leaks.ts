/**
 * Opens and breaks off connections at every door of a server, round after round, and reports what
 * stays behind.
 *
 *     npm run tool -- door-leaks [--rounds 12] [--seconds 8] [--ensemble]
 *
 * In each round, for that number of seconds, connections come to the client port, with TLS and
 * without, to the admin port and the metrics port: silent ones, some that end in the middle of a
 * request or an answer, sessions with ephemerals, watches and wrong identities that are never
 * closed. With `--ensemble` they come to a follower of three servers with a secret, and to its
 * ports for servers. Then all of it is over, the sessions have expired, and each server's live
 * memory, its handles and its open files are measured. They are flat where the last third of the
 * rounds has no more than the second third, but for a twentieth and a few. Ends with status 1 where
 * one is not.
 */
import { randomBytes } from "node:crypto";
import { mkdtempDisposableSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { fourLetterWord } from "@zooid/conformance/internal/servers/endpoint";
import { toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { STRANGER } from "@zooid/embedded-server/testing/certificates";
import { helloFrame, TestPeers } from "@zooid/embedded-server/testing/peers";
import { CreateMode, OpCode } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { auth, connectRequest, create, read, request } from "@zooid/wire/testing/raw-client";
import { until } from "../faults/ensemble-servers.ts";
import { memoryMib } from "../figures/process-memory.ts";
import { range } from "./attack.ts";
import { clientTlsSettings } from "./handshakes.ts";
import { activeResources, INSPECTED, inspectorAddress, liveMiB } from "./inspected-process.ts";
import { startTarget, type Target } from "./target.ts";

const SESSION_MS = 4000;
/** Connections of a door at a time. */
const AT_A_TIME = 20;
const ROUNDS_LEAST = 6;
const GROWTH_MAX = 1.05;
const MORE_MAX = { live: 1, handles: 8, files: 8 };
const DRAIN_DEADLINE_MS = 60_000;
const METRICS = "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider";
const ADMIN = ["admin.enableServer=true", "admin.serverAddress=127.0.0.1", "admin.serverPort=0"];

type Sample = Readonly<Record<keyof typeof MORE_MAX, number>>;

/** The ports of the server that is visited. */
interface Doors {
  readonly client: number;
  readonly admin: number;
  readonly metrics: number | undefined;
  readonly quorum: number | undefined;
  readonly election: number | undefined;
}

/**
 * The bytes that one connection sends before it is broken off, at a door; several pieces are sent
 * one after the other.
 */
interface Visit {
  readonly name: string;
  readonly door: keyof Doors;
  readonly isTls?: boolean;
  readonly sends: (nth: number) => readonly (string | Uint8Array)[];
}

const AUTH_XID_OP = 100;
const SASL_OP = 102;
const session = connectRequest({ timeoutMs: SESSION_MS });
const http = (line: string, rest = ""): string => `${line} HTTP/1.1\r\nHost: localhost\r\n${rest}\r\n`;
/** An Envelope of the protocol between servers that claims 60,000 bytes. */
const LONG_FRAME = Buffer.alloc(8);
LONG_FRAME.writeUInt32BE(60_000);
const HELLO_OF_ANOTHER = helloFrame(new TestPeers(3), 2);

const VISITS: readonly Visit[] = [
  { name: "silence", door: "client", sends: () => [] },
  { name: "half a connect request", door: "client", sends: () => [session.subarray(0, 20)] },
  { name: "anything", door: "client", sends: () => [Buffer.alloc(900, 0x5a)] },
  { name: "a four-letter word", door: "client", sends: () => ["mntr"] },
  {
    name: "a session with an ephemeral and watches, half a request behind it",
    door: "client",
    sends: (nth) => [
      session,
      request(1, OpCode.CREATE, create(`/e-${nth}`, "d", CreateMode.EPHEMERAL)),
      ...range(50, (i) => request(2 + i, OpCode.EXISTS, read(`/watched/${nth}/${i}`, true))),
      request(99, OpCode.CREATE, create(`/h-${nth}`, "d".repeat(2000))).subarray(0, 1000),
    ],
  },
  {
    name: "identities, one of a scheme that there is not",
    door: "client",
    sends: (nth) => [
      session,
      ...range(10, (i) => request(-4, AUTH_XID_OP, auth("digest", `u${nth}-${i}:p`))),
      request(-4, AUTH_XID_OP, auth(`scheme-${nth}`, "x")),
    ],
  },
  {
    name: "steps of SASL out of turn",
    door: "client",
    sends: (nth) => [session, ...range(3, (i) => request(i, SASL_OP, (writer) => writer.text(`garbage ${nth}`)))],
  },
  { name: "half a ClientHello", door: "client", sends: () => [Uint8Array.of(0x16, 3, 1, 0x3f, 0xfb, 1, 0)] },
  { name: "a TLS handshake of a stranger", door: "client", isTls: true, sends: () => [session] },
  { name: "half a head", door: "admin", sends: (nth) => [`GET /commands/stats?n=${nth} HTTP/1.1\r\nHost: l`] },
  { name: "requests at once", door: "admin", sends: () => [http("GET /metrics").repeat(200)] },
  { name: "a long answer that is not taken", door: "admin", sends: () => [http("GET /commands/watches")] },
  {
    name: "a body that is cut short",
    door: "admin",
    sends: (nth) => [
      http("POST /api/v1/login", "Content-Type: application/json\r\nContent-Length: 900\r\n"),
      `{"user":"u${nth}"`,
    ],
  },
  {
    name: "an invented user",
    door: "admin",
    sends: (nth) => [http("GET /api/v1/session", `Authorization: digest u${nth}:p\r\n`)],
  },
  { name: "half a head", door: "metrics", sends: () => ["GET /metrics HTTP/1.1\r\nHost: l"] },
  { name: "requests at once", door: "metrics", sends: () => [http("GET /metrics").repeat(50)] },
  ...(["quorum", "election"] as const).flatMap((door): readonly Visit[] => [
    { name: "silence", door, sends: () => [] },
    { name: "anything", door, sends: () => [randomBytes(900)] },
    { name: "half a frame", door, sends: () => [LONG_FRAME, randomBytes(500)] },
    { name: "the Hello of another server, without a proof", door, sends: () => [HELLO_OF_ANOTHER] },
    { name: "a Hello, and another one in place of a proof", door, sends: () => [HELLO_OF_ANOTHER, HELLO_OF_ANOTHER] },
    { name: "a TLS handshake", door, isTls: true, sends: () => [HELLO_OF_ANOTHER] },
  ]),
];

const options = toolOptions({ rounds: whole(12, ROUNDS_LEAST), seconds: whole(8, 1), ensemble: false });
const { rounds, seconds } = options;

using temporary = mkdtempDisposableSync(join(tmpdir(), "door-leaks-"));
const folder = temporary.path;
await using target = await startTarget(options.ensemble ? "ensemble" : "standalone", folder, {
  env: INSPECTED,
  settings: [...clientTlsSettings(folder), ...ADMIN, "4lw.commands.whitelist=*", ...(await ownSettings())],
});
const inspectors = target.logs().map(inspectorAddress);
const doors = await doorsOf(target);
const samples: Sample[][] = inspectors.map(() => []);
let visitCount = 0;
for (let round = 1; round <= rounds; round++) {
  visitCount += await comeAndGo(doors, seconds * 1000);
  await drained(target);
  const texts: string[] = [];
  for (const [i, inspector] of inspectors.entries()) {
    const pid = target.pids[i] ?? 0;
    const live = await liveMiB(inspector);
    const handles = await activeResources(inspector);
    const files = filesOf(pid);
    samples[i]?.push({ live, handles, files });
    texts.push(`${live.toFixed(1)} MiB live, ${handles} handles, ${files} files, ${memoryMib(pid)} MiB resident`);
  }
  console.log(`round ${round}: ${visitCount} connections; ${texts.join("; ")}`);
}
const grown = samples.flatMap((ofOne, i) => grownKinds(ofOne).map((kind) => `${kind} of server ${i + 1}`));
const ended = target.ended();
for (const end of ended) console.log(`a server ended: ${end}`);
console.log(grown.length === 0 ? "flat" : `not flat: ${grown.join(", ")}`);
process.exitCode = grown.length > 0 || ended.length > 0 ? 1 : 0;

/** Lines of zoo.cfg for the doors that only one kind of target has. */
async function ownSettings(): Promise<readonly string[]> {
  if (options.ensemble) {
    const secret = join(folder, "secret");
    writeFileSync(secret, `a:${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    return [`zooid.peerSecretFile=${secret}`];
  }
  const [port] = await freePorts(1);
  return [METRICS, `metricsProvider.httpPort=${port}`];
}

async function doorsOf(target: Target): Promise<Doors> {
  const visited = target.ports.indexOf(target.port);
  const log = (): string => target.logs()[visited] ?? "";
  // The line of the admin port may come a moment after the server serves.
  const admin = await until("the admin port", 10_000, async () => {
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(log())?.[1];
    return port === undefined ? undefined : Number(port);
  });
  const metrics = /metrics are answered on port (\d+)/.exec(log())?.[1];
  const place = target.members[visited]?.place;
  return {
    client: target.port,
    admin,
    metrics: metrics === undefined ? undefined : Number(metrics),
    quorum: place?.quorumPort,
    election: place?.electionPort,
  };
}

/** The kinds that the last third of a server's samples has more of than the second third. */
function grownKinds(samples: readonly Sample[]): readonly (keyof Sample)[] {
  const third = Math.floor(samples.length / 3);
  return (["live", "handles", "files"] as const).filter((kind) => {
    const [second, last] = [samples.slice(third, -third), samples.slice(-third)].map((some) => average(some, kind));
    return (last ?? 0) > (second ?? 0) * GROWTH_MAX + MORE_MAX[kind];
  });
}

/** Connections to every door for a while. @returns how many */
async function comeAndGo(doors: Doors, ms: number): Promise<number> {
  const endMs = performance.now() + ms;
  let count = 0;
  await Promise.all(
    VISITS.flatMap((visit) => {
      const port = doors[visit.door];
      if (port === undefined) return [];
      return range(AT_A_TIME, async (lane) => {
        while (performance.now() < endMs) {
          await come(visit, port, count++, lane);
          await delay(20);
        }
      });
    }),
  );
  return count;
}

/** One connection, which is reset in the middle of something, or ended. */
async function come({ isTls, sends }: Visit, port: number, nth: number, lane: number): Promise<void> {
  const to = { port, host: "127.0.0.1", localAddress: `127.4.${lane}.${1 + (nth % 250)}` };
  const socket = isTls === true ? connectTls({ ...to, rejectUnauthorized: false, ...STRANGER }) : connect(to);
  socket.on("error", () => socket.destroy());
  const closed = new Promise((resolve) => socket.once("close", resolve));
  for (const piece of sends(nth)) socket.write(piece);
  await Promise.race([closed, delay(nth % 150)]);
  if (nth % 3 === 0 || isTls === true) socket.destroy();
  else if (nth % 3 === 1) socket.resetAndDestroy();
  else socket.end();
  await Promise.race([closed, delay(2000)]);
  socket.destroy();
}

/** Until there is no session and no other connection. */
async function drained({ port }: Target): Promise<void> {
  const endMs = performance.now() + DRAIN_DEADLINE_MS;
  while (performance.now() < endMs) {
    await delay(1000);
    const text = await fourLetterWord(port, "mntr");
    const [sessions, connections] = ["global_sessions", "num_alive_connections"].map((name) =>
      Number(new RegExp(`^zk_${name}\\t(\\d+)$`, "m").exec(text)?.[1]),
    );
    // The connection that asks is one.
    if (sessions === 0 && (connections ?? 0) <= 1) return;
  }
  console.log("sessions or connections are left after a minute");
}

function filesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function average(samples: readonly Sample[], kind: keyof Sample): number {
  return samples.reduce((sum, sample) => sum + sample[kind], 0) / Math.max(1, samples.length);
}
