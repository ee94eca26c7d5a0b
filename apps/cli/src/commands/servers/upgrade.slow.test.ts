import { mkdir, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { allServe, PATIENT } from "@zooid/embedded-server/testing/patient";
import { versionWith } from "@zooid/model/testing/versions";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const HOST = "127.0.0.1";
const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const OBSERVER = 4;

type Server = Awaited<ReturnType<typeof startServer>>;

/** Three voters and an observer, of which each has its data in a directory of its own. */
class Members {
  readonly #folder: string;
  readonly #listed: readonly { readonly sid: number; readonly clientAddress: { readonly port: number } }[];
  readonly running: Map<number, Server> = new Map();
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#listed = [1, 2, 3, OBSERVER].map((sid, at) => {
      const [quorumPort = 0, electionPort = 0, port = 0] = ports.slice(at * 3);
      return { sid, host: HOST, quorumPort, electionPort, clientAddress: { port }, isObserver: sid === OBSERVER };
    });
  }

  get addresses(): string {
    return [...this.running.values()].map(({ connectString }) => connectString).join(",");
  }

  /** Starts a server as the version that knows a level. */
  async start(sid: number, highest: number, directory = `data-${sid}`): Promise<Server> {
    const dataDir = join(this.#folder, directory);
    await mkdir(dataDir, { recursive: true });
    const note = (line: string): void => {
      this.#lines.push(line);
      for (const look of this.#waiting) look();
    };
    const server = await startServer({
      port: this.#listed[sid - 1]?.clientAddress.port ?? 0,
      admin: { port: 0 },
      superDigest: SUPER_DIGEST,
      tickMs: 200,
      dataDir,
      levels: versionWith(highest),
      version: `0.${highest}.0`,
      log: { info: note, warn: note, error: note },
      ensemble: { sid, servers: this.#listed as never, ...PATIENT },
    });
    this.running.set(sid, server);
    return server;
  }

  async stop(sid: number): Promise<void> {
    const server = this.running.get(sid);
    this.running.delete(sid);
    await server?.[Symbol.asyncDispose]();
  }

  /** Another version of a server starts with its data, and follows or leads. */
  async upgrade(sid: number, highest: number): Promise<void> {
    await this.stop(sid);
    await this.start(sid, highest);
    await allServe(this.running.values());
  }

  async leader(): Promise<number> {
    for (const [sid, { role$ }] of this.running) {
      if ((await firstValueFrom(role$)) === "leading") return sid;
    }
    throw new Error("no server leads");
  }

  /** Flags that name the admin port of a server. */
  adminOf(sid: number): readonly string[] {
    return ["--admin", `http://${HOST}:${this.running.get(sid)?.adminPort}`, "--auth", SUPER];
  }

  /** Resolves once a server has logged a line that contains a text. */
  async logged(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.#lines.some((line) => line.includes(text))) resolve();
    };
    this.#waiting.add(look);
    look();
    await promise;
    this.#waiting.delete(look);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.running.keys()].map((sid) => this.stop(sid)));
  }
}

test("upgrade finalize waits for each member, an observer too; afterwards the earlier version is refused", {
  timeout: 120_000,
}, async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "zooid-upgrade-"));
  await using members = new Members(folder.path, await freePorts(12));
  await Promise.all([1, 2, 3, OBSERVER].map((sid) => members.start(sid, 1)));
  await using client = await connect(members.addresses, { startTimeoutMs: 60_000 });
  await client.create("/before", "x");
  await allServe(members.running.values());
  const cli = async (...words: readonly string[]) => {
    await using session = await Session.open(members.addresses);
    const run = await session.run("upgrade", ...words, ...members.adminOf(await members.leader()));
    return { status: await run.ended, out: run.stdout.trim().split("\n"), err: run.stderr };
  };

  await members.stop(OBSERVER);
  for (const sid of [1, 2, 3]) await members.upgrade(sid, 2);
  expect((await cli("status")).out.slice(-2)).toEqual([
    "feature level 1; level 2 waits for observer 4 (does not follow)",
    "next: start observer 4, or zooid-cli member remove 4",
  ]);
  expect(await cli("finalize")).toMatchObject({
    status: 1,
    err: expect.stringContaining(
      "level 2 cannot be raised: observer 4 does not follow, so that its version is not known",
    ),
  });
  await members.upgrade(OBSERVER, 1);
  expect((await cli("finalize")).err).toMatch(/observer 4, of version 0\.1\.0, knows level 1/);
  await members.upgrade(OBSERVER, 2);
  expect((await cli("status")).out.at(-1)).toMatch(/^next: zooid-cli upgrade finalize --admin http:/);
  expect((await cli("finalize", "--dry-run")).out).toEqual([
    "level 1 can be raised to 2",
    "nothing is changed: --dry-run",
  ]);
  expect((await cli("finalize")).out).toEqual(["feature level 2 is in force, was 1"]);
  expect((await cli("status")).out.at(-1)).toBe("feature level 2, the highest that the members know: nothing to raise");
  expect(Buffer.from((await client.get("/zookeeper/zooid")).data ?? []).toString()).toContain("level-2");

  const leader = await members.leader();
  const [down = 0, other = 0] = [1, 2, 3].filter((sid) => sid !== leader);
  await members.stop(down);
  await expect(members.start(down, 1)).rejects.toMatchObject({ code: "UNKNOWN_LEVEL" });
  // With an empty disk it has no level yet; its links are refused.
  await members.start(down, 1, "empty");
  await members.logged("has feature level 2, and this version knows level 1; a version that knows level 2 is needed");
  await members.stop(down);
  // The level is in the history that a server receives, and in what it has at a start.
  await members.start(down, 2, "empty-again");
  await members.upgrade(other, 3);
  expect((await cli("status")).out).toContainEqual(expect.stringMatching(/^feature level 2; level 3 waits for server/));
});
