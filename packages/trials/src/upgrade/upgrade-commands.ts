/** The commands of docs/operations.md for upgrades, as an operator types them. */
import { execFile } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@zooid/wire/testing/free-ports";
import { documentedLines } from "../faults/documented-commands.ts";
import { type Ensemble, type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { DEADLINE_MS } from "../faults/rolling-rounds.ts";

const AUTH = "digest super:test";
const HEADERS = { authorization: AUTH };
const PROGRAM = "zooid-cli ";
const ADMIN = "http://zk-1:8080";

export interface CommandOutcome {
  readonly status: number;
  readonly output: string;
}

/** The admin ports of an ensemble's servers: one port, at an address of each. */
export class UpgradeCommands {
  readonly settings: readonly string[];
  readonly #port: number;
  readonly #cli: string;

  private constructor(port: number, cli: string) {
    this.#port = port;
    this.#cli = cli;
    this.settings = [
      "admin.enableServer=true",
      `admin.serverPort=${port}`,
      "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
    ];
  }

  /** @param cli the program of the version that is upgraded to */
  static async atFreePort(cli: string): Promise<UpgradeCommands> {
    return new UpgradeCommands(await freePort(), cli);
  }

  /** Gives each server its admin port; none is running yet. */
  configure({ servers }: Ensemble): void {
    for (const { folder, host } of servers) {
      appendFileSync(join(folder, "zoo.cfg"), `\nadmin.serverAddress=${host}\n`);
    }
  }

  /** The page's commands: for the state, for a look at what would be done, and for the raise. */
  static documented(): readonly string[] {
    return documentedLines("operations.md", "Upgrades");
  }

  /** Runs a line of the page, asked of one server. */
  async run(line: string, { host }: EnsembleServer): Promise<CommandOutcome> {
    if (!line.startsWith(PROGRAM) || !line.includes(ADMIN)) throw new Error(`not a command for an admin port: ${line}`);
    const words = line.slice(PROGRAM.length).replace(ADMIN, `http://${host}:${this.#port}`).split(" ");
    const { promise, resolve } = Promise.withResolvers<CommandOutcome>();
    execFile(this.#cli, [...words, "--auth", AUTH], (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ status, output: (stdout + stderr).trim() });
    });
    return await promise;
  }

  /** The answer of one server to `upgrade_status`. */
  async status(server: EnsembleServer): Promise<UpgradeStatus> {
    return (await (await this.#get(server, "upgrade_status")).json()) as UpgradeStatus;
  }

  /** Reads a server's state as a snapshot, so that its state file stands where its log ends. */
  async checkpoint(server: EnsembleServer): Promise<void> {
    const response = await this.#get(server, "snapshot");
    const { length } = await response.bytes();
    if (!response.ok || length === 0) throw new Error(`a snapshot ended with ${response.status}`);
  }

  /** Asks a leader to raise the level, and does not wait for the answer. */
  raise(server: EnsembleServer): Promise<unknown> {
    // The leader may be killed while it answers.
    return this.#post(server, "finalize_upgrade").catch(() => undefined);
  }

  /** Asks a leader to transfer its leadership to a server. */
  async transfer(leader: EnsembleServer, { sid }: EnsembleServer): Promise<void> {
    const response = await this.#post(leader, `transfer_leadership?to=${sid}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`a transfer to server ${sid} ended with ${response.status}: ${text}`);
  }

  #post({ host }: EnsembleServer, command: string): Promise<Response> {
    return fetch(`http://${host}:${this.#port}/commands/${command}`, { method: "POST", headers: HEADERS });
  }

  /** Asks again where there is no answer: a connection that was kept ends with its server. */
  async #get(server: EnsembleServer, command: string): Promise<Response> {
    const url = `http://${server.host}:${this.#port}/commands/${command}`;
    const ask = (): Promise<Response | undefined> => fetch(url, { headers: HEADERS }).catch(() => undefined);
    return await until(`an answer of ${url}`, DEADLINE_MS, ask, () => server.logTail());
  }
}

export interface UpgradeStatus {
  readonly level: number;
  readonly next_level: number | null;
  readonly raising_level: number | null;
  readonly formats: { readonly log: number; readonly state: number };
}
