import { startServer } from "@zooid/embedded-server";
import { CONFIGURATION_CHARS_MAX, OpCode, type Stat } from "@zooid/model";
import { filter, firstValueFrom, take, toArray } from "rxjs";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../connect.ts";
import { Relay } from "../fault-injection/relay.ts";
import { answer, dataAnswer, ScriptedServer } from "../testing/scripted-server.ts";
import { parseEnsembleConfig } from "./ensemble-config.ts";

const STAT = {} as Stat;
const SUPER = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const parse = (text: string) => parseEnsembleConfig({ data: Buffer.from(text), stat: STAT });

test.each([
  ["zk1:2888:3888:participant;0.0.0.0:2181", "zk1 2888 3888 participant zk1:2181"],
  ["zk1:2888:3888:observer;10.0.0.1:2182", "zk1 2888 3888 observer 10.0.0.1:2182"],
  ["zk1:2888:3888;2181", "zk1 2888 3888 participant zk1:2181"],
  ["zk1:2888:3888:PARTICIPANT", "zk1 2888 3888 participant none"],
  ["[::1]:2888:3888;[::]:2181", "::1 2888 3888 participant ::1:2181"],
  ["zk1:2888:3888|zk1b:2888:3888:observer;2181", "zk1 2888 3888 observer zk1:2181"],
  ["zk1:2888:3888;2181;2281", "zk1 2888 3888 participant zk1:2181 zk1:2281"],
  ["zk1:2888:3888;;[fe80::1]:2281", "zk1 2888 3888 participant none fe80::1:2281"],
])("server.7=%s", (text, expected) => {
  const [server] = parse(`server.7=${text}\nversion=100000002`).servers;
  const { id, host, quorumPort, electionPort, role, ...addresses } = server ?? expect.unreachable();
  const [client = "none", ...secure] = [addresses.clientAddress, addresses.secureClientAddress].map(
    (address) => address && `${address.host}:${address.port}`,
  );
  const shown = [host, quorumPort, electionPort, role, client, ...secure.filter((text) => text !== undefined)];
  expect([id, shown.join(" ")]).toEqual([7, expected]);
});

test("groups and weights are in the text, the version is hexadecimal, and an empty node names no server", () => {
  const text = "server.1=a:1:2;3\ngroup.1=1\nweight.1=1\nversion=1f";
  expect(parse(text)).toMatchObject({ version: 31n, text, servers: [{ id: 1 }] });
  const reordered = "version=1f\nserver.1=a:1:2;3\ngroup.1=1\nweight.1=5";
  expect(parse(reordered)).toMatchObject({ version: 31n, servers: [{ id: 1 }] });
  expect(parse("")).toMatchObject({ version: 0n, servers: [] });
});

test("a text that is longer than a znode is by default is refused unread", () => {
  const line = "server.1=h:1:2;3\n";
  const longest = line.repeat(Math.floor(CONFIGURATION_CHARS_MAX / line.length));
  expect(parse(longest).servers.length).toBeGreaterThan(1000);
  const refused = expect.objectContaining({
    code: "MARSHALLING_ERROR",
    cause: new Error(
      `a configuration has at most ${CONFIGURATION_CHARS_MAX} bytes, and this one has ${longest.length + line.length}`,
    ),
  });
  expect(() => parse(longest + line)).toThrow(refused);
});

test.each(["server.1=a", "server.1=a:1:2;b:c", "server.1=a:1:2;3;b", "version=next"])(
  "%s is no configuration",
  (line) => {
    expect(() => parse(line)).toThrow(expect.objectContaining({ code: "MARSHALLING_ERROR" }));
  },
);

test("the configuration is read and observed under any chroot", async () => {
  await using server = await startServer({ port: 0, superDigest: SUPER });
  await using zk = await connect(`${server.connectString}/deep/down`);
  await zk.addAuth("digest", "super:test");
  await using root = await connect(server.connectString, { auth: [{ scheme: "digest", auth: "super:test" }] });
  await root.set("/zookeeper/config", "server.1=a:1:2;3\nversion=1");
  const versions = firstValueFrom(
    zk.config$.pipe(
      filter(({ version }) => version > 0n),
      take(2),
      toArray(),
    ),
  );
  expect(await zk.getConfig({ sync: true })).toMatchObject({ version: 1n, servers: [{ id: 1 }] });
  while (zk.watchCount === 0) await zk.sync();
  await root.set("/zookeeper/config", "version=2");
  expect((await versions).map(({ version }) => version)).toEqual([1n, 2n]);
});

test("a reconfiguration carries joining servers, leaving servers or all members, and the version", async () => {
  await using server = await ScriptedServer.start();
  const [zk, line] = await Promise.all([connect(server.hosts, { random: () => 0 }), server.session()]);
  const changing = zk.reconfig({
    joining: ["server.4=d:1:2;3", "server.5=e:1:2;3"],
    leaving: [1, 2],
    fromVersion: 258n,
  });
  const { op, xid, path, body } = await line.request();
  expect([op, path]).toEqual([OpCode.RECONFIG, "server.4=d:1:2;3,server.5=e:1:2;3"]);
  expect(body.toString("hex")).toContain(`00000003${Buffer.from("1,2").toString("hex")}ffffffff0000000000000102`);
  line.send(dataAnswer({ xid }, "server.4=d:1:2;3\nversion=200000000"));
  expect(await changing).toMatchObject({ version: 0x2_0000_0000n, servers: [{ id: 4 }] });
  const refused = zk.reconfig({ members: ["server.1=a:1:2;3"] }).catch((error) => error.code);
  const second = await line.request();
  expect(second.body.toString("hex")).toContain("ffffffffffffffff");
  line.send(answer(second, { code: -123 }));
  expect(await refused).toBe("RECONFIG_DISABLED");
  line.serve((request) => answer(request));
  await zk.close();
});

test("a client that tracks the ensemble connects to servers that have joined", async () => {
  await using server = await startServer({ port: 0, superDigest: SUPER });
  await using first = await Relay.start(server);
  await using second = await Relay.start(server);
  const auth = [{ scheme: "digest", auth: "super:test" }];
  await using zk = await connect(`127.0.0.1:${first.port}`, { auth, trackEnsemble: true, random: () => 0 });
  await zk.set("/zookeeper/config", `server.2=127.0.0.1:1:2;0.0.0.0:${second.port}`);
  await firstValueFrom(zk.config$.pipe(filter(({ servers }) => servers.length > 0)));
  first.refuse();
  first.cut();
  await expect.poll(() => [second.acceptedCount, zk.state.kind]).toEqual([1, "connected"]);
  expect(zk.server).toBe(`127.0.0.1:${second.port}`);
});

test("a client that tracks the ensemble leaves a server that was removed, with its session and its calls", async () => {
  await using server = await startServer({ port: 0, superDigest: SUPER });
  const [first, second] = await Promise.all([Relay.start(server), Relay.start(server)]);
  onTestFinished(async () => {
    await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
  });
  const auth = [{ scheme: "digest", auth: "super:test" }];
  await using zk = await connect(`127.0.0.1:${first.port}`, { auth, trackEnsemble: true });
  const { sessionId } = zk;
  const lines = [first, second].map(({ port }, id) => `server.${id}=127.0.0.1:1:2;${port}`);
  const known = firstValueFrom(zk.config$.pipe(filter(({ servers }) => servers.length === 2)));
  await zk.set("/zookeeper/config", lines.join("\n"));
  await known;
  expect(zk.server).toBe(`127.0.0.1:${first.port}`);
  await zk.set("/zookeeper/config", lines.slice(1).join("\n"));
  const made = Promise.all(["/a", "/b", "/c"].map((path) => zk.create(path)));
  await expect.poll(() => [zk.server, zk.state.kind]).toEqual([`127.0.0.1:${second.port}`, "connected"]);
  expect((await made).map(({ path }) => path)).toEqual(["/a", "/b", "/c"]);
  expect([zk.sessionId, first.connectionCount]).toEqual([sessionId, 0]);
});
