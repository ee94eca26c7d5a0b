import { mkdtempSync, rmSync } from "node:fs";
import { connect, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { startServer } from "../index.ts";
import { EarlyClients } from "./early-clients.ts";

test("a client that connects during recovery is answered after it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "early-client-"));
  const port = await freePort();
  const starting = startServer({ port, dataDir: directory });
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const attempt = (): void => {
      const socket = connect(port, "127.0.0.1", () => socket.write("srvr"));
      socket.on("data", (chunk) => {
        text += chunk.toString();
      });
      socket.on("error", attempt);
      socket.on("end", () => resolve(text));
    };
    attempt();
  });
  expect(answer).toContain("Mode: standalone");
  await using _server = await starting;
  rmSync(directory, { recursive: true, force: true });
});

test("a client that has gone during recovery is not handed over, and a stop ends all", () => {
  const [gone, there, late] = [new Socket(), new Socket(), new Socket()];
  const early = new EarlyClients();
  for (const socket of [gone, there]) early.add(socket, "10.0.0.1");
  gone.destroy();
  const accepted: Socket[] = [];
  early.acceptAll({ accept: (socket) => accepted.push(socket) });
  expect(accepted).toEqual([there]);
  early.acceptAll({ accept: (socket) => accepted.push(socket) });
  expect(accepted).toEqual([there]);
  early.add(late, "10.0.0.1");
  early.destroyAll();
  expect([there.destroyed, late.destroyed]).toEqual([false, true]);
});
