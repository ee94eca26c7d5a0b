import { Random } from "@zooid/conformance/internal/random";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { OpCode } from "@zooid/model";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANYONE, createWith } from "../attacks/attack.ts";
import { Attacker } from "../attacks/attacker.ts";
import { CASES } from "./cases.ts";
import { FrameMaker } from "./frames.ts";
import { changedShape, randomShape, type Shape, shapeText } from "./shape.ts";

const FRAME_BYTES_MAX = 1_040_000;

let server: ZooidServer;
let maker: FrameMaker;
beforeAll(async () => {
  server = await startServer({ port: 0, connectionsPerAddressMax: 0, enforceQuota: true, ttlNodes: true });
  await using owner = await Attacker.open({ port: server.port });
  for (const path of ["/wide", "/wide/c0", "/many", "/many/0", "/many/0/n0", "/scratch", "/d", "/ephemerals-0"]) {
    await owner.ask(OpCode.CREATE, create(path));
  }
  await owner.ask(OpCode.CREATE, createWith("/big", ANYONE, "b".repeat(100_000)));
  await owner.ask(OpCode.CREATE, createWith("/listed", ANYONE));
  maker = new FrameMaker({ manyCount: 1, wideCount: 1, ephemeralCount: 1, deepPath: "/d" }, FRAME_BYTES_MAX);
});
afterAll(() => server.stop());

/** Sends it as the search does. @returns whether it was answered, or its connection closed */
async function sent(shape: Shape): Promise<boolean> {
  await using attacker = await Attacker.open({ port: server.port });
  const frame = maker.frame(1, shape);
  expect(frame.length).toBeLessThan(FRAME_BYTES_MAX + 10_000);
  await attacker.flood([frame]);
  await attacker.untilAnswers(1);
  return attacker.answerCount === 1 || attacker.isClosed;
}

test.each(CASES.map((shape) => [shapeText(shape), shape] as const))("%s is answered", async (_, shape) => {
  expect(await sent(shape)).toBe(true);
});

test("shapes at random and their neighbours are answered, or their connection is closed, and others are served", async () => {
  const random = new Random(7);
  for (let i = 0; i < 60; i++) {
    const shape = randomShape(random);
    expect(await sent(shape), shapeText(shape)).toBe(true);
    expect(await sent(changedShape(shape, random))).toBe(true);
  }
  await using other = await RawClient.withSession(server.port);
  expect(await other.ask(OpCode.EXISTS, read("/wide"))).toMatchObject({ code: 0 });
});
