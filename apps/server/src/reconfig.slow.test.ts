import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname } from "node:path";
import { type Client, connect, ZkError } from "@zooid/client";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import {
  clientOf,
  eachInDirectory,
  ensemble,
  HOST,
  leaderOf,
  level,
  type MemberProcess,
  until,
  wordAt,
} from "./testing/ensemble-processes.ts";

// Servers join and leave while clients write.

eachInDirectory();

/** A name of the same address, which the system resolves. */
const ALIAS = `0x${HOST.split(".")
  .map((part) => Number(part).toString(16).padStart(2, "0"))
  .join("")}`;

const SETTINGS = ["reconfigEnabled=true", "skipACL=yes"];

/**
 * Gives a server another line. A leader that moves transfers leadership, and its client may not
 * hear of the change.
 */
function change(client: Client, line: string): Promise<void> {
  return changeAll(client, [line]);
}

/** As {@link change}, for several servers at once. */
async function changeAll(client: Client, joining: readonly string[]): Promise<void> {
  try {
    await client.reconfig({ joining });
  } catch (error) {
    if (!(error instanceof ZkError) || error.code !== "CONNECTION_LOSS") throw error;
    await client.reconfig({ joining });
  }
}

test("three servers are replaced one at a time by three others while clients write, and no acknowledged write is lost", async () => {
  const members = await ensemble(6, { settings: SETTINGS, isListed: (sid, by) => sid <= 3 || sid === by });
  const first = members.slice(0, 3);
  for (const member of first) member.start();
  await level(first);
  const client = await clientOf(members, { sessionTimeoutMs: 20_000 });
  const writer = await clientOf(members, { sessionTimeoutMs: 20_000 });
  let acknowledged = 0;
  let isOver = false;
  await client.create("/counted", "");
  const writing = (async () => {
    while (!isOver) {
      // A create whose connection was lost may have been carried out.
      const isMade = await writer.create(`/counted/${acknowledged}`, "").then(
        () => true,
        (error: unknown) => error instanceof ZkError && error.code === "NODE_EXISTS",
      );
      if (isMade) acknowledged++;
    }
  })();
  for (const joins of members.slice(3)) {
    joins.start();
    await until("joiner", async () => ((await joins.mode()) === undefined ? undefined : true));
    const leaves = members[joins.sid - 4] as MemberProcess;
    const line = `server.${joins.sid}=${HOST}:${joins.quorumPort}:${joins.electionPort};${HOST}:${joins.port}`;
    await client.reconfig({ joining: [line], leaving: [leaves.sid] });
    const { servers } = await client.getConfig();
    expect(servers.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6].slice(joins.sid - 3, joins.sid));
    await until("vote", async () => ((await joins.mode()) === "observer" ? undefined : true));
    await leaves.end("SIGTERM");
  }
  isOver = true;
  await writing;
  const last = members.slice(3);
  await level(last);
  expect(acknowledged).toBeGreaterThan(0);
  for (const member of last) {
    const reader = await clientOf([member]);
    expect((await reader.children("/counted", { sync: true })).names.length).toBe(acknowledged);
  }
  // The files follow.
  const [one] = last;
  const files = readdirSync(dirname(one?.dataDir ?? ""));
  expect(files.filter((file) => file.startsWith("zoo4.cfg.dynamic."))).toHaveLength(1);
  for (const member of last) await member.end("SIGTERM");
  for (const member of last) member.start();
  await level(last);
});

test("a server that starts alone grows to three, and shrinks to one", async () => {
  const members = await ensemble(3, {
    settings: [...SETTINGS, "standaloneEnabled=false"],
    isListed: (sid, by) => sid === 1 || sid === by,
  });
  const [one, ...joiners] = members as [MemberProcess, ...MemberProcess[]];
  one.start();
  await level([one]);
  const client = await clientOf([one]);
  await client.create("/a", "1");
  for (const joins of joiners) {
    joins.start();
    await until("joiner", async () => ((await joins.mode()) === undefined ? undefined : true));
    const line = `server.${joins.sid}=${HOST}:${joins.quorumPort}:${joins.electionPort};${HOST}:${joins.port}`;
    await client.reconfig({ joining: [line] });
  }
  await level(members);
  await one.end("SIGKILL");
  const survivor = await clientOf(joiners);
  expect(await survivor.getText("/a")).toBe("1");
  one.start();
  await level(members);
  await survivor.reconfig({ leaving: [2] });
  await survivor.reconfig({ leaving: [1] });
  await members[0]?.end("SIGTERM");
  await members[1]?.end("SIGTERM");
  expect((await leaderOf(members.slice(2))).sid).toBe(3);
  const alone = await clientOf(members.slice(2));
  expect(await alone.getText("/a")).toBe("1");
});

test("a server that a change gives other ports listens there, its connections stay, and a leader transfers leadership first", async () => {
  const members = await ensemble(3, { settings: SETTINGS });
  for (const member of members) member.start();
  const leader = await level(members);
  const [follower, third] = members.filter((member) => member !== leader) as [MemberProcess, MemberProcess];
  const changing = await clientOf([third]);
  const staying = await clientOf([follower]);
  for (const moves of [follower, leader]) {
    const [client, quorum, election] = await freePorts(3);
    await changing.reconfig({ joining: [`server.${moves.sid}=${HOST}:${quorum}:${election};${HOST}:${client}`] });
    const moved = await connect(`${HOST}:${client}`, { startTimeoutMs: 30_000 });
    await moved.set("/", `${moves.sid}`);
    await moved.close();
    if (moves === follower) expect(await staying.getText("/", { sync: true })).toBe(`${moves.sid}`);
  }
  expect(await changing.getText("/", { sync: true })).toBe(`${leader.sid}`);
  const { servers } = await changing.getConfig();
  const places = servers.flatMap(({ clientAddress }) => (clientAddress === undefined ? [] : [clientAddress.port]));
  // Without the third one, both that have moved are needed.
  await third.end("SIGKILL");
  const both = await connect(places.map((port) => `${HOST}:${port}`).join(), { startTimeoutMs: 30_000 });
  await both.set("/", "both");
  await both.close();
});

test("hosts are renamed and ports change singly, swap, and go back, and after each a restarted server finds all others", {
  timeout: 180_000,
}, async () => {
  // The second name is none of loopback.
  const members = await ensemble(3, { settings: [...SETTINGS, "zooid.allowUnauthenticatedPeers=true"] });
  for (const member of members) member.start();
  await level(members);
  const [first, second, third] = members as [MemberProcess, MemberProcess, MemberProcess];
  const client = await clientOf(members);
  const ports = new Map(members.map(({ sid, quorumPort, electionPort }) => [sid, [quorumPort, electionPort]]));
  const place = async (sid: number, host: string, quorum: number, election: number): Promise<void> => {
    ports.set(sid, [quorum, election]);
    await change(client, `server.${sid}=${host}:${quorum}:${election};${HOST}:${second.port}`);
  };
  const portsOf = (sid: number): readonly [number, number] => {
    const [quorum = 0, election = 0] = ports.get(sid) ?? [];
    return [quorum, election];
  };
  const [a = 0, b = 0] = await freePorts(2);
  const steps = [
    ["another name of the same address", () => place(2, ALIAS, ...portsOf(2))],
    ["one port", () => place(2, ALIAS, portsOf(2)[0], a)],
    ["the other port, and the first name", () => place(2, HOST, b, a)],
    ["both swapped", () => place(2, HOST, a, b)],
    ["the first ports", () => place(2, HOST, second.quorumPort, second.electionPort)],
  ] as const;
  for (const [, step] of steps) {
    await step();
    // Without the third server, the first one needs the second one, at its new place.
    await third.end("SIGKILL");
    await first.end("SIGKILL");
    first.start();
    await level([first, second]);
    third.start();
    await level(members);
  }
  expect(second.said("error")).toEqual([]);
});

test("servers of one machine swap ports with each other in one change, and pass them round", {
  timeout: 180_000,
}, async () => {
  const members = await ensemble(3, { settings: SETTINGS });
  for (const member of members) member.start();
  await level(members);
  const client = await clientOf(members);
  const kinds = ["quorum", "election", "client"] as const;
  const places = new Map(
    members.map(({ sid, port, quorumPort, electionPort }) => [
      sid,
      { quorum: quorumPort, election: electionPort, client: port },
    ]),
  );
  const lineOf = (sid: number): string => {
    const { quorum, election, client: clients } = places.get(sid) ?? expect.unreachable("there are three servers");
    return `server.${sid}=${HOST}:${quorum}:${election};${HOST}:${clients}`;
  };
  for (const kind of kinds) {
    for (const sids of [
      [2, 3],
      [1, 2, 3],
    ]) {
      const ports = sids.map((sid) => places.get(sid)?.[kind] ?? 0);
      for (const [i, sid] of sids.entries()) {
        const before = places.get(sid) ?? expect.unreachable("there are three servers");
        places.set(sid, { ...before, [kind]: ports[(i + 1) % sids.length] ?? 0 });
      }
      await changeAll(client, sids.map(lineOf));
      await level(members);
      for (const { sid } of members) {
        const port = places.get(sid)?.client ?? 0;
        await until("the server at its port for clients", async () =>
          (await wordAt(port, "conf")).includes(`serverId=${sid}\n`) ? true : undefined,
        );
      }
      // A server that starts again has no links, and finds all others.
      const [first] = members as [MemberProcess];
      await first.end("SIGTERM");
      first.start();
      await level(members);
    }
  }
  for (const member of members) expect(member.said("error")).toEqual([]);
});

test("a server whose new ports are taken stays at the old ones, says so, and moves when they are free", async () => {
  const members = await ensemble(3, { settings: SETTINGS });
  for (const member of members) member.start();
  await level(members);
  const [first, second] = members as [MemberProcess, MemberProcess, MemberProcess];
  const client = await clientOf(members.slice(1));
  const holder = createServer().listen(0, HOST);
  await once(holder, "listening");
  const taken = (holder.address() as AddressInfo).port;
  await change(client, `server.1=${HOST}:${first.quorumPort}:${first.electionPort};${HOST}:${taken}`);
  await until("line", () => first.said("error").find((line) => line.includes(`${taken}`)));
  // The old port is in service.
  expect(await first.mode()).toBeDefined();
  // Back where it is, there is nothing to report.
  const before = first.said("error").length;
  await change(client, `server.1=${HOST}:${first.quorumPort}:${first.electionPort};${HOST}:${first.port}`);
  await change(client, `server.1=${HOST}:${taken}:${first.electionPort};${HOST}:${first.port}`);
  await until("line", () => first.said("error")[before]);
  expect(first.said("error").slice(before)).toEqual([
    expect.stringContaining(`the quorum port cannot move to ${HOST}:${taken}`),
  ]);
  holder.close();
  await until("move", () => first.said().find((line) => line.startsWith(`the quorum port is at ${HOST}:${taken}`)));
  await second.end("SIGKILL");
  await level([first, ...members.slice(2)]);
});

test("a change that leads beyond loopback without authentication is reported before a restart fails", async () => {
  const members = await ensemble(3, { settings: SETTINGS });
  for (const member of members) member.start();
  await level(members);
  const [, second] = members as [MemberProcess, MemberProcess, MemberProcess];
  const client = await clientOf(members);
  await change(client, `server.2=${ALIAS}:${second.quorumPort}:${second.electionPort};${HOST}:${second.port}`);
  for (const member of members) {
    const text = await until("line", () => member.said("warn").find((said) => said.includes("will not start again")));
    expect(text).toContain("zooid.peerSecretFile");
  }
});

test("a server that was away while all servers that it knows were replaced joins with the lines of the present ones", async () => {
  const members = await ensemble(4, {
    settings: [...SETTINGS, "standaloneEnabled=false"],
    isListed: (sid, by) => sid <= 3 || sid === by,
  });
  const [away, second, third, joins] = members as [MemberProcess, MemberProcess, MemberProcess, MemberProcess];
  for (const member of members.slice(0, 3)) member.start();
  await level(members.slice(0, 3));
  const client = await clientOf(members);
  await client.create("/a", "1");
  await away.end("SIGTERM");
  joins.start();
  await until("joiner", async () => ((await joins.mode()) === undefined ? undefined : true));
  const lines = [away, joins].map(
    ({ sid, quorumPort, electionPort, port }) =>
      `server.${sid}=${HOST}:${quorumPort}:${electionPort}${sid === away.sid ? ":observer" : ""};${HOST}:${port}`,
  );
  await client.reconfig({ members: lines });
  for (const member of [second, third]) await member.end("SIGTERM");
  const { text } = await client.getConfig({ sync: true });

  // It looks for servers that are gone, until it has the file that the log names.
  away.start();
  await until("search", () => (away.said("warn").some((line) => line.includes("reachable")) ? true : undefined));
  expect(await away.mode()).toBeUndefined();
  await away.end("SIGTERM");
  away.listServersIn("present.cfg", text);
  away.start();
  await level([joins, away]);
  expect(await away.mode()).toBe("observer");
  const reader = await clientOf([away]);
  expect(await reader.getText("/a")).toBe("1");
});

test("a joiner, a promoted observer, and a server with a changed client port start again from their files", async () => {
  const members = await ensemble(4, {
    settings: SETTINGS,
    isListed: (sid, by) => sid <= 3 || sid === by,
    observers: [3],
    own: (sid) => (sid === 3 ? ["peerType=observer"] : []),
  });
  const [first, , third, joins] = members as [MemberProcess, MemberProcess, MemberProcess, MemberProcess];
  for (const member of members.slice(0, 3)) member.start();
  await level(members.slice(0, 3));
  const follows = (member: MemberProcess) => until("role", async () => await member.mode());
  const client = await clientOf(members.slice(1, 3));
  // It follows, and is no member yet.
  joins.start();
  await follows(joins);
  await joins.end("SIGTERM");
  joins.start();
  await follows(joins);
  const lineOf = ({ sid, quorumPort, electionPort }: MemberProcess, port: number): string =>
    `server.${sid}=${HOST}:${quorumPort}:${electionPort};${HOST}:${port}`;
  await client.reconfig({ joining: [lineOf(joins, joins.port), lineOf(third, third.port)] });
  const [port = 0] = await freePorts(1);
  await client.reconfig({ joining: [lineOf(first, port)] });
  const lines = third.said("warn").length;
  for (const member of members) {
    await member.end("SIGTERM");
    member.start();
    const served = await connect(`${HOST}:${member === first ? port : member.port}`, { startTimeoutMs: 30_000 });
    await served.set("/", `${member.sid}`);
    await served.close();
  }
  expect(await first.mode().catch(() => undefined)).toBeUndefined();
  expect(await third.mode()).not.toBe("observer");
  expect(
    third
      .said("warn")
      .slice(lines)
      .filter((text) => text.includes("peerType")),
  ).toEqual([]);
});
