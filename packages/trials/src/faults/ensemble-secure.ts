/**
 * Turns a shared secret and TLS between servers on and off under load, and renews the secret, by
 * the steps that docs/security.md has: with rolling restarts, and with SIGHUP alone.
 *
 *     npm run tool -- ensemble-secure [--rounds 20] [--by restart,reload] [--own 8] [--kazoo 8] [--more-ms 300] [--keep]
 *
 * A round begins with a new ensemble without security. While TLS is on, a server with a certificate
 * for another host is refused, with a line at both sides, and one with a certificate for its host's
 * name alone joins. Printed for each step is the longest time without an answered write. Its median
 * over all steps must not exceed that of rolling restarts without a change, in the same run, by
 * more than `--more-ms`. The check of a round is that of ensemble-replace. Needs the `openssl`
 * command.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { someOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { inMs, quantiles } from "../figures/quantiles.ts";
import { documentedSteps } from "./documented-commands.ts";
import { Authority } from "./ensemble-certificates.ts";
import { type EnsembleServer, until } from "./ensemble-servers.ts";
import { DEADLINE_MS, type RollingRound, RollingRounds } from "./rolling-rounds.ts";

const options = toolOptions({
  rounds: 20,
  by: someOf(["restart", "reload"]),
  own: 8,
  kazoo: 8,
  moreMs: 300,
  keep: false,
});
const SERVER_COUNT = 3;
const RELOADED = "the configuration is reloaded";
const NOT_RELOADED = "the configuration is not reloaded";
/** Links are made again within tens of milliseconds. */
const REPEAT_MS = 500;
const REPEATS_MAX = 2;

type Means = "restart" | "reload";

/** Gaps of rolling restarts that change nothing. */
const plainMs: number[] = [];
const rounds = new RollingRounds({
  ...options,
  name: "ensemble-secure",
  founders: SERVER_COUNT,
  ensemble: {
    serverCount: SERVER_COUNT + 1,
    tickMs: 500,
    initLimit: 20,
    syncLimit: 10,
    settings: ["reconfigEnabled=true", "skipACL=yes"],
    isListed: (sid) => sid <= SERVER_COUNT,
  },
});

class SecuredRound {
  readonly #round: RollingRound;
  readonly #folder: string;
  readonly #servers: readonly EnsembleServer[];
  readonly #by: Means;

  constructor(round: RollingRound, by: Means) {
    this.#round = round;
    this.#folder = round.ensemble.options.folder;
    this.#servers = round.founders;
    this.#by = by;
  }

  async play(): Promise<readonly EnsembleServer[]> {
    // Before the clients write: both block this process.
    const authority = new Authority(this.#folder, "authority");
    for (const file of [this.#secretFile, this.#addedSecretFile]) {
      execFileSync(ZOOID_SERVER, ["init-secret", file], { stdio: "ignore" });
    }
    for (const server of this.#servers) {
      authority.issue(this.#actual("/etc/zooid/server.pem", server), [`IP:${server.place.peerHost}`]);
    }
    await this.#round.begin();
    await this.#restartAll();
    await this.#configured("Turn a shared secret on");
    await this.#untilProtected("proof");
    await this.#renewed("Renew a shared secret");
    await this.#configured("Turn TLS between servers on");
    await this.#untilProtected("tls");
    await this.#join(authority);
    await this.#configured("Turn TLS between servers off");
    await this.#configured("Turn a shared secret off");
    await this.#restartAll();
    return this.#servers;
  }

  async #restartAll(): Promise<void> {
    plainMs.push(await this.#measure("rolling restart", (server) => server.restart()));
  }

  /** The steps of a change of zoo.cfg. */
  async #configured(heading: string): Promise<void> {
    const steps = documentedSteps("security.md", heading);
    const keys = keysOf(steps);
    for (const [index, lines] of steps.entries()) {
      await this.#untilReady(lines);
      await this.#step(`${heading}, step ${index + 1}`, (server) => this.#configure(server, lines, keys));
    }
  }

  /** The steps of a change of the file of secrets. */
  async #renewed(heading: string): Promise<void> {
    const secrets = new Map([
      ["OLD", readFileSync(this.#secretFile, "utf8").trim()],
      ["NEW", readFileSync(this.#addedSecretFile, "utf8").trim()],
    ]);
    for (const [index, lines] of documentedSteps("security.md", heading).entries()) {
      const text = lines.map((line) => `${secrets.get(line)}\n`).join("");
      await this.#step(`${heading}, step ${index + 1}`, (server) => {
        const file = this.#actual("/etc/zooid/peers.secret", server);
        writeFileSync(file, text);
        chmodSync(file, 0o600);
      });
    }
  }

  async #step(name: string, change: (server: EnsembleServer) => void): Promise<void> {
    const gapMs = await this.#measure(name, async (server) => {
      change(server);
      if (this.#by === "restart") await server.restart();
      else await reloaded(server);
    });
    rounds.gapsMs.push(gapMs);
  }

  async #measure(name: string, change: (server: EnsembleServer) => Promise<void>): Promise<number> {
    const { ensemble, steps } = this.#round;
    const gapMs = await this.#round.gapOf(async () => {
      const leader = await ensemble.untilLeader(this.#servers, DEADLINE_MS);
      for (const server of [...this.#servers.filter((each) => each !== leader), leader]) {
        await change(server);
        await ensemble.untilLevel(DEADLINE_MS, this.#servers);
      }
    });
    steps.push(`${name} ${gapMs.toFixed(0)} ms`);
    return gapMs;
  }

  /** A step that requires something begins when each link has it. */
  async #untilReady(lines: readonly string[]): Promise<void> {
    if (lines.includes("zooid.peerSecretMode=require")) await this.#untilProtected("proof");
    if (lines.includes("sslQuorum=true") && !lines.includes("portUnification=true")) await this.#untilProtected("tls");
  }

  async #untilProtected(by: "proof" | "tls"): Promise<void> {
    for (const server of this.#servers) {
      await until(`links of server ${server.sid} with ${by}`, DEADLINE_MS, async () => {
        const values = await server.monitor();
        const [all, some] = ["all", by].map((key) => Number(values.get(`zk_${key}_zooid_peer_links`)));
        // One for elections to each other server, and at least one to or from the leader.
        return all === some && Number(all) >= SERVER_COUNT;
      });
    }
  }

  /** Writes a step's lines into zoo.cfg, in place of all lines of the settings of its procedure. */
  #configure(server: EnsembleServer, lines: readonly string[], keys: ReadonlySet<string>): void {
    const file = join(server.folder, "zoo.cfg");
    const kept = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "" && !keys.has(keyOf(line)));
    const actual = lines.map((line) => {
      const [, key = "", path = ""] = /^(.*)=(\/etc\/zooid\/.*)$/.exec(line) ?? [];
      return path === "" ? line : `${key}=${this.#actual(path, server)}`;
    });
    writeFileSync(file, `${[...kept, ...actual].join("\n")}\n`);
  }

  /** The documented path's file of a server. */
  #actual(path: string, server: EnsembleServer): string {
    switch (path) {
      case "/etc/zooid/authority.pem":
        return join(this.#folder, "authority.pem");
      case "/etc/zooid/server.pem":
        return join(server.folder, "server.pem");
      case "/etc/zooid/peers.secret":
        return this.#secretFile;
      default:
        throw new Error(`docs/security.md names ${path}, which this tool does not know`);
    }
  }

  get #secretFile(): string {
    return join(this.#folder, "peers.secret");
  }

  get #addedSecretFile(): string {
    return join(this.#folder, "added.secret");
  }

  /** A server that is not listed needs a certificate for the host that it says it is at. */
  async #join(authority: Authority): Promise<void> {
    const [member] = this.#servers;
    const joiner = this.#round.ensemble.servers[SERVER_COUNT];
    if (member === undefined || joiner === undefined) throw new Error("there is a member, and a server that joins");
    const { quorumPort, electionPort, clientPort, clientHost } = joiner.place;
    for (const heading of ["Turn a shared secret on", "Turn TLS between servers on"]) {
      const steps = documentedSteps("security.md", heading);
      this.#configure(joiner, steps.at(-1) ?? [], keysOf(steps));
    }
    const file = join(joiner.folder, "zoo.cfg");
    const own = `server.${joiner.sid}=localhost:${quorumPort}:${electionPort}:observer;${clientHost}:${clientPort}`;
    // Its own certificate is not checked, so that it starts with a wrong one.
    const text = [own, "ssl.quorum.hostnameVerification=false", ""].join("\n");
    writeFileSync(file, readFileSync(file, "utf8") + text);
    const certificate = this.#actual("/etc/zooid/server.pem", joiner);
    authority.issue(certificate, ["DNS:elsewhere.invalid"]);
    joiner.launch();
    const reason = "the certificate names neither";
    await until("a refusal at the joiner", DEADLINE_MS, () => joiner.log().includes(reason));
    await until("a refusal at a member", DEADLINE_MS, () => member.log().includes(reason));
    await joiner.end("SIGTERM");
    authority.issue(certificate, ["DNS:localhost"]);
    joiner.launch();
    await joiner.untilServing(DEADLINE_MS);
    const client = await connect(member.address, { startTimeoutMs: DEADLINE_MS });
    await client.reconfig({ joining: [own] });
    await client.reconfig({ leaving: [joiner.sid] });
    await client.close();
    await joiner.end("SIGTERM");
  }
}

/**
 * Sends SIGHUP, and waits for the line that says what changed. A server knows what another one
 * takes since their last link, so a reload right behind the other one's may be refused: it is asked
 * for again, as an operator would.
 */
async function reloaded(server: EnsembleServer): Promise<void> {
  const before = count(server.log(), RELOADED);
  let refusals = count(server.log(), NOT_RELOADED);
  let repeats = 0;
  server.signal("SIGHUP");
  await until(`server ${server.sid} to reload`, DEADLINE_MS, async () => {
    const log = server.log();
    if (count(log, NOT_RELOADED) > refusals) {
      if (repeats++ === REPEATS_MAX) throw new Error(`server ${server.sid} did not reload`);
      refusals = count(log, NOT_RELOADED);
      await delay(REPEAT_MS);
      server.signal("SIGHUP");
    }
    return count(log, RELOADED) > before;
  });
}

function keyOf(line: string): string {
  return line.slice(0, line.indexOf("="));
}

function keysOf(steps: readonly (readonly string[])[]): ReadonlySet<string> {
  return new Set(steps.flat().map(keyOf));
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

for (let number = 1; number <= options.rounds; number++)
  for (const by of options.by)
    await rounds.play(`round ${number} by ${by}`, (round) => new SecuredRound(round, by).play());
if (rounds.gapsMs.length > 0 && plainMs.length > 0) {
  const [steps, plain] = [quantiles(rounds.gapsMs), quantiles(plainMs)];
  console.log(`longest time without a write in rolling restarts: ${inMs(plain)}`);
  rounds.hasFailed ||= steps.median > plain.median + options.moreMs;
}
rounds.end();
