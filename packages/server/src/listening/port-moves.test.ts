import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { serverId } from "@zooid/model";
import { freePort } from "@zooid/wire/testing/free-ports";
import { afterEach, describe, expect, test } from "vitest";
import { ListenSocket, type Place } from "./listen-socket.ts";
import { type MovablePort, PortMoves, type PortMovesOptions } from "./port-moves.ts";

const LOOPBACK = "127.0.0.1";
/** Only where the whole of 127/8 is loopback by default. */
const hasManyAddresses = process.platform === "linux";

const opened: { stop(): unknown }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.stop();
});

class TestPort implements MovablePort {
  readonly name: string;
  /** How many sockets were made for it. */
  socketCount = 0;
  readonly accepted: Socket[] = [];
  readonly socket: ListenSocket = new ListenSocket(() => {
    this.socketCount++;
    return createServer((socket) => {
      this.accepted.push(socket);
      socket.on("error", () => {});
    });
  });
  place: { readonly host: string | undefined; readonly port: number } | undefined;

  constructor(name: string) {
    this.name = name;
    opened.push(this.socket, { stop: () => this.accepted.map((socket) => socket.destroy()) });
  }

  wanted(): TestPort["place"] {
    return this.place;
  }

  get number(): number {
    return this.socket.place?.port ?? 0;
  }
}

async function portNamed(name: string, address: string | undefined = LOOPBACK): Promise<TestPort> {
  const port = new TestPort(name);
  await port.socket.open({ address, port: 0 });
  return port;
}

function movesOf(ports: readonly TestPort[], options: Partial<PortMovesOptions> = {}) {
  const lines: string[] = [];
  const said = Promise.withResolvers<void>();
  const failure = Promise.withResolvers<void>();
  const moves = new PortMoves({
    info: (text, fields) => {
      lines.push(text);
      if (fields?.event === "port-moved") said.resolve();
    },
    error: (text) => {
      lines.push(`ERROR ${text}`);
      failure.resolve();
    },
    ...options,
  });
  moves.add(...ports);
  opened.push(moves);
  return { moves, lines, moved: said.promise, failed: failure.promise };
}

/** A port of another process, as far as this server can see. */
async function blocker(port = 0, address = LOOPBACK): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(port, address);
  await once(server, "listening");
  opened.push({ stop: () => server.close() });
  return { server, port: (server.address() as AddressInfo).port };
}

async function answers({ address = LOOPBACK, port }: Place): Promise<boolean> {
  const socket = connect(port, address);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test("a port moves: the new place answers, the old one does not, and connections stay", async () => {
  const port = await portNamed("the quorum port");
  const before = port.number;
  const client = connect(before, LOOPBACK);
  opened.push({ stop: () => client.destroy() });
  await once(client, "connect");
  port.place = { host: LOOPBACK, port: await freePort() };
  const { moves, lines } = movesOf([port]);
  await moves.follow();
  expect(await answers({ address: LOOPBACK, port: port.place.port })).toBe(true);
  expect(await answers({ address: LOOPBACK, port: before })).toBe(false);
  expect(client.closed).toBe(false);
  expect(lines).toEqual([`the quorum port is at ${LOOPBACK}:${port.place.port} now, as the configuration says`]);
});

test("another name of the same address, and a port that stays, are not touched", async () => {
  const [quorum, election] = [await portNamed("quorum"), await portNamed("election")];
  quorum.place = { host: "zk-alias", port: quorum.number };
  election.place = { host: "zk-alias", port: await freePort() };
  const { moves } = movesOf([quorum, election], { lookup: async () => LOOPBACK });
  await moves.follow();
  expect([quorum.socketCount, election.socketCount]).toEqual([1, 2]);
  expect(moves.problems).toEqual([]);
});

test("a port that cannot be opened leaves the old one in service, is reported once, and moves when the place is free", async () => {
  const port = await portNamed("the quorum port");
  const before = port.number;
  const holder = await blocker();
  port.place = { host: LOOPBACK, port: holder.port };
  const { moves, lines, moved } = movesOf([port], { retryMs: 1 });
  await moves.follow();
  await moves.follow();
  expect(await answers({ address: LOOPBACK, port: before })).toBe(true);
  expect(lines).toEqual([
    `ERROR the quorum port cannot move to ${LOOPBACK}:${holder.port}, where the configuration puts it: another process has it; ` +
      `it stays at ${LOOPBACK}:${before}, and the move is tried again`,
  ]);
  expect(moves.problems).toHaveLength(1);
  holder.server.close();
  await moved;
  expect(port.number).toBe(holder.port);
  expect(moves.problems).toEqual([]);
});

test("one port that is blocked does not keep the others from moving", async () => {
  const [quorum, election, clients] = [await portNamed("q"), await portNamed("e"), await portNamed("c")];
  quorum.place = { host: LOOPBACK, port: (await blocker()).port };
  election.place = { host: LOOPBACK, port: await freePort() };
  const before = quorum.number;
  const { moves } = movesOf([quorum, election, clients]);
  await moves.follow();
  expect([quorum.number, election.number]).toEqual([before, election.place.port]);
});

test("a port that goes back after a move that was blocked is where it belongs, without a word", async () => {
  const port = await portNamed("the port for clients");
  const before = port.number;
  port.place = { host: LOOPBACK, port: (await blocker()).port };
  const { moves, lines } = movesOf([port]);
  await moves.follow();
  port.place = { host: LOOPBACK, port: before };
  await moves.follow();
  expect(moves.problems).toEqual([]);
  expect(lines).toHaveLength(1);
  expect(port.socketCount).toBe(2);
});

test("ports that swap, in twos and in threes, do so", async () => {
  const [a, b, c] = [await portNamed("a"), await portNamed("b"), await portNamed("c")];
  const numbers = [a.number, b.number, c.number];
  const { moves } = movesOf([a, b, c]);
  a.place = { host: LOOPBACK, port: b.number };
  b.place = { host: LOOPBACK, port: a.number };
  await moves.follow();
  expect([a.number, b.number, c.number]).toEqual([numbers[1], numbers[0], numbers[2]]);
  a.place = { host: LOOPBACK, port: c.number };
  b.place = { host: LOOPBACK, port: a.number };
  c.place = { host: LOOPBACK, port: b.number };
  await moves.follow();
  expect([a.number, b.number, c.number]).toEqual([numbers[2], numbers[1], numbers[0]]);
  expect(moves.problems).toEqual([]);
});

test("a port that takes the place of another one waits until that has moved", async () => {
  const [a, b] = [await portNamed("a"), await portNamed("b")];
  const [first, second] = [b.number, await freePort()];
  a.place = { host: LOOPBACK, port: first };
  b.place = { host: LOOPBACK, port: second };
  await movesOf([a, b]).moves.follow();
  expect([a.number, b.number]).toEqual([first, second]);
});

test("a place that another port of this server keeps is not taken, and neither is closed", async () => {
  const [a, b] = [await portNamed("the quorum port"), await portNamed("the election port")];
  const [before, kept] = [a.number, b.number];
  a.place = { host: LOOPBACK, port: kept };
  const { moves } = movesOf([a, b]);
  await moves.follow();
  expect([a.number, b.number, a.socketCount, b.socketCount]).toEqual([before, kept, 1, 1]);
  expect(moves.problems[0]).toContain("the election port of this server has that place");
});

test.runIf(hasManyAddresses)(
  "the same number moves to every address and back, and stays where that is blocked",
  async () => {
    const port = await portNamed("the port for clients");
    const { number } = port;
    const { moves } = movesOf([port]);
    port.place = { host: undefined, port: number };
    await moves.follow();
    expect(await answers({ address: "127.0.0.9", port: number })).toBe(true);
    port.place = { host: LOOPBACK, port: number };
    await moves.follow();
    expect(await answers({ address: "127.0.0.9", port: number })).toBe(false);
    await blocker(number, "127.0.0.9");
    port.place = { host: undefined, port: number };
    await moves.follow();
    expect(moves.problems).toHaveLength(1);
    expect(await answers({ address: LOOPBACK, port: number })).toBe(true);
  },
);

test("ports that swap, of which one is blocked, are where they were", async () => {
  const [a, b, c] = [await portNamed("a"), await portNamed("b"), await portNamed("c")];
  const numbers = [a.number, b.number, c.number];
  a.place = { host: undefined, port: b.number };
  b.place = { host: LOOPBACK, port: a.number };
  // In the way of the first one alone.
  if (hasManyAddresses) await blocker(b.number, "127.0.0.9");
  else c.place = { host: LOOPBACK, port: b.number };
  const { moves } = movesOf([a, b, c]);
  await moves.follow();
  expect([a.number, b.number, c.number]).toEqual(numbers);
  for (const { number } of [a, b]) expect(await answers({ address: LOOPBACK, port: number })).toBe(true);
});

test("a name that does not resolve leaves the port where it is", async () => {
  const port = await portNamed("the quorum port");
  port.place = { host: "zk-nowhere", port: await freePort() };
  const before = port.number;
  const { moves, lines } = movesOf([port], {
    lookup: () => Promise.reject(new Error("getaddrinfo ENOTFOUND zk-nowhere")),
  });
  await moves.follow();
  expect(port.number).toBe(before);
  expect(lines[0]).toContain("ENOTFOUND zk-nowhere");
});

test("an address of another machine leaves the port where it is", async () => {
  const port = await portNamed("the quorum port");
  port.place = { host: "192.0.2.1", port: port.number };
  const { moves, lines } = movesOf([port]);
  await moves.follow();
  expect(await answers({ address: LOOPBACK, port: port.number })).toBe(true);
  expect(lines[0]).toContain("192.0.2.1");
  expect(lines[0]).toContain("not an address of this machine");
});

describe("a place that the configuration gives to another server", () => {
  /** Servers of one machine whose ports go round: each gets the place of the next one. */
  async function servers(count: number) {
    const ports = await Promise.all(Array.from({ length: count }, () => portNamed("the quorum port")));
    const numbers = ports.map(({ number }) => number);
    const next = numbers.map((_, i) => numbers[(i + 1) % count] ?? 0);
    return ports.map((port, i) => {
      port.place = { host: LOOPBACK, port: next[i] ?? 0 };
      const all = next.map((number, sid) => ({ sid: serverId(sid), host: LOOPBACK, port: number }));
      const others = () => all.filter(({ sid }) => sid !== i);
      return { port, before: numbers[i] ?? 0, wanted: next[i] ?? 0, ...movesOf([port], { retryMs: 1, others }) };
    });
  }

  test.each([2, 3])("passes round among %i servers, of which one is late", async (count) => {
    const [late, ...all] = await servers(count);
    if (late === undefined) expect.unreachable("there are servers");
    for (const { moves } of all) await moves.follow();
    for (const { before, port } of all) {
      // Nothing of a server is left where another one belongs.
      const holder = all.find((other) => other.port.number === before);
      expect(await answers({ address: LOOPBACK, port: before })).toBe(holder !== undefined);
      expect(port.number).not.toBe(before);
    }
    await late.moves.follow();
    await Promise.all([late, ...all].map(({ moved }) => moved));
    expect([late, ...all].map(({ port }) => port.number)).toEqual([late, ...all].map(({ wanted }) => wanted));
    expect([late, ...all].flatMap(({ lines }) => lines.filter((line) => line.startsWith("ERROR")))).toEqual([]);
    expect([late, ...all].flatMap(({ moves }) => moves.problems)).toEqual([]);
  });

  test("is taken back, with a line, where the new place stays blocked and nothing took the old one", async () => {
    const port = await portNamed("the quorum port");
    const before = port.number;
    const holder = await blocker();
    port.place = { host: LOOPBACK, port: holder.port };
    const others = () => [{ sid: serverId(3), host: LOOPBACK, port: before }];
    const { moves, lines, moved, failed } = movesOf([port], { retryMs: 1, others });
    await moves.follow();
    expect(await answers({ address: LOOPBACK, port: before })).toBe(false);
    expect(moves.problems).toHaveLength(1);
    await failed;
    expect(await answers({ address: LOOPBACK, port: before })).toBe(true);
    expect(lines).toEqual([
      `the quorum port is closed at ${LOOPBACK}:${before}, which the configuration gives to server 3; it is to be opened at ${LOOPBACK}:${holder.port}`,
      `ERROR the quorum port cannot move to ${LOOPBACK}:${holder.port}, where the configuration puts it: another process has it; ` +
        `it stays at ${LOOPBACK}:${before}, and the move is tried again`,
    ]);
    holder.server.close();
    await moved;
    expect(port.number).toBe(holder.port);
  });

  test("comes back into service at once when the change is taken back", async () => {
    const port = await portNamed("the quorum port");
    const before = port.number;
    port.place = { host: LOOPBACK, port: (await blocker()).port };
    const { moves, lines } = movesOf([port], { others: () => [{ sid: serverId(3), host: LOOPBACK, port: before }] });
    await moves.follow();
    port.place = { host: LOOPBACK, port: before };
    await moves.follow();
    expect(await answers({ address: LOOPBACK, port: before })).toBe(true);
    expect(moves.problems).toEqual([]);
    expect(lines.at(-1)).toContain("as the configuration says");
  });

  test.each([
    ["is released by a port at every address, where the other server is on this machine", LOOPBACK, false],
    ["is kept by a port at every address, where the other server is on another machine", "192.0.2.1", true],
  ])("%s", async (_, host, isKept) => {
    const port = await portNamed("the port for clients");
    port.place = { host: undefined, port: port.number };
    const { moves } = movesOf([port], { others: () => [{ sid: serverId(3), host, port: port.number }] });
    await moves.follow();
    const before = port.number;
    port.place = { host: undefined, port: (await blocker()).port };
    await moves.follow();
    expect(await answers({ address: LOOPBACK, port: before })).toBe(isKept);
  });
});
