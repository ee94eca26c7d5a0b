import { CreateMode, OpCode } from "@zooid/model";
import { create } from "@zooid/wire/testing/raw-client";
import { type Attack, codesText, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

/** Below the limit of a path. */
const LONG_NAME_BYTES = 16_000;
const LONG_COUNT = 4500;

/** Sessions whose end is a great amount of work. */
export const SESSION_ATTACKS: readonly Attack[] = [
  ...(["standalone", "ensemble"] as const).map(
    (target): Attack => ({
      name: `long-ephemerals-${target}`,
      sends: "creates ephemerals whose paths are 72 MB, and closes their session",
      ...(target === "ensemble" ? { target } : {}),
      async prepare({ port }) {
        return async () => {
          await using attacker = await Attacker.open({ port });
          const name = "e".repeat(LONG_NAME_BYTES);
          await attacker.askAll(
            range(LONG_COUNT, (i) => attacker.frame(OpCode.CREATE, create(`/${i}${name}`, "", CreateMode.EPHEMERAL))),
          );
          await attacker.ask(OpCode.CLOSE_SESSION);
          return codesText(attacker.codes);
        };
      },
    }),
  ),
  {
    name: "many-ephemerals",
    sends: "creates 70,000 ephemerals in one session, and closes it",
    target: "ensemble",
    async prepare({ port }) {
      const attacker = await Attacker.open({ port });
      await attacker.askAll(
        range(70_000, (i) => attacker.frame(OpCode.CREATE, create(`/e-${i}`, "", CreateMode.EPHEMERAL))),
      );
      return async () => {
        await attacker.ask(OpCode.CLOSE_SESSION);
        await attacker[Symbol.asyncDispose]();
        return codesText(attacker.codes);
      };
    },
  },
  {
    name: "sessions-by-the-thousand",
    sends: "opens 5,000 sessions with an ephemeral each, and drops all connections at once",
    async prepare({ port }) {
      const attackers: Attacker[] = [];
      for (let i = 0; i < 5000; i++) {
        const attacker = await Attacker.open({ port, timeoutMs: 4000 });
        attackers.push(attacker);
        await attacker.ask(OpCode.CREATE, create(`/s-${i}`, "", CreateMode.EPHEMERAL));
      }
      return async () => {
        await Promise.all(attackers.map((attacker) => attacker[Symbol.asyncDispose]()));
        await using probe = await Attacker.open({ port });
        // All have expired when the last one's node is gone.
        while ((await probe.ask(OpCode.EXISTS, create("/s-4999"))) === 0);
        return "all expired";
      };
    },
  },
];
