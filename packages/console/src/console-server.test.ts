import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startStage } from "./testing/stage.ts";

test("of one address's connections the one that waits longest gives way to the 101st", async () => {
  await using stage = await startStage();
  const sockets = [];
  for (let i = 0; i < 101; i++) {
    const socket = connect(Number(new URL(stage.url).port), "127.0.0.1").on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    sockets.push(socket.resume());
  }
  const [oldest] = sockets;
  if (oldest !== undefined && !oldest.closed) await once(oldest, "close");
  expect(sockets.filter(({ closed }) => closed)).toHaveLength(1);
  expect((await stage.api("GET", "/session")).status).toBe(200);
});

test("the page shows what a console of its own has", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/session");
  expect(json.features).toEqual({
    sessions: true,
    watches: true,
    metrics: true,
    clientReports: false,
    adminServers: [],
  });
});
