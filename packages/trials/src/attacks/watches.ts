import { OpCode } from "@zooid/model";
import { create, read, setData, versioned } from "@zooid/wire/testing/raw-client";
import { type Attack, codesText, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

function* watchFrames(attacker: Attacker, count: number, prefix: string): Generator<Buffer> {
  for (let i = 0; i < count; i++) yield attacker.frame(OpCode.EXISTS, read(`${prefix}${i}`, true));
}

export const WATCH_ATTACKS: readonly Attack[] = [
  {
    name: "watches-by-the-million",
    sends: "900,000 watches by each of three connections, which are then closed at once",
    async prepare({ port }) {
      return async () => {
        const attackers = await Promise.all(range(3, () => Attacker.open({ port, timeoutMs: 40_000 })));
        await Promise.all(
          attackers.map(async (attacker, i) => {
            await attacker.flood(watchFrames(attacker, 900_000, `/w${i}/`));
            await attacker.untilAnswers(900_000);
          }),
        );
        const answers = attackers.map(({ answerCount }) => answerCount).join(", ");
        await Promise.all(attackers.map((attacker) => attacker[Symbol.asyncDispose]()));
        return `${answers} answers`;
      };
    },
  },
  {
    name: "one-node-many-watches",
    sends: "5,000 connections hold a persistent watch on one node, which is written 200 times",
    async prepare({ port }) {
      await using owner = await Attacker.open({ port });
      await owner.ask(OpCode.CREATE, create("/hot"));
      const attackers: Attacker[] = [];
      for (let i = 0; i < 5000; i++) {
        const attacker = await Attacker.open({ port, timeoutMs: 40_000 });
        attackers.push(attacker);
        await attacker.ask(OpCode.ADD_WATCH, versioned("/hot", 0));
      }
      return async () => {
        await using writer = await Attacker.open({ port });
        await writer.askAll(range(200, (i) => writer.frame(OpCode.SET_DATA, setData("/hot", String(i)))));
        await Promise.all(attackers.map((attacker) => attacker[Symbol.asyncDispose]()));
        return codesText(writer.codes);
      };
    },
  },
  {
    name: "set-watches",
    sends: "200 × setWatches of 40,000 absent paths",
    async attack(attacker) {
      const paths = range(40_000, (i) => `/absent/${i}`);
      const body = (writer: Parameters<Parameters<typeof attacker.frame>[1] & object>[0]): void => {
        writer.zxid(0);
        for (const list of [paths, [], []]) {
          writer.int(list.length);
          for (const path of list) writer.text(path);
        }
      };
      await attacker.askAll(range(200, () => attacker.frame(OpCode.SET_WATCHES, body)));
    },
  },
  {
    name: "pending-syncs",
    sends: "800 syncs of 1 MB paths to a leader whose followers are stopped",
    target: "ensemble",
    at: "leader",
    allowsWrites: false,
    async prepare({ members, port }) {
      const roles = await Promise.all(members.map((member) => member.role()));
      const leader = roles.indexOf("leader");
      return async () => {
        const followers = members.filter((_, i) => i !== leader);
        await using attacker = await Attacker.open({ port, timeoutMs: 40_000 });
        for (const follower of followers) follower.signal("SIGSTOP");
        try {
          const path = `/${"s".repeat(1_000_000)}`;
          const frames = function* (): Generator<Buffer> {
            for (let i = 0; i < 800; i++) yield attacker.frame(OpCode.SYNC, (writer) => writer.text(path));
          };
          const sent = attacker.flood(frames()).then(() => "all taken");
          const { promise: later, resolve } = Promise.withResolvers<string>();
          const timer = setTimeout(() => resolve("held back"), 4000);
          const outcome = await Promise.race([sent, later]);
          clearTimeout(timer);
          return attacker.isClosed ? "closed" : outcome;
        } finally {
          for (const follower of followers) follower.signal("SIGCONT");
        }
      };
    },
  },
];
