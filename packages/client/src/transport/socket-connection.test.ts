import { createSocket, type Socket } from "node:dgram";
import dns from "node:dns/promises";
import { once } from "node:events";
import { startServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../connect.ts";
import { resolveByName } from "./socket-connection.ts";

const SERVICE = "_zookeeper._tcp.example.test";

let before: string[];
let socket: Socket;
/** The answers of this test's name server, by name. */
let records: Map<string, readonly { readonly name: string; readonly port: number }[]>;

beforeEach(async () => {
  records = new Map();
  before = dns.getServers();
  socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => socket.send(answerTo(query), port, address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  dns.setServers([`127.0.0.1:${socket.address().port}`]);
});

afterEach(() => {
  dns.setServers(before);
  socket.close();
});

/** RFC 1035 and 2782: the question again, and a record of type SRV for each server. */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const question = query.subarray(12, end);
  const labels: string[] = [];
  for (let at = 0; question[at] !== 0; at += (question[at] ?? 0) + 1) {
    labels.push(question.toString("latin1", at + 1, at + 1 + (question[at] ?? 0)));
  }
  const found = records.get(labels.join(".").toLowerCase());
  const answers = (found ?? []).map(({ name, port }) => {
    const target = Buffer.concat([
      ...name.split(".").map((label) => Buffer.from(`\0${label}`, "latin1")),
      Buffer.of(0),
    ]);
    for (let at = 0, i = 0; i < name.split(".").length; i++) {
      const { length } = name.split(".")[i] ?? "";
      target[at] = length;
      at += length + 1;
    }
    const fixed = Buffer.alloc(18);
    // The name is that of the question, at offset 12; type, class, a time to live of 0; priority,
    // weight and port.
    for (const [i, value] of [0xc00c, 33, 1, 0, 0, 6 + target.length, 0, 0, port].entries())
      fixed.writeUInt16BE(value, 2 * i);
    return Buffer.concat([fixed, target]);
  });
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question, ...answers]);
}

const service = { host: SERVICE, port: 0, isService: true } as const;

test("a service is every address of each of its servers, with the ports of its SRV records", async () => {
  records.set(SERVICE, [
    { name: "localhost", port: 2281 },
    { name: "127.0.0.1", port: 2282 },
  ]);
  const found = await resolveByName(service);
  expect(found).toContainEqual({ host: "127.0.0.1", port: 2281, name: "localhost" });
  expect(found).toContainEqual({ host: "127.0.0.1", port: 2282 });
});

test("an unknown server does not hide the others, and a service without servers is an error", async () => {
  records.set(SERVICE, [
    { name: "unknown.invalid", port: 1 },
    { name: "127.0.0.1", port: 2 },
  ]);
  expect(await resolveByName(service)).toEqual([{ host: "127.0.0.1", port: 2 }]);
  records.set(SERVICE, [{ name: "unknown.invalid", port: 1 }]);
  await expect(resolveByName(service)).rejects.toThrow("unknown.invalid");
  records.delete(SERVICE);
  await expect(resolveByName(service)).rejects.toThrow();
});

test("a client asks DNS again in each round, and so finds servers that have moved", async () => {
  await using first = await startServer({ port: 0 });
  await using second = await startServer({ port: 0 });
  records.set(SERVICE, [{ name: "127.0.0.1", port: first.port }]);
  await using zk = await connect(`dns-srv://${SERVICE}/app`, { random: () => 0 });
  expect([zk.root, zk.server]).toEqual(["/app", `127.0.0.1:${first.port}`]);
  records.set(SERVICE, [{ name: "127.0.0.1", port: second.port }]);
  await first.stop();
  await expect.poll(() => zk.server).toBe(`127.0.0.1:${second.port}`);
  await zk.connected();
});
