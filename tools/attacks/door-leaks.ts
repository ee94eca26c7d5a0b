/**
 * Opens and breaks off connections at every door of a server, round after round, and reports what stays behind.
 *
 *     npm run tool -- door-leaks [--rounds 12] [--seconds 8]
 *
 * In each round, for so many seconds, connections come to the client port, with TLS and without, and to the admin port: silent ones, some that
 * end in the middle of a request or an answer, sessions with ephemerals, watches and wrong identities that are never closed. Then all of it is over, the
 * sessions have expired, and the server's live memory, its handles and its open files are measured. They are flat where the last third of the
 * rounds has no more than the second third, but for a twentieth and a few. Ends with status 1 where one is not.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { parseArgs } from "node:util";
import { CreateMode, OpCode } from "@zooid/model";
import { fourLetterWord } from "../../packages/conformance/src/endpoint.ts";
import { STRANGER } from "../../packages/server/src/testing/certificates.ts";
import { auth, connectRequest, create, read, request } from "../../packages/wire/src/testing/raw-client.ts";
import { until } from "../faults/ensemble-servers.ts";
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
const ADMIN = ["admin.enableServer=true", "admin.serverAddress=127.0.0.1", "admin.serverPort=0"];

type Sample = Readonly<Record<keyof typeof MORE_MAX, number>>;

interface Doors {
  readonly client: number;
  readonly admin: number;
}

/** What one connection sends before it is broken off, at a door; bytes in several pieces are sent one after the other. */
interface Visit {
  readonly name: string;
  readonly port: (doors: Doors) => number;
  readonly isTls?: boolean;
  readonly sends: (nth: number) => readonly (string | Uint8Array)[];
}

const AUTH_XID_OP = 100;
const SASL_OP = 102;
const session = connectRequest({ timeoutMs: SESSION_MS });
const http = (line: string, rest = ""): string => `${line} HTTP/1.1\r\nHost: localhost\r\n${rest}\r\n`;
const toClients = ({ client }: Doors): number => client;
const toAdmin = ({ admin }: Doors): number => admin;

const VISITS: readonly Visit[] = [
  { name: "silence", port: toClients, sends: () => [] },
  { name: "half a connect request", port: toClients, sends: () => [session.subarray(0, 20)] },
  { name: "anything", port: toClients, sends: () => [Buffer.alloc(900, 0x5a)] },
  { name: "a four-letter word", port: toClients, sends: () => ["mntr"] },
  {
    name: "a session with an ephemeral and watches, half a request behind it",
    port: toClients,
    sends: (nth) => [
      session,
      request(1, OpCode.CREATE, create(`/e-${nth}`, "d", CreateMode.EPHEMERAL)),
      ...range(50, (i) => request(2 + i, OpCode.EXISTS, read(`/watched/${nth}/${i}`, true))),
      request(99, OpCode.CREATE, create(`/h-${nth}`, "d".repeat(2000))).subarray(0, 1000),
    ],
  },
  {
    name: "identities, one of a scheme that there is not",
    port: toClients,
    sends: (nth) => [
      session,
      ...range(10, (i) => request(-4, AUTH_XID_OP, auth("digest", `u${nth}-${i}:p`))),
      request(-4, AUTH_XID_OP, auth(`scheme-${nth}`, "x")),
    ],
  },
  {
    name: "steps of SASL out of turn",
    port: toClients,
    sends: (nth) => [session, ...range(3, (i) => request(i, SASL_OP, (writer) => writer.text(`garbage ${nth}`)))],
  },
  { name: "half a ClientHello", port: toClients, sends: () => [Uint8Array.of(0x16, 3, 1, 0x3f, 0xfb, 1, 0)] },
  { name: "a TLS handshake of a stranger", port: toClients, isTls: true, sends: () => [session] },
  { name: "half a head", port: toAdmin, sends: (nth) => [`GET /commands/stats?n=${nth} HTTP/1.1\r\nHost: l`] },
  { name: "requests at once", port: toAdmin, sends: () => [http("GET /metrics").repeat(200)] },
  { name: "a long answer that is not taken", port: toAdmin, sends: () => [http("GET /commands/watches")] },
  {
    name: "a body that is cut short",
    port: toAdmin,
    sends: (nth) => [
      http("POST /api/v1/login", "Content-Type: application/json\r\nContent-Length: 900\r\n"),
      `{"user":"u${nth}"`,
    ],
  },
  {
    name: "an invented user",
    port: toAdmin,
    sends: (nth) => [http("GET /api/v1/session", `Authorization: digest u${nth}:p\r\n`)],
  },
];

const { values: options } = parseArgs({
  options: { rounds: { type: "string", default: "12" }, seconds: { type: "string", default: "8" } },
});
const rounds = Number(options.rounds);
if (!(Number.isInteger(rounds) && rounds >= ROUNDS_LEAST)) {
  console.error(`--rounds is a whole number from ${ROUNDS_LEAST}, not ${options.rounds}`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "door-leaks-"));
try {
  const settings = [...clientTlsSettings(folder), ...ADMIN, "4lw.commands.whitelist=*"];
  await using target = await startTarget("standalone", folder, { env: INSPECTED, settings });
  const inspector = inspectorAddress(target.logs().join("\n"));
  // Its line may come a moment after the server serves.
  const admin = await until("the admin port", 10_000, async () => {
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(target.logs().join("\n"))?.[1];
    return port === undefined ? undefined : Number(port);
  });
  const samples: Sample[] = [];
  let visitCount = 0;
  for (let round = 1; round <= rounds; round++) {
    visitCount += await comeAndGo({ client: target.port, admin }, Number(options.seconds) * 1000);
    await drained(target);
    const sample = {
      live: await liveMiB(inspector),
      handles: await activeResources(inspector),
      files: filesOf(target),
    };
    samples.push(sample);
    const { live, handles, files } = sample;
    console.log(
      `round ${round}: ${visitCount} connections; ${live.toFixed(1)} MiB live, ${handles} handles, ${files} files, ${residentMiB(target)} MiB resident`,
    );
  }
  const third = Math.floor(samples.length / 3);
  const grown = (["live", "handles", "files"] as const).filter((kind) => {
    const [second, last] = [samples.slice(third, -third), samples.slice(-third)].map((some) => average(some, kind));
    return (last ?? 0) > (second ?? 0) * GROWTH_MAX + MORE_MAX[kind];
  });
  const ended = target.ended();
  for (const end of ended) console.log(`the server ended: ${end}`);
  console.log(grown.length === 0 ? "flat" : `not flat: ${grown.join(", ")}`);
  process.exitCode = grown.length > 0 || ended.length > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Connections to every door for a while. @returns how many */
async function comeAndGo(doors: Doors, ms: number): Promise<number> {
  const endMs = performance.now() + ms;
  let count = 0;
  await Promise.all(
    VISITS.flatMap((visit) =>
      range(AT_A_TIME, async (lane) => {
        while (performance.now() < endMs) {
          await come(visit, doors, count++, lane);
          await delay(20);
        }
      }),
    ),
  );
  return count;
}

/** One connection, which is reset in the middle of something, or ended. */
async function come({ port, isTls, sends }: Visit, doors: Doors, nth: number, lane: number): Promise<void> {
  const to = { port: port(doors), host: "127.0.0.1", localAddress: `127.4.${lane}.${1 + (nth % 250)}` };
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

function filesOf({ pids: [pid] }: Target): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function residentMiB({ pids: [pid] }: Target): number {
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
}

function average(samples: readonly Sample[], kind: keyof Sample): number {
  return samples.reduce((sum, sample) => sum + sample[kind], 0) / Math.max(1, samples.length);
}
