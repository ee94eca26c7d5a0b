import { connect, type Socket } from "node:net";
import { OpCode, parseProxyRange } from "@zooid/model";
import { RawClient, read } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { ClientListener } from "./client-listener.ts";

/** Only where the whole of 127/8 is loopback by default. */
const hasManyAddresses = process.platform === "linux";

/** Whether a new connection gets a session; one over the limit is reset before it says anything. */
async function isAdmitted(client: RawClient): Promise<boolean> {
  try {
    await client.handshake();
    return true;
  } catch {
    return false;
  }
}

test.runIf(hasManyAddresses)(
  "connections of one address beyond its limit are reset, and another address still gets in",
  async () => {
    await using zk = await startTestServer({ connectionsPerAddressMax: 2, address: "127.0.0.1" });
    await using first = await RawClient.withSession(zk.port);
    await using _second = await RawClient.withSession(zk.port);
    await using third = await RawClient.open(zk.port);
    expect(await isAdmitted(third)).toBe(false);
    await using elsewhere = await RawClient.open(zk.port, "127.0.0.2");
    expect(await isAdmitted(elsewhere)).toBe(true);
    expect(await first.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
  },
);

test.runIf(hasManyAddresses)(
  "connections beyond the limit of all are reset, from whatever address they come",
  async () => {
    await using zk = await startTestServer({ connectionsMax: 2, connectionsPerAddressMax: 0 });
    await using _first = await RawClient.withSession(zk.port);
    await using _second = await RawClient.open(zk.port, "127.0.0.2");
    await using third = await RawClient.open(zk.port, "127.0.0.3");
    expect(await isAdmitted(third)).toBe(false);
  },
);

test.runIf(hasManyAddresses)(
  "connections of a trusted proxy are not bounded as those of one address, but by a part of all",
  async () => {
    const limits = { connectionsPerAddressMax: 1, connectionsMax: 8 };
    await using zk = await startTestServer({ ...limits, trustedProxies: ["127.9.0.0/16"], trustedProxiesPercent: 50 });
    const clients: RawClient[] = [];
    for (let i = 0; i < 4; i++) {
      const client = await RawClient.open(zk.port, `127.9.0.${1 + (i % 2)}`);
      expect(await isAdmitted(client)).toBe(true);
      clients.push(client);
    }
    await using fifth = await RawClient.open(zk.port, "127.9.0.3");
    expect(await isAdmitted(fifth)).toBe(false);
    await using elsewhere = await RawClient.open(zk.port, "127.0.0.2");
    expect(await isAdmitted(elsewhere)).toBe(true);
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  },
);

const LOOPBACK_PROXIES = { ranges: [parseProxyRange("127.0.0.0/8")].filter((range) => range !== undefined), share: 1 };

test.each([
  ["of an address", { perAddressMax: 2 }],
  ["of trusted proxies", { perAddressMax: 1, proxiedMax: 2, trustedProxies: LOOPBACK_PROXIES }],
  ["of all", { perAddressMax: 0, totalMax: 2 }],
])("each closed connection gives a place %s back", async (_, limits) => {
  const place = { port: 0, address: "127.0.0.1", sharedReads: false, backlog: undefined, tcpKeepAlive: false };
  const accepted: Socket[] = [];
  const config = { ...place, totalMax: 0, hasRoom: () => true, ...limits };
  const listener = new ClientListener(config, (socket) => accepted.push(socket));
  await listener.listen();
  for (let round = 0; round < 4; round++) {
    const clients = Array.from({ length: 3 }, () => connect(listener.port).on("error", () => {}));
    await Promise.race(clients.map((client) => new Promise((resolve) => client.once("close", resolve))));
    expect([listener.connectionCount, listener.rejectedCount]).toEqual([2, round + 1]);
    for (const socket of accepted.splice(0)) socket.destroy();
    for (const socket of clients) socket.destroy();
    await expect.poll(() => listener.connectionCount).toBe(0);
  }
  listener.stop();
});

test("a place is free again once its connection is closed", async () => {
  await using zk = await startTestServer({ connectionsPerAddressMax: 1, fourLetterWords: "*" });
  for (let i = 0; i < 20; i++) {
    await using client = await RawClient.open(zk.port);
    client.send(Buffer.from("ruok"));
    expect((await client.rest()).toString()).toBe("imok");
  }
});

test("a limit of 0 is no limit", async () => {
  await using zk = await startTestServer({ connectionsPerAddressMax: 0 });
  const clients = await Promise.all(Array.from({ length: 100 }, () => RawClient.withSession(zk.port)));
  for (const client of clients) expect(client.isClosed).toBe(false);
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
});

test("clientPortAddress is looked up until it resolves, with one line", async () => {
  const lines: string[] = [];
  const codes = ["ENOTFOUND", "EAI_AGAIN"];
  const lookup = async (host: string): Promise<string> => {
    const code = codes.shift();
    if (code !== undefined) throw Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code });
    return "127.0.0.1";
  };
  const limits = { backlog: undefined, perAddressMax: 0, totalMax: 0, tcpKeepAlive: false, hasRoom: () => true };
  const place = { port: 0, address: "zk-1", sharedReads: false, addressRetryMs: 1 };
  const listener = new ClientListener({ ...limits, ...place, lookup, warn: (text) => lines.push(text) }, () => {});
  await listener.listen();
  expect(listener.port).toBeGreaterThan(0);
  expect(lines).toHaveLength(1);
  for (const part of ["zk-1", "clientPortAddress", "ENOTFOUND"]) expect(lines[0]).toContain(part);
  listener.stop();
});
