import { setTimeout as delay } from "node:timers/promises";
import { OpCode } from "@zooid/model";
import { read } from "@zooid/wire/testing/raw-client";
import { until } from "../faults/ensemble-servers.ts";
import { ATTACK_MS, type Attack, again, plainConnection, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";
import type { Target } from "./target.ts";

const WATCHES = 600_000;
const GROWING = ["watches", "watches_by_path", "connections", "dump", "stats", "monitor"];
const OWN_ADMIN = ["admin.enableServer=true", "admin.serverAddress=127.0.0.1", "admin.serverPort=0"];

/** The address of the admin port, which the server's log names a moment after it serves. */
function adminUrlOf(target: Target): Promise<string> {
  return until(
    "a line that names the admin port",
    10_000,
    () => /http:\/\/127\.0\.0\.1:\d+/.exec(target.logs().join("\n"))?.[0],
  );
}

/** Requests to the HTTP port for operators, by anybody who reaches it. */
export const OPERATOR_PORT_ATTACKS: readonly Attack[] = [
  {
    name: "long-admin-answers",
    sends: `GETs of ${GROWING.join(", ")}, /metrics and the console's API, while there are ${WATCHES} watches`,
    settings: () => [...OWN_ADMIN, "4lw.commands.whitelist=*"],
    async prepare(target) {
      const { port } = target;
      const owners = await Promise.all(range(6, () => Attacker.open({ port, timeoutMs: 40_000 })));
      for (const [i, owner] of owners.entries()) {
        const frames = function* (): Generator<Buffer> {
          for (let at = 0; at < WATCHES / 6; at++) yield owner.frame(OpCode.EXISTS, read(`/watched/${i}/${at}`, true));
        };
        await owner.flood(frames());
        await owner.untilAnswers(WATCHES / 6);
      }
      const url = await adminUrlOf(target);
      return async () => {
        const times: string[] = [];
        const paths = [
          ...GROWING.map((name) => `/commands/${name}`),
          ...["/metrics", "/api/v1/session", "/api/v1/sessions", "/api/v1/hot-spots", "/api/v1/words?word=wchp"],
        ];
        for (const path of paths) {
          const startMs = performance.now();
          const answer = await fetch(url + path);
          const { byteLength } = await answer.arrayBuffer();
          times.push(`${path} ${answer.status}, ${byteLength} bytes in ${Math.round(performance.now() - startMs)} ms`);
        }
        for (const owner of owners) await owner[Symbol.asyncDispose]();
        return times.join("; ");
      };
    },
  },
  {
    name: "pipelined-requests",
    sends:
      "2,000 GETs of /metrics at once on each of 40 connections of 4 addresses to the admin port, whose answers are not taken; opened again when closed",
    settings: () => OWN_ADMIN,
    async prepare(target) {
      const { port } = new URL(await adminUrlOf(target));
      const requests = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2000);
      return async () => {
        const isOver = delay(ATTACK_MS);
        const opened = await again(40, async (lane) => {
          const { socket, closed } = plainConnection(Number(port), `127.1.0.${(lane % 4) + 1}`);
          socket.pause();
          socket.write(requests);
          await Promise.race([closed, isOver]);
          socket.destroy();
          await delay(20);
        });
        return `${opened} connections`;
      };
    },
  },
  {
    name: "requests-that-never-end",
    sends:
      "300 connections of 3 addresses to the admin port that send heads and bodies byte by byte, opened again when they are closed",
    settings: () => OWN_ADMIN,
    async prepare(target) {
      const { port } = new URL(await adminUrlOf(target));
      return async () => {
        const endMs = performance.now() + ATTACK_MS;
        const isOver = delay(ATTACK_MS);
        const heads = [
          "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n",
          "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        ];
        const dripping = again(300, async (lane) => {
          const { socket, closed } = plainConnection(Number(port), `127.1.0.${(lane % 3) + 1}`);
          socket.write(heads[lane % heads.length] ?? "");
          const drip = setInterval(() => socket.writable && socket.write(" "), 100);
          await Promise.race([closed, isOver]);
          clearInterval(drip);
          socket.destroy();
          await delay(20);
        });
        const statuses = new Map<string, number>();
        while (performance.now() < endMs) {
          const status = await fetch(`http://127.0.0.1:${port}/livez`, { headers: { Connection: "close" } }).then(
            (answer) => String(answer.status),
            (error: Error) => error.message,
          );
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          await delay(20);
        }
        await dripping;
        if ([...statuses.keys()].some((status) => status !== "200")) throw new Error(`/livez: ${[...statuses]}`);
        return `/livez ${statuses.get("200")} × 200`;
      };
    },
  },
];
