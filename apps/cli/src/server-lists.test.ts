/** Each way to give servers, and each list that is wrong: one rule, and its sentence. */
import { adminCommand, connect, createClient, parseConnectString } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { CliRuns } from "./testing/cli-process.ts";
import { Session } from "./testing/session.ts";

const WRONG: readonly (readonly [list: string, sentence: string])[] = [
  ["a b", 'the host of "a b" has " "; hosts are separated by commas'],
  ["", "it names no host"],
  ["a,,b", "host 2 of 3 is empty: a comma too many"],
  ["a:1,", "host 2 of 2 is empty: a comma too many"],
  ["a:x", 'the port of "a:x" is not between 1 and 65535'],
  ["a:0", 'the port of "a:0" is not between 1 and 65535'],
  ["a:70000", 'the port of "a:70000" is not between 1 and 65535'],
  ["::1:2181", '"::1:2181" is written [::1]:2181'],
  ["http://a:1", "http:// is not part of it"],
];

test.each(WRONG)("%j is refused by each function of the client", async (list, sentence) => {
  const ways: readonly (() => unknown)[] = [
    () => parseConnectString(list),
    () => createClient(list),
    () => connect(list),
    () => adminCommand(list, "ruok"),
    () => {
      const zk = createClient("127.0.0.1:1");
      try {
        zk.updateServers(list);
      } finally {
        zk.disconnect();
      }
    },
  ];
  for (const way of ways) {
    const refused = await Promise.resolve()
      .then(way)
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining(sentence) });
  }
});

test.each(WRONG)("%j is refused by each way to give it to the command line", async (list, sentence) => {
  const runs = new CliRuns(() => "127.0.0.1:1");
  const ways: readonly (readonly string[])[] = [
    ["-server", list, "ls", "/"],
    ["--server", list, "ls", "/"],
    [`-server=${list}`, "ls", "/"],
    ["-server", list, "status"],
    ["-server", list, "4lw", "ruok"],
    ["-server", list, "leader", "transfer"],
    ["-server", list, "upgrade", "status"],
    ["-server", list, "version"],
    ["4lw", "ruok", list],
    ["connect", list],
  ];
  for (const words of ways) {
    const { status, stdout, stderr } = await runs.run("--json", ...words);
    const { error } = JSON.parse(`${stdout}${stderr}`.trim().split("\n").at(-1) ?? "");
    expect([words, status, error]).toEqual([
      words,
      2,
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(sentence) }),
    ]);
  }
});

test("connect keeps the session where its argument is no list of servers", async () => {
  await using server = await startServer({ port: 0 });
  await using session = await Session.open(server.connectString);
  expect((await session.run("connect", "a,,b")).stderr).toContain("host 2 of 3 is empty");
  expect((await session.run("ls", "/")).stdout).toContain("[zookeeper]");
});
