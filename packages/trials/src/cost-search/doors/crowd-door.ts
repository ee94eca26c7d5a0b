import { CreateMode, OpCode } from "@zooid/model";
import { create, multiBody, read, setData } from "@zooid/wire/testing/raw-client";
import { chunks, range } from "../../attacks/attack.ts";
import { Attacker } from "../../attacks/attacker.ts";
import { type Door, sizeOf, wordOf } from "./door.ts";
import type { MeasuredProcess } from "./measured-process.ts";

const CHILDREN = 50_000;
const CONNECTIONS_MAX = 60;
const ANSWER_BYTES_LEAST = 1;

/**
 * The same request on many connections of one address, at the same moment. What counts is the
 * longest turn of the loop for all of them.
 */
export async function crowdDoor(server: MeasuredProcess): Promise<Door> {
  const { port } = server;
  const crowd = await Promise.all(range(CONNECTIONS_MAX, () => Attacker.open({ port, timeoutMs: 40_000 })));
  const [first] = crowd;
  if (first === undefined) throw new Error("there is no connection");
  await first.ask(OpCode.CREATE, create("/wide"));
  for (const group of chunks(
    range(CHILDREN, (i) => `/wide/c${i}`),
    2000,
  )) {
    await first.ask(OpCode.MULTI, multiBody(...group.map((path) => [OpCode.CREATE, create(path)] as const)));
  }
  await first.ask(OpCode.CREATE, create("/data", "d".repeat(500_000)));
  return {
    name: "crowd",
    limitMs: 25,
    fields: {
      op: { words: ["getChildren", "getData", "multi", "setData", "create", "ping"] },
      connections: { sizes: [1, 10, 30, CONNECTIONS_MAX] },
      requests: { sizes: [1, 4, 16, 64] },
      parts: { sizes: [1, 10, 100, 1000, 5000] },
    },
    seeds: [
      { op: "getChildren", connections: CONNECTIONS_MAX, requests: 4 },
      { op: "getData", connections: CONNECTIONS_MAX, requests: 16 },
      { op: "multi", connections: CONNECTIONS_MAX, requests: 1, parts: 5000 },
      { op: "multi", connections: CONNECTIONS_MAX, requests: 4, parts: 1000 },
      { op: "setData", connections: CONNECTIONS_MAX, requests: 64 },
      { op: "create", connections: CONNECTIONS_MAX, requests: 64 },
    ],
    async send(shape) {
      const [connections, requests, parts] = ["connections", "requests", "parts"].map((name) =>
        Math.max(ANSWER_BYTES_LEAST, sizeOf(shape, name)),
      ) as [number, number, number];
      let bytes = 0;
      await Promise.all(
        crowd.slice(0, connections).map(async (one) => {
          const frames = range(requests, () => frameOf(one, wordOf(shape, "op"), parts));
          for (const frame of frames) bytes += frame.length;
          if (!one.isClosed) await one.askAll(frames);
        }),
      );
      return { bytes };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(crowd.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

function frameOf(one: Attacker, op: string, parts: number): Buffer {
  switch (op) {
    case "getChildren":
      return one.frame(OpCode.GET_CHILDREN, read("/wide"));
    case "getData":
      return one.frame(OpCode.GET_DATA, read("/data"));
    case "multi":
      return one.frame(
        OpCode.MULTI,
        multiBody(...range(parts, () => [OpCode.SET_DATA, setData("/wide", "x")] as const)),
      );
    case "setData":
      return one.frame(OpCode.SET_DATA, setData("/wide", "x".repeat(parts)));
    case "create":
      return one.frame(OpCode.CREATE, create("/wide/s-", "", CreateMode.EPHEMERAL_SEQUENTIAL));
    default:
      return one.frame(OpCode.PING);
  }
}
