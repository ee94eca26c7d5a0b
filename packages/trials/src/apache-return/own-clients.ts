import { equal } from "node:assert/strict";
import { type Client, connect } from "@zooid/client";
import { installKazoo, kazooProgram } from "@zooid/conformance/internal/clients";
import { ReportingClient } from "../apache-import/reporting-client.ts";

/** Clients whose sessions a Zooid ensemble has made: Apache does not know their passwords. */
export class OwnClients implements Disposable {
  readonly #clients: readonly Client[];
  readonly #lost: number[];
  readonly #kazoo: ReportingClient;
  /** Names of their ephemeral nodes. */
  readonly names: readonly string[];

  static async start(hosts: string, folder: string, count: number, sessionMs: number): Promise<OwnClients> {
    const clients = await Promise.all(
      Array.from({ length: count }, () => connect(hosts, { sessionTimeoutMs: sessionMs })),
    );
    const nodes: string[] = [];
    for (const zk of clients) nodes.push((await zk.create(`${folder}/n-`, "", { mode: "ephemeral-sequential" })).path);
    const kazoo = new ReportingClient([installKazoo(), kazooProgram("mover.py"), hosts, `${sessionMs / 1000}`, folder]);
    const { own } = await kazoo.first();
    return new OwnClients(
      clients,
      kazoo,
      [...nodes, own].map((path) => path.slice(folder.length + 1)),
    );
  }

  private constructor(clients: readonly Client[], kazoo: ReportingClient, names: readonly string[]) {
    this.#clients = clients;
    this.#kazoo = kazoo;
    this.names = names;
    this.#lost = clients.map(() => 0);
    clients.forEach((zk, i) => {
      zk.state$.subscribe(({ kind }) => {
        if (kind === "lost") this.#lost[i] = (this.#lost[i] ?? 0) + 1;
      });
    });
  }

  get count(): number {
    return this.names.length;
  }

  /** How often each has lost its session, once all are served. */
  async checkLost(times: number): Promise<void> {
    for (const zk of this.#clients) await zk.exists("/");
    const { lost } = await this.#kazoo.ask();
    for (const found of [...this.#lost, lost])
      equal(found, times, "sessions of Zooid's end with the return, and not before");
  }

  /** Ends their sessions, where a server takes that. */
  async close(): Promise<void> {
    await Promise.all([this.#kazoo.end(), ...this.#clients.map((zk) => zk.close())]);
  }

  [Symbol.dispose](): void {
    this.#kazoo[Symbol.dispose]();
    for (const zk of this.#clients) zk.disconnect();
  }
}
