/** Servers of an ensemble that changes, of Apache ZooKeeper or of ours, and places for seven. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { fourLetterWord, ServerProcess } from "../servers/endpoint.ts";
import { digest } from "../wire.ts";

const PLACES = 7;
const PORTS_PER_SERVER = 3;
const SERVING_DEADLINE_MS = 60_000;
const SUPER_DIGEST = "DigestAuthenticationProvider.superDigest";
/** The operator's credentials, of the scheme `digest`. */
export const SUPER = "super:secret";

export interface ReconfigEnsembleOptions {
  readonly kind: "apache" | "zooid";
  /** The parent of the servers' folders; the caller deletes it. */
  readonly folder: string;
  /** The folder of Apache's jars. */
  readonly jars?: string;
  /** Further lines of every zoo.cfg. */
  readonly settings?: readonly string[];
}

export class ReconfigEnsemble implements AsyncDisposable {
  readonly #options: ReconfigEnsembleOptions;
  readonly #ports: readonly number[];
  readonly #servers = new Map<number, ServerProcess>();

  static async create(options: ReconfigEnsembleOptions): Promise<ReconfigEnsemble> {
    return new ReconfigEnsemble(options, await freePorts(PLACES * PORTS_PER_SERVER));
  }

  private constructor(options: ReconfigEnsembleOptions, ports: readonly number[]) {
    this.#options = options;
    this.#ports = ports;
  }

  /** `127.0.0.1:PORT`, for clients. */
  address(sid: number): string {
    return `127.0.0.1:${this.#portOf(sid, 2)}`;
  }

  /** `server.N=…`, with its role and without its client port. */
  bare(sid: number, role = ":participant"): string {
    return `server.${sid}=127.0.0.1:${this.#portOf(sid, 0)}:${this.#portOf(sid, 1)}${role}`;
  }

  /** The same with its client port. */
  line(sid: number, role?: string): string {
    return `${this.bare(sid, role)};${this.address(sid)}`;
  }

  server(sid: number): ServerProcess {
    const server = this.#servers.get(sid);
    if (server === undefined) throw new Error(`server ${sid} was not launched`);
    return server;
  }

  /** Starts the process of a new server that lists these. */
  async launch(sid: number, listed: readonly string[]): Promise<ServerProcess> {
    const { kind, folder, jars, settings = [] } = this.#options;
    const own = join(folder, `${kind}-${sid}`);
    mkdirSync(own);
    const superDigest = `${SUPER_DIGEST}=${digest(SUPER)}`;
    const all = [...listed, "initLimit=10", "syncLimit=5", "reconfigEnabled=true", superDigest, ...settings];
    const server = new ServerProcess({
      kind,
      folder: own,
      settings: all,
      sid,
      port: this.#portOf(sid, 2),
      ...(jars === undefined ? {} : { jars, properties: [`-Dzookeeper.${superDigest}`] }),
    });
    this.#servers.set(sid, server);
    await server.launch();
    return server;
  }

  /** The role of a server, once it serves: `leader`, `follower`, `observer`. */
  async mode(sid: number): Promise<string> {
    const { port } = this.server(sid);
    const deadline = Date.now() + SERVING_DEADLINE_MS;
    for (;;) {
      const [, mode] = /^Mode: (\S+)/m.exec(await fourLetterWord(port, "srvr")) ?? [];
      if (mode !== undefined) return mode;
      if (Date.now() > deadline) throw new Error(`server ${sid} does not serve:\n${this.server(sid).logTail()}`);
      await delay(50);
    }
  }

  /** Ports, and versions in the order of their appearance, are replaced by words. */
  comparable(lines: readonly string[]): readonly string[] {
    const versions: string[] = [];
    return lines.map((text) =>
      this.#ports
        .reduce(
          (said, port, i) => said.replaceAll(`:${port}`, `:P${Math.floor(i / PORTS_PER_SERVER) + 1}.${i % 3}`),
          text,
        )
        .replace(/version=([0-9a-f]+)/g, (_, version: string) => {
          if (!versions.includes(version)) versions.push(version);
          return `version=#${versions.indexOf(version)}`;
        })
        .replace(/zxid \S{1,40} |now-\d+|\(c [^()]*\)/g, ""),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
  }

  #portOf(sid: number, which: number): number {
    return this.#ports[(sid - 1) * PORTS_PER_SERVER + which] ?? 0;
  }
}
