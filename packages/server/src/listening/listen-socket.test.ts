import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { isSame, ListenSocket, overlaps, type Place } from "./listen-socket.ts";

const SOMAXCONN = "/proc/sys/net/core/somaxconn";
/** Turns in which the loop sees what the system has connected at once. */
const TURNS = 20;

test.runIf(process.platform === "linux")("as many connections wait to be accepted as the system allows", async () => {
  const count = Math.min(1000, Number(readFileSync(SOMAXCONN, "utf8")));
  const accepted = new Set<{ destroy(): void }>();
  const listener = new ListenSocket(() => createServer((socket) => void accepted.add(socket)));
  await listener.open({ address: "127.0.0.1", port: 0 });
  let connectedCount = 0;
  const clients = Array.from({ length: count }, () =>
    connect(listener.place?.port ?? 0, "127.0.0.1", () => connectedCount++),
  );
  for (let i = 0; i < TURNS; i++) await turn();
  for (const socket of [...clients, ...accepted]) socket.destroy();
  listener.stop();
  // A connection that the backlog has no room for is repeated by the system a second later.
  expect(connectedCount).toBe(count);
});

test.each([
  ["fd00:35::2", "fd00:35:0:0::2", true],
  ["FD00:35::2", "fd00:35::2", true],
  ["::ffff:127.0.0.1", "127.0.0.1", true],
  ["fd00:35::2", "fd00:35::3", false],
  ["fe80::1%eth0", "fe80:0::1%eth0", true],
  ["fe80::1%eth0", "fe80::1%eth1", false],
  ["fe80::1%eth0", "fe80::1", false],
  [undefined, "::", true],
  [undefined, "::1", false],
])("%s and %s are one place: %s", (a, b, is) => {
  const [one, other] = [a, b].map((address) => ({ address, port: 2181 })) as [Place, Place];
  expect(isSame(one, other)).toBe(is);
  expect(isSame(other, one)).toBe(is);
  expect(isSame(one, { ...one, port: 2182 })).toBe(false);
  if (is) expect(overlaps(one, other)).toBe(true);
});
