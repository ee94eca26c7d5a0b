import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { firstValueFrom } from "rxjs";
import { expect } from "vitest";
import type { StartOptions, ZooidServer } from "../server-api.ts";
import { FollowedApache } from "./followed-apache.ts";
import { ask } from "./http.ts";
import { allServe, PATIENT } from "./patient.ts";
import { startTestServer } from "./server.ts";
import { SUPER, SUPER_DIGEST } from "./snapshot-endpoint.ts";

export type StandingServer = ZooidServer & { readonly lines: string[] };
export type Answer = Readonly<Record<string, unknown>>;

const WAIT = { timeout: 120_000 };
const COUNT = 3;

/**
 * A scripted Apache ensemble, the server that follows it, and three members whose clients are
 * closed and that keep its state ready. For tests.
 */
export class StandingEnsemble implements AsyncDisposable {
  readonly apache: FollowedApache;
  readonly members: StandingServer[] = [];
  readonly archive: string;
  readonly #folder: string;
  readonly #ports: readonly number[];
  #follower: StandingServer | undefined;

  private constructor(folder: string, apache: FollowedApache, ports: readonly number[]) {
    this.#folder = folder;
    this.apache = apache;
    this.#ports = ports;
    this.archive = join(folder, "archive");
    mkdirSync(this.archive);
  }

  /** @param begin what Apache has before it is followed */
  static async start(folder: string, begin: (apache: FollowedApache) => void): Promise<StandingEnsemble> {
    const apache = await FollowedApache.start();
    begin(apache);
    const standing = new StandingEnsemble(folder, apache, await freePorts(3 * COUNT));
    for (let sid = 1; sid <= COUNT; sid++) standing.members.push(await standing.startMember(sid));
    await allServe(standing.members);
    return standing;
  }

  /** Begins to follow Apache, which sends a snapshot. */
  async follow(): Promise<Awaited<ReturnType<FollowedApache["serveSnapshot"]>>> {
    this.#follower = await startTestServer({
      dataDir: join(this.#folder, "follower"),
      follow: { hosts: this.apache.hosts, syncTimeoutMs: 600_000, initTimeoutMs: 600_000 },
      history: { retainMs: 3_600_000 },
      backup: { target: this.archive },
      superDigest: SUPER_DIGEST,
      admin: { port: 0 },
    });
    return await this.apache.serveSnapshot();
  }

  startMember(sid: number, options: StartOptions = {}): Promise<StandingServer> {
    const servers = Array.from({ length: COUNT }, (_, i) => {
      const [quorumPort = 0, electionPort = 0] = this.#ports.slice(COUNT + 2 * i);
      return { sid: i + 1, host: "127.0.0.1", quorumPort, electionPort };
    });
    return startTestServer({
      port: this.#ports[sid - 1] ?? 0,
      dataDir: join(this.#folder, `member-${sid}`),
      ensemble: { sid, servers, clients: "closed", ...PATIENT },
      standby: { from: this.archive },
      superDigest: SUPER_DIGEST,
      admin: { port: 0 },
      ...options,
    });
  }

  async leader(): Promise<StandingServer> {
    await allServe(this.members);
    const roles = await Promise.all(this.members.map(({ role$ }) => firstValueFrom(role$)));
    const leader = this.members[roles.indexOf("leading")];
    if (leader === undefined) throw new Error("no member leads");
    return leader;
  }

  /** Waits until the archive has all that Apache has, and each member its state. @returns it */
  async level(): Promise<{ readonly zxid: string; readonly digest: string }> {
    const zxid = `0x${this.apache.zxid.toString(16)}`;
    await expect.poll(async () => (await this.#post(this.#follower, "follow_archive"))["zxid"], WAIT).toBe(zxid);
    const states: Answer[] = [];
    for (const member of this.members) {
      await expect.poll(async () => (await readyState(member))?.["zxid"], WAIT).toBe(zxid);
      states.push((await readyState(member)) ?? {});
    }
    expect(new Set(states.map(({ digest, chain }) => `${digest} ${chain}`)).size).toBe(1);
    return { zxid, digest: String(states[0]?.["digest"]) };
  }

  /** Posts a command to the leader. */
  async post(command: string): Promise<Answer> {
    return await this.#post(await this.leader(), command);
  }

  async #post(server: StandingServer | undefined, command: string): Promise<Answer> {
    const answer = await ask(server?.adminPort, `/commands/${command}`, { method: "POST", headers: { ...SUPER } });
    return JSON.parse(answer.body) as Answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((server) => server.stop()));
    await this.#follower?.stop();
    await this.apache[Symbol.asyncDispose]();
  }
}

export async function standbyOf({ adminPort }: StandingServer): Promise<Answer> {
  return JSON.parse((await ask(adminPort, "/commands/standby")).body) as Answer;
}

async function readyState(server: StandingServer): Promise<Answer | undefined> {
  return ((await standbyOf(server))["standby"] ?? undefined) as Answer | undefined;
}
