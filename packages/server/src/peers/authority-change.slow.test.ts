import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startServer } from "../server.ts";
import type { ZooidServer } from "../server-api.ts";
import { AUTHORITY, HOST, NEXT_AUTHORITY, NEXT_HOST } from "../testing/certificates.ts";
import { ask } from "../testing/http.ts";
import { PATIENT } from "../testing/patient.ts";

const SIDS = [1, 2, 3] as const;
const BOTH = AUTHORITY + NEXT_AUTHORITY;

/** A server's files, in the order of docs/security.md. */
const STEPS = [
  { ...HOST, ca: AUTHORITY },
  { ...HOST, ca: BOTH },
  { ...NEXT_HOST, ca: BOTH },
  { ...NEXT_HOST, ca: NEXT_AUTHORITY },
] as const;
type Step = (typeof STEPS)[number];

let directory: string;
let ports: readonly number[];
let servers: (ZooidServer | undefined)[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "zooid-authority-"));
  ports = await freePorts(2 * SIDS.length);
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function optionsOf(sid: number, { key, cert, ca }: Step) {
  const path = (name: string): string => join(directory, `${name}-${sid}`);
  for (const [name, text] of Object.entries({ key, cert, ca })) await writeFile(path(name), text, { mode: 0o600 });
  const lines = SIDS.map((other, i) => {
    const [quorumPort = 0, electionPort = 0] = ports.slice(2 * i);
    return { sid: other, host: "127.0.0.1", quorumPort, electionPort };
  });
  return {
    port: 0,
    dataDir: path("data"),
    tickMs: 500,
    admin: { port: 0, rateLimiterIntervalMs: 0 },
    ensemble: { sid, servers: lines, ...PATIENT, peerTls: { key: path("key"), cert: path("cert"), ca: path("ca") } },
  };
}

async function start(sid: number, step: Step): Promise<void> {
  servers[sid] = await startServer(await optionsOf(sid, step));
}

async function stop(sid: number): Promise<void> {
  await servers[sid]?.stop();
  servers[sid] = undefined;
}

/** @returns the problems with which it is refused */
async function reload(sid: number, step: Step): Promise<readonly string[]> {
  return servers[sid]?.reload(await optionsOf(sid, step)).problems ?? ["it is down"];
}

/** The longest wait of a server that was refused, and its election. */
const SERVE_MS_MAX = 30_000;
/** Links of a follower: one for elections with each other server, and one with its leader. */
const LINKS_MIN = SIDS.length;

/** Every server that runs serves, and has all of its links. */
async function allServe(): Promise<void> {
  const running = servers.filter((server) => server !== undefined);
  const deadlineMs = performance.now() + SERVE_MS_MAX;
  for (;;) {
    const texts = await Promise.all(running.map(({ adminPort }) => ask(adminPort, "/readyz")));
    const isWhole = ({ body }: { readonly body: string }): boolean =>
      body.includes("readyz check passed") && Number(/peer-links ok: (\d+)/.exec(body)?.[1]) >= LINKS_MIN;
    if (texts.every(isWhole)) return;
    if (performance.now() > deadlineMs) expect.fail(texts.map(({ body }) => body).join("\n"));
    await setImmediate();
  }
}

/** As an operator repeats a refused reload: links are made again within a moment. */
async function reloadUntilAccepted(sid: number, step: Step): Promise<void> {
  const deadlineMs = performance.now() + SERVE_MS_MAX;
  for (let problems = await reload(sid, step); problems.length > 0; problems = await reload(sid, step)) {
    if (performance.now() > deadlineMs) expect.fail(problems.join("\n"));
    await allServe();
  }
}

describe("an authority is changed", () => {
  test("by reloads, step after step, and a restart of each server finds the others", async () => {
    const [first, ...steps] = STEPS;
    await Promise.all(SIDS.map((sid) => start(sid, first)));
    await allServe();
    for (const step of steps) {
      for (const sid of SIDS) await reloadUntilAccepted(sid, step);
      await allServe();
    }
    for (const sid of SIDS) {
      await stop(sid);
      await start(sid, STEPS[3]);
      await allServe();
    }
  });

  test("not before every connected server has a certificate of the new one, and the refusal names those without", async () => {
    await Promise.all(SIDS.map((sid) => start(sid, STEPS[1])));
    await allServe();
    for (const sid of [1, 2]) expect(await reload(sid, STEPS[2])).toEqual([]);
    await allServe();
    // Server 2 is named too, until it has made its link again.
    for (let problem = ""; !problem.includes("certificate of server 3, "); await allServe()) {
      [problem = "accepted"] = await reload(1, STEPS[3]);
      expect(problem).toMatch(/^no authority that is trusted now has issued the certificate of server/);
    }
  });
});
