import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { parseServerConfig } from "../config.ts";
import { RefusalLog } from "../operators/refusal-log.ts";
import { ClientDoor, type DoorAccess } from "./client-door.ts";
import { ClientPorts } from "./client-ports.ts";

const SILENT = { info() {}, warn() {} };

async function doorOf(): Promise<{
  readonly ports: ClientPorts;
  readonly door: ClientDoor;
  readonly moved: DoorAccess[];
  readonly errors: string[];
}> {
  const [moved, errors]: [DoorAccess[], string[]] = [[], []];
  const refusals = new RefusalLog(
    () => {},
    () => performance.now(),
  );
  const ports = new ClientPorts(
    parseServerConfig({ port: 0 }),
    refusals,
    SILENT,
    (socket) => socket.destroy(),
    () => {},
  );
  await ports.listen();
  const door = new ClientDoor({
    ports,
    moved: (access) => moved.push(access),
    error: (text) => errors.push(text),
    retryMs: 1,
  });
  return { ports, door, moved, errors };
}

async function answerAt(port: number | undefined): Promise<string> {
  const socket = connect({ port: port ?? 0, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    return "accepted";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    socket.destroy();
  }
}

test("a closed port refuses connections, and accepts them again at the same place", async () => {
  const { ports, door, moved } = await doorOf();
  const { port } = ports;
  await door.follow("closed");
  await door.follow("closed");
  expect([await answerAt(port), door.access, ports.port]).toEqual(["ECONNREFUSED", "closed", port]);
  await door.follow("open");
  expect([await answerAt(port), door.access]).toEqual(["accepted", "open"]);
  expect(moved).toEqual(["closed", "open"]);
  door.stop();
  ports.stop();
});

test("a port that another process has taken meanwhile is named, and opened once it is free", async () => {
  const { ports, door, errors } = await doorOf();
  await door.follow("closed");
  const thief = createServer().listen(ports.port, "127.0.0.1");
  await once(thief, "listening");
  await door.follow("open");
  expect(door.problems).toEqual([expect.stringContaining("EADDRINUSE")]);
  expect([door.access, errors.length]).toEqual(["closed", 1]);
  thief.close();
  await expect.poll(() => door.access).toBe("open");
  expect([door.problems, await answerAt(ports.port)]).toEqual([[], "accepted"]);
  door.stop();
  ports.stop();
});
