import { setTimeout as delay } from "node:timers/promises";
import type { PeerProcess } from "../servers/peer-process.ts";
import { type EnsembleServer, led } from "./system-ensemble.ts";

const SUCCESSOR_DEADLINE_MS = 60_000;
const POLL_MS = 200;
/** The first word of a client's answer to a command that has failed. */
const FAILED = "failed";

/**
 * The steps of a system's scenario, commands to its client and crashes, each a line of a
 * transcript.
 */
export class SystemScript {
  readonly lines: string[] = [];
  readonly #client: PeerProcess;
  readonly #servers: readonly EnsembleServer[];

  constructor(client: PeerProcess, servers: readonly EnsembleServer[]) {
    this.#client = client;
    this.#servers = servers;
  }

  /** Sends a command; its absolute paths are not in the transcript. @throws if it has failed */
  async ask(...words: readonly unknown[]): Promise<void> {
    const answer = await this.#client.ask(...words);
    if (answer.startsWith(FAILED)) throw new Error(`${words.join(" ")} ${answer}`);
    const shown = words.filter((word) => !String(word).startsWith("/"));
    this.lines.push(`${shown.join(" ")}: ${answer}`);
  }

  /**
   * @param before what is done while a new leader is elected
   * @param after what is done while the two others serve
   */
  async killLeader(before: () => Promise<void>, after: () => Promise<void>): Promise<void> {
    this.lines.push("the ensemble's leader dies");
    const leader = await led(this.#servers);
    await leader.kill();
    await before();
    await led(this.#servers.filter((server) => server !== leader));
    await after();
    await leader.launch();
    await led(this.#servers);
  }

  /**
   * Kills the process that has a role, and waits until another one has it.
   *
   * @param role the client's command that names the process; messages call it so, too
   * @returns the process, to be started again
   */
  async killHolder<T extends { end(): Promise<void> }>(
    role: string,
    find: (name: string) => T | undefined,
  ): Promise<T> {
    const before = await this.#client.ask(role);
    const holder = find(before);
    if (holder === undefined) throw new Error(`no process is the ${role}: ${before}`);
    await holder.end();
    const deadline = performance.now() + SUCCESSOR_DEADLINE_MS;
    for (let after = before; after === before || after.startsWith(FAILED); after = await this.#client.ask(role)) {
      if (performance.now() > deadline) throw new Error(`${before} died, and is still the ${role}`);
      await delay(POLL_MS);
    }
    return holder;
  }

  /** @param meanwhile what is done while one of them is stopped */
  async restartEach(meanwhile: () => Promise<void>): Promise<void> {
    for (const [i, server] of this.#servers.entries()) {
      this.lines.push(`server ${i + 1} of the ensemble restarts`);
      await server.stop();
      await meanwhile();
      await server.launch();
      await led(this.#servers);
    }
  }
}
