import type { HistoryAnswer, HistoryQuery } from "@zooid/model";
import { expect, test } from "vitest";
import { HistoryTurns } from "./history-turns.ts";

const NODE: HistoryQuery = { kind: "node", path: new Uint8Array(), at: { timeMs: 1 } };
const ANSWER: HistoryAnswer = { kind: "no-node" };

/** A history whose questions take the time that is set, and are answered by hand. */
class HandAnswered {
  nowMs = 0;
  readonly answers: string[] = [];
  readonly closed = new Set<string>();
  readonly #names: string[] = [];
  readonly #queries: HistoryQuery[] = [];
  #asked = "";
  #answer: (answer: HistoryAnswer) => void = () => {};
  readonly turns = new HistoryTurns({
    now: () => this.nowMs,
    proxiesShare: 1 / 4,
    ask: (query) => {
      this.#asked = this.#names.find((_, serial) => this.#queries[serial] === query) ?? "";
      const { promise, resolve } = Promise.withResolvers<HistoryAnswer>();
      this.#answer = resolve;
      return promise;
    },
    answered: (serial, { kind }) => this.answers.push(`${this.#names[serial]} ${kind}`),
  });

  /** The first letter is the address; each connection of a proxy, `p`, has a share of its own. */
  ask(...names: readonly string[]): void {
    for (const name of names) {
      const { closed } = this;
      const isProxied = name.startsWith("p");
      const asker = {
        share: isProxied ? name : name.charAt(0),
        isProxied,
        get isOpen(): boolean {
          return !closed.has(name);
        },
      };
      const query: HistoryQuery = name.endsWith("'") ? { kind: "acls", nodes: [] } : { ...NODE };
      this.#queries.push(query);
      this.turns.read(this.#names.push(name) - 1, query, asker);
    }
  }

  /** Answers all that is asked, each after a time. */
  async answerAll(ms: (name: string) => number = () => 0.1): Promise<string> {
    for (let left = -1; left !== this.answers.length; ) {
      left = this.answers.length;
      this.nowMs += ms(this.#asked);
      this.#answer(ANSWER);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.answers.map((answer) => answer.replace(" no-node", "")).join(" ");
  }
}

test("questions of one address are answered in their order, those of several in turns", async () => {
  const history = new HandAnswered();
  history.ask("a1", "a2", "a3", "a4", "b1", "c1", "b2");
  expect(history.turns.count).toBe(6);
  expect(await history.answerAll()).toBe("a1 a2 b1 c1 a3 b2 a4");
  expect(history.turns.count).toBe(0);
  history.ask("a5");
  expect(await history.answerAll()).toContain("a5");
});

test("an address whose questions take long lets another one go first", async () => {
  const history = new HandAnswered();
  history.ask("a1", "a2", "b1", "b2", "b3", "b4", "a3");
  // Each turn of another address pays for some of it.
  expect(await history.answerAll((name) => (name.startsWith("a") ? 1500 : 0.1))).toBe("a1 b1 b2 b3 b4 a2 a3");
});

test("connections of proxies have a share together, however many they are", async () => {
  const history = new HandAnswered();
  history.ask("a0", ...Array.from({ length: 30 }, (_, i) => `p${i}`), "a1", "b1", "a2", "b2", "a3", "b3");
  const order = (await history.answerAll()).split(" ");
  // One of four is a proxy's.
  expect(order.slice(1, 9).filter((name) => name.startsWith("p"))).toHaveLength(2);
});

test("the question of a connection that is gone is not read for", async () => {
  const history = new HandAnswered();
  history.ask("a1", "a2", "b1");
  history.closed.add("a2");
  expect(await history.answerAll()).toBe("a1 a2 failed b1");
});

test("what a page needs that was read goes before other questions", async () => {
  const history = new HandAnswered();
  history.ask("a1", "b1", "c1", "b1'", "c2");
  expect(await history.answerAll()).toBe("a1 b1' b1 c1 c2");
});
