import { CreateMode, OpCode } from "@zooid/model";
import { create, multiBody, read, setData, versioned } from "@zooid/wire/testing/raw-client";
import { ANYONE, type Attack, chunks, codesText, createWith, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

/** Creates below a path, a thousand to a multi. */
async function fill(owner: Attacker, prefix: string, count: number, mode: number): Promise<void> {
  const parts = range(count, (i) => [OpCode.CREATE, create(`${prefix}${i}`, "", mode)] as const);
  for (const group of chunks(parts, 1000)) await owner.ask(OpCode.MULTI, multiBody(...group));
}

/** Short requests whose answers are long, or whose answers are short after long work. */
export const READ_ATTACKS: readonly Attack[] = [
  {
    name: "ephemerals-of-no-match",
    sends: "2,000 × getEphemerals of a prefix that none of a session's 50,000 ephemerals has",
    async prepare({ port }) {
      const attacker = await Attacker.open({ port });
      await fill(attacker, "/ephemeral-", 50_000, CreateMode.EPHEMERAL);
      const before = attacker.answerCount;
      return async () => {
        attacker.codes.clear();
        await attacker.flood(
          range(2000, () => attacker.frame(OpCode.GET_EPHEMERALS, (writer) => writer.text("/nomatch"))),
        );
        await attacker.untilAnswers(before + 2000);
        return codesText(attacker.codes);
      };
    },
  },
  {
    name: "listings-in-a-multi-read",
    sends: "multiReads of 1,500 listings of 50,000 children",
    async setUp(owner) {
      await owner.ask(OpCode.CREATE, create("/wide"));
      await fill(owner, "/wide/c", 50_000, CreateMode.PERSISTENT);
    },
    async attack(attacker) {
      const parts = range(1500, () => [OpCode.GET_CHILDREN, read("/wide")] as const);
      await attacker.askAll(range(20, () => attacker.frame(OpCode.MULTI_READ, multiBody(...parts))));
    },
  },
  {
    name: "listings",
    sends: "1,000 pipelined listings of 100,000 children by each of 8 connections",
    async prepare({ port }) {
      await using owner = await Attacker.open({ port });
      await owner.ask(OpCode.CREATE, create("/wide"));
      await fill(owner, "/wide/c", 100_000, CreateMode.PERSISTENT);
      return async () => {
        const attackers = await Promise.all(range(8, () => Attacker.open({ port })));
        await Promise.all(
          attackers.map((attacker) =>
            attacker.askAll(range(100, () => attacker.frame(OpCode.GET_CHILDREN2, read("/wide")))),
          ),
        );
        for (const attacker of attackers) await attacker[Symbol.asyncDispose]();
        return codesText(attackers[0]?.codes ?? new Map());
      };
    },
  },
  {
    name: "big-reads-behind-a-write",
    sends: "one setData and 100 getData of 1 MB in one go, reading all the time: all must be answered",
    async setUp(owner) {
      await owner.ask(OpCode.CREATE, createWith("/big", ANYONE, "b".repeat(1_000_000)));
      await owner.ask(OpCode.CREATE, create("/small"));
    },
    async attack(attacker) {
      for (let round = 0; round < 5; round++) {
        await attacker.askAll([
          attacker.frame(OpCode.SET_DATA, setData("/small", "x")),
          ...range(100, () => attacker.frame(OpCode.GET_DATA, read("/big"))),
        ]);
      }
      if (attacker.answerCount !== 505) throw new Error(`${attacker.answerCount} of 505 requests were answered`);
    },
  },
  {
    name: "dear-reads-of-many-connections",
    sends: "multiReads of 100 paths of 300 names by each of 50 connections of one address for 5 s",
    async prepare({ port }) {
      return async () => {
        const localAddress = "127.0.0.3";
        const attackers = await Promise.all(range(50, () => Attacker.open({ port, timeoutMs: 40_000, localAddress })));
        const endMs = performance.now() + 5000;
        const parts = range(100, () => [OpCode.GET_DATA, read("/x".repeat(300))] as const);
        await Promise.all(
          attackers.map(async (attacker) => {
            while (performance.now() < endMs && !attacker.isClosed) {
              await attacker.askAll(range(4, () => attacker.frame(OpCode.MULTI_READ, multiBody(...parts))));
            }
          }),
        );
        const answerCount = attackers.reduce((sum, attacker) => sum + attacker.answerCount, 0);
        for (const attacker of attackers) await attacker[Symbol.asyncDispose]();
        return `${answerCount} answers`;
      };
    },
  },
  {
    name: "pipelined-multis",
    sends: "multis of 19,000 setData of one node, pipelined by each of 8 connections for 5 s",
    async prepare({ port }) {
      return async () => {
        await using owner = await Attacker.open({ port });
        await owner.ask(OpCode.CREATE, create("/m"));
        const attackers = await Promise.all(range(8, () => Attacker.open({ port, timeoutMs: 40_000 })));
        const endMs = performance.now() + 5000;
        const parts = range(19_000, () => [OpCode.SET_DATA, setData("/m", "")] as const);
        await Promise.all(
          attackers.map(async (attacker) => {
            const frames = function* (): Generator<Buffer> {
              while (performance.now() < endMs) yield attacker.frame(OpCode.MULTI, multiBody(...parts));
            };
            await attacker.flood(frames());
          }),
        );
        for (const attacker of attackers) await attacker[Symbol.asyncDispose]();
        return codesText(attackers[0]?.codes ?? new Map());
      };
    },
  },
  {
    name: "multis-of-everything",
    sends: "20 multis of 15,000 creates, and as many deletes",
    target: "ensemble",
    async attack(attacker) {
      for (let round = 0; round < 20; round++) {
        const parts = range(15_000, (i) => [OpCode.CREATE, create(`/m-${round}-${i}`)] as const);
        await attacker.ask(OpCode.MULTI, multiBody(...parts));
      }
      for (let round = 0; round < 20; round++) {
        const parts = range(15_000, (i) => [OpCode.DELETE, versioned(`/m-${round}-${i}`)] as const);
        await attacker.ask(OpCode.MULTI, multiBody(...parts));
      }
    },
  },
];
