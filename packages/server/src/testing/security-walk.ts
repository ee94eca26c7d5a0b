import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@zooid/wire/testing/free-ports";
import type { ServerOptions } from "../config.ts";
import type { EnsembleServerOptions } from "../peers/ensemble-config.ts";
import type { PeerSecurityOptions } from "../peers/peer-security.ts";
import { startServer } from "../server.ts";
import type { ZooidServer } from "../server-api.ts";
import type { Act, ActWeights } from "./acts.ts";
import { AUTHORITY, HOST } from "./certificates.ts";
import { ask } from "./http.ts";
import { PATIENT } from "./patient.ts";

type SecurityKind = "step" | "step by restart" | "any reload" | "restart" | "any reload without one";

/** Half of the acts are those of docs/security.md, the others those of hasty operators. */
export const SECURITY_ACTS: ActWeights<SecurityKind> = [
  ["step", 4],
  ["step by restart", 2],
  ["any reload", 4],
  ["restart", 1],
  ["any reload without one", 2],
];

export type SecurityAct = Act<SecurityKind>;

const SIDS = [1, 2, 3] as const;
const TICK_MS = 500;
/** The longest wait of a server that was refused, and its election. */
const SERVE_MS_MAX = 30_000;
/** Settings that a reason names, of which an operator has set one wrong. */
const SETTINGS = /sslQuorum|zooid\.peerTls|portUnification|zooid\.peerSecret/;

/** How far TLS, and the secret, are turned on at a server. */
interface Stage {
  /** None; both are taken, plain ones dialed; both are taken, TLS dialed; TLS only. */
  readonly tls: number;
  /** None; offered; required. */
  readonly secret: number;
}

const TLS_STAGES = 4;
const SECRET_STAGES = 3;

interface Member {
  readonly sid: number;
  readonly directory: string;
  stage: Stage;
  server: ZooidServer | undefined;
}

export interface SecurityCounts {
  accepted: number;
  refused: number;
  /** Servers that were started with a stage that the others do not go with. */
  cutOff: number;
}

/**
 * Three servers on whose links TLS and a shared secret are turned on and off, by steps and by
 * jumps. A reload that is accepted leaves all servers in service, also when one of them restarts
 * afterwards; one that is refused changes nothing. A documented step is always accepted.
 */
export class SecurityWalk implements AsyncDisposable {
  readonly counts: SecurityCounts = { accepted: 0, refused: 0, cutOff: 0 };
  readonly #directory: string;
  readonly #members: readonly Member[];
  readonly #lines: readonly EnsembleServerOptions[];
  readonly #log: string[] = [];

  private constructor(directory: string, ports: readonly number[]) {
    this.#directory = directory;
    this.#lines = SIDS.map((sid, i) => {
      const [quorumPort = 0, electionPort = 0] = ports.slice(2 * i);
      return { sid, host: "127.0.0.1", quorumPort, electionPort };
    });
    this.#members = SIDS.map((sid) => ({
      sid,
      directory: join(directory, `${sid}`),
      stage: { tls: 0, secret: 0 },
      server: undefined,
    }));
  }

  static async run(acts: readonly SecurityAct[]): Promise<SecurityCounts> {
    const directory = await mkdtemp(join(tmpdir(), "zooid-security-"));
    const files = {
      key: HOST.key,
      cert: HOST.cert,
      ca: AUTHORITY,
      secret: `a:${Buffer.alloc(32).toString("base64")}\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(directory, name), text, { mode: 0o600 });
    }
    await using walk = new SecurityWalk(directory, await freePorts(2 * SIDS.length));
    for (const member of walk.#members) member.stage = anyStage(acts[0]?.a ?? 0);
    await Promise.all(walk.#members.map((member) => walk.#start(member)));
    await walk.#allServe();
    for (const act of acts) await walk.#perform(act);
    return walk.counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map(({ server }) => server?.stop()));
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #perform({ kind, a, b }: SecurityAct): Promise<void> {
    const [member, other] = [this.#at(a), this.#at(a + 1 + (b % 2))];
    this.#log.push(`${kind} at ${member.sid}, of ${this.#stages}`);
    switch (kind) {
      case "step":
        await this.#step(member, this.#nextStage(member, b));
        break;
      case "step by restart":
        await this.#restart(member, this.#nextStage(member, b));
        break;
      case "any reload":
        this.#reload(member, anyStage(b));
        break;
      case "restart":
        await this.#restart(member, member.stage);
        break;
      case "any reload without one":
        await this.#without(other, () => this.#reload(member, anyStage(b)));
        break;
    }
    await this.#allServe();
    // Links are made again: those that stayed may be of an earlier stage.
    await this.#restart(this.#at(b), this.#at(b).stage);
    await this.#allServe();
  }

  /** A step that docs/security.md has: each server is at the stage of the others, or the next. */
  async #step(member: Member, stage: Stage): Promise<void> {
    const deadlineMs = performance.now() + SERVE_MS_MAX;
    // Links are made again one after another after the step before.
    for (;;) {
      const problems = this.#reload(member, stage);
      if (problems.length === 0) return;
      if (performance.now() > deadlineMs) throw this.#failure(`a documented step is refused: ${problems.join("; ")}`);
      await this.#allServe();
    }
  }

  #nextStage(member: Member, b: number): Stage {
    const { tls, secret } = member.stage;
    const by = b % 2 === 0 ? 1 : -1;
    const candidates = [
      { tls: tls + by, secret },
      { tls, secret: secret + by },
      { tls: tls - by, secret },
      { tls, secret: secret - by },
    ].filter((stage) => isStage(stage) && this.#members.every((each) => isNext(each.stage, stage)));
    return candidates[b % Math.max(candidates.length, 1)] ?? member.stage;
  }

  #reload(member: Member, stage: Stage): readonly string[] {
    const { server } = member;
    if (server === undefined) throw new Error("it runs");
    const { problems } = server.reload(this.#options(member, stage));
    this.#log.push(`  reload to ${textOf(stage)}: ${problems.length === 0 ? "accepted" : problems.join("; ")}`);
    if (problems.length > 0) this.counts.refused++;
    else {
      this.counts.accepted++;
      member.stage = stage;
    }
    return problems;
  }

  async #without(member: Member, meanwhile: () => unknown): Promise<void> {
    await member.server?.stop();
    member.server = undefined;
    await this.#allServe();
    meanwhile();
    await this.#allServe();
    await this.#start(member);
    const others = this.#members.filter((each) => each !== member);
    if (others.every((each) => goTogether(each.stage, member.stage))) return;
    this.counts.cutOff++;
    await this.#until(others, (text) => isReady(text));
    await this.#until([member], (text) => isReady(text) || SETTINGS.test(text));
    // The operator writes into its file what another server has.
    await this.#restart(member, others[0]?.stage ?? member.stage);
  }

  async #restart(member: Member, stage: Stage): Promise<void> {
    await member.server?.stop();
    member.server = undefined;
    member.stage = stage;
    await this.#start(member);
  }

  async #start(member: Member): Promise<void> {
    member.server = await startServer(this.#options(member, member.stage));
  }

  #options({ sid, directory }: Member, { tls, secret }: Stage): ServerOptions {
    const file = (name: string): string => join(this.#directory, name);
    const security: PeerSecurityOptions = {
      allowUnauthenticatedPeers: true,
      ...(tls === 0 ? {} : { peerTls: { key: file("key"), cert: file("cert"), ca: file("ca") } }),
      ...(tls === 1 || tls === 2 ? { portUnification: true, dialsTls: tls === 2 } : {}),
      ...(secret === 0 ? {} : { peerSecretFile: file("secret"), peerSecretMode: secret === 1 ? "offer" : "require" }),
    };
    return {
      port: 0,
      dataDir: directory,
      tickMs: TICK_MS,
      admin: { port: 0, rateLimiterIntervalMs: 0 },
      ensemble: { sid, servers: this.#lines, ...PATIENT, ...security },
    };
  }

  #at(number: number): Member {
    const member = this.#members[number % SIDS.length];
    if (member === undefined) throw new Error("there are three");
    return member;
  }

  /**
   * Every server that runs serves, and where all dial alike all links are protected alike: none of
   * an earlier stage is left.
   */
  #allServe(): Promise<void> {
    const running = this.#members.filter(({ server }) => server !== undefined);
    const dial = new Set(running.map(({ stage }) => stage.tls > 1));
    const hasSecret = running.every(({ stage }) => stage.secret > 0);
    return this.#until(running, (text) => {
      const [, all, tls, proof] = /peer-links ok: (\d+), (\d+) with TLS, (\d+) with proof/.exec(text) ?? [];
      const isDialedAlike = dial.size > 1 || tls === (dial.has(true) ? all : "0");
      return isReady(text) && isDialedAlike && (!hasSecret || proof === all);
    });
  }

  async #until(members: readonly Member[], claim: (readyz: string) => boolean): Promise<void> {
    const deadlineMs = performance.now() + SERVE_MS_MAX;
    for (;;) {
      const texts = await Promise.all(members.map(({ server }) => ask(server?.adminPort, "/readyz")));
      if (texts.every(({ body }) => claim(body))) return;
      if (performance.now() > deadlineMs) {
        const seen = texts.map(({ body }, i) => `server ${members[i]?.sid}: ${body}`);
        throw this.#failure(["servers do not serve", ...seen].join("\n"));
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get #stages(): string {
    return this.#members.map(({ stage }) => textOf(stage)).join(", ");
  }

  #failure(text: string): Error {
    return new Error([text, `now ${this.#stages}`, ...this.#log].join("\n"));
  }
}

function isReady(text: string): boolean {
  return text.includes("readyz check passed");
}

function anyStage(b: number): Stage {
  return { tls: b % TLS_STAGES, secret: Math.floor(b / TLS_STAGES) % SECRET_STAGES };
}

function isStage({ tls, secret }: Stage): boolean {
  return tls >= 0 && tls < TLS_STAGES && secret >= 0 && secret < SECRET_STAGES;
}

function isNext(one: Stage, other: Stage): boolean {
  return Math.abs(one.tls - other.tls) <= 1 && Math.abs(one.secret - other.secret) <= 1;
}

/** Whether each accepts a link that the other one dials. */
function goTogether(one: Stage, other: Stage): boolean {
  const accepts = (dialer: Stage, listener: Stage): boolean => (dialer.tls > 1 ? listener.tls > 0 : listener.tls < 3);
  const proves = (asked: Stage, asking: Stage): boolean => asking.secret < 2 || asked.secret > 0;
  return accepts(one, other) && accepts(other, one) && proves(one, other) && proves(other, one);
}

function textOf({ tls, secret }: Stage): string {
  return `TLS ${tls} secret ${secret}`;
}
