import { FaultyWay } from "../faults/faulty-way.ts";

/** The ways from the follower to the servers' quorum ports. */
export class QuorumWays implements AsyncDisposable {
  readonly #ways: readonly FaultyWay[];

  private constructor(ways: readonly FaultyWay[]) {
    this.#ways = ways;
  }

  static async to(ports: readonly number[]): Promise<QuorumWays> {
    const ways: FaultyWay[] = [];
    for (const port of ports) ways.push(await FaultyWay.to({ host: "127.0.0.1", port }));
    const all = new QuorumWays(ways);
    await all.become("open");
    return all;
  }

  get hosts(): string {
    return this.#ways.map(({ port }) => `127.0.0.1:${port}`).join(",");
  }

  async become(state: "open" | "refused"): Promise<void> {
    await Promise.all(this.#ways.map((way) => way.become(state)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#ways.map((way) => way[Symbol.asyncDispose]()));
  }
}
