import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CreateMode, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { create, multiBody, read, setData, versioned } from "@zooid/wire/testing/raw-client";
import { ANYONE, ATTACK_MS, type Attack, again, codesText, createWith, plainConnection, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const WORDS = ["mntr", "cons", "wchp", "wchc", "dump", "stat", "conf"];
const WORDS_AT_A_TIME = 100;
const REAPABLE_PER_MULTI = 1000;
const REAPABLE_MULTIS = 20;
const TTL_MODE = 5;
/** As Apache's audit log has them: one file and ten before it. */
const AUDIT_BYTES_MAX = 12 * 10 * 1024 * 1024;
const LOG_BYTES_MAX = 4 * 1024 * 1024;

/** Much of what is cheap to ask for. */
export const FLOOD_ATTACKS: readonly Attack[] = [
  {
    name: "four-letter-words",
    sends: `four-letter words that answer with the state, ${WORDS_AT_A_TIME} connections at a time, while there are 100,000 watches`,
    settings: () => ["4lw.commands.whitelist=*"],
    async prepare({ port }) {
      const owner = await Attacker.open({ port, timeoutMs: 40_000 });
      await owner.askAll(range(100_000, (i) => owner.frame(OpCode.EXISTS, read(`/watched/${i}`, true))));
      return async () => {
        const count = await again(WORDS_AT_A_TIME, async (lane) => {
          const { socket, closed } = plainConnection(port, `127.4.0.${1 + (lane % 8)}`);
          socket.resume();
          socket.end(WORDS[lane % WORDS.length] ?? "");
          await Promise.race([closed, delay(ATTACK_MS)]);
          socket.destroy();
        });
        await owner[Symbol.asyncDispose]();
        return `${count} words`;
      };
    },
  },
  {
    name: "containers-and-ttl-nodes",
    sends: `${(REAPABLE_PER_MULTI * REAPABLE_MULTIS).toLocaleString("en")} containers that had a child, and as many nodes that live for a millisecond`,
    settings: () => [
      "extendedTypesEnabled=true",
      "znode.container.checkIntervalMs=100",
      "znode.container.maxPerMinute=1000000",
    ],
    async prepare({ port }) {
      return async () => {
        await using attacker = await Attacker.open({ port, timeoutMs: 40_000 });
        for (let group = 0; group < REAPABLE_MULTIS; group++) {
          const names = range(REAPABLE_PER_MULTI, (i) => `${group}-${i}`);
          const containers = names.flatMap((name) => [
            [OpCode.CREATE_CONTAINER, createWith(`/container-${name}`, ANYONE, "", CreateMode.CONTAINER)] as const,
            [OpCode.CREATE, create(`/container-${name}/x`)] as const,
            [OpCode.DELETE, versioned(`/container-${name}/x`)] as const,
          ]);
          await attacker.ask(OpCode.MULTI, multiBody(...containers));
          const ttl = (name: string) => (writer: JuteWriter) => {
            createWith(`/ttl-${name}`, ANYONE, "", TTL_MODE)(writer);
            writer.long(0, 1);
          };
          await attacker.ask(OpCode.MULTI, multiBody(...names.map((name) => [OpCode.CREATE_TTL, ttl(name)] as const)));
        }
        return codesText(attacker.codes);
      };
    },
  },
  {
    name: "local-sessions-that-upgrade",
    sends: "2,000 local sessions at a follower that become global by an ephemeral, and end",
    target: "ensemble",
    settings: () => ["localSessionsEnabled=true", "localSessionsUpgradingEnabled=true"],
    async prepare({ port }) {
      return async () => {
        let done = 0;
        await Promise.all(
          range(40, async (lane) => {
            for (let i = 0; i < 50; i++, done++) {
              const attacker = await Attacker.open({ port, localAddress: `127.5.0.${1 + lane}` });
              const frames = range(5, (n) =>
                attacker.frame(OpCode.CREATE, create(`/up-${lane}-${i}-${n}`, "", CreateMode.EPHEMERAL)),
              );
              await attacker.askAll(frames);
              if (i % 2 === 0) await attacker.ask(OpCode.CLOSE_SESSION);
              await attacker[Symbol.asyncDispose]();
            }
          }),
        );
        return `${done} sessions`;
      };
    },
  },
  {
    name: "logs-that-grow",
    sends: "writes with long paths as fast as they are taken, while each is in the audit log and each is slow",
    settings: (folder) => [
      "audit.enable=true",
      `zooid.audit.file=${join(folder, "audit.log")}`,
      "zooid.slowRequestMs=1",
    ],
    async prepare(target) {
      return async () => {
        const { port } = target;
        await using attacker = await Attacker.open({ port, timeoutMs: 40_000 });
        const long = `/${"p".repeat(10_000)}`;
        await attacker.ask(OpCode.CREATE, create(long));
        const endMs = performance.now() + ATTACK_MS;
        let count = 0;
        for (; performance.now() < endMs && !attacker.isClosed; count += 100) {
          await attacker.askAll(range(100, () => attacker.frame(OpCode.SET_DATA, setData(long, "x"))));
        }
        const logBytes = target.logs().join("").length;
        const auditBytes = auditBytesOf(target);
        if (logBytes > LOG_BYTES_MAX) throw new Error(`the log has ${logBytes} bytes`);
        if (auditBytes > AUDIT_BYTES_MAX) throw new Error(`the audit log has ${auditBytes} bytes`);
        return `${count} writes, ${logBytes} bytes of log, ${auditBytes} bytes of audit log`;
      };
    },
  },
];

/** The bytes of all files of the audit log, whose place the server's configuration names. */
function auditBytesOf({ folder }: { readonly folder: string }): number {
  return readdirSync(folder)
    .filter((name) => name.startsWith("audit.log"))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
