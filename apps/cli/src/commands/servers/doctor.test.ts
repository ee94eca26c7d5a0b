import { startServer } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const LIST = "server.1=127.0.0.1:2888:3888:participant;2181";

async function doctor(connectString: string, ...words: readonly string[]) {
  await using session = await Session.open(connectString, "json");
  const run = await session.run("doctor", ...words);
  return { status: await run.ended, report: run.objects[0], notes: run.stderr };
}

test("a sound server has no findings, and its admin port was asked", async () => {
  const port = await freePort();
  await using server = await startServer({ port: 0, admin: { port, address: "127.0.0.1" } });
  const found = await doctor(server.connectString, "--admin", `http://*:${port}`);
  expect(found).toMatchObject({
    status: 0,
    report: { sound: true, looked: "1 server", missing: [], findings: [] },
  });
});

test("what is wrong is named with its remedy, and ends with status 1", async () => {
  const absent = `127.0.0.1:${await freePort()}`;
  await using server = await startServer({ port: 0, admin: { enabled: false } });
  const admin = `http://127.0.0.1:${await freePort()}`;
  const found = await doctor(`${server.connectString},${absent}`, "--admin", admin);
  expect(found).toMatchObject({
    status: 1,
    report: {
      sound: false,
      looked: "2 servers",
      missing: [expect.stringMatching(/^the admin port at http:.*connection refused.*--admin$/)],
      findings: [
        {
          id: "member-silent",
          severity: "error",
          subject: absent,
          found: expect.stringContaining("ECONNREFUSED"),
          remedy: expect.stringContaining("zooid-server check"),
        },
      ],
    },
  });
});

test("where no server answers there is nothing to look at, which has a status of its own", async () => {
  const absent = `127.0.0.1:${await freePort()}`;
  expect(await doctor(absent, "--admin", "http://127.0.0.1:1")).toMatchObject({
    status: 3,
    report: { sound: false, findings: [] },
  });
});

test("the list in force is looked at", async () => {
  await using server = await startServer({ port: 0, skipAcl: true, admin: { enabled: false } });
  {
    await using session = await Session.open(server.connectString, "json");
    const lines = [LIST, LIST.replaceAll("1=", "2=").replaceAll("88", "89"), "version=1"];
    await (await session.run("set", "/zookeeper/config", lines.join("\n"))).ended;
  }
  const { report } = await doctor(server.connectString, "--admin", "http://127.0.0.1:1");
  const remedy = expect.stringContaining(
    `zooid-cli -server ${server.connectString} member add '3=HOST:2888:3888;2181'`,
  );
  expect(report).toMatchObject({
    findings: expect.arrayContaining([expect.objectContaining({ id: "even-voters", remedy })]),
  });
});

test.each(["ftp://*:1", "http://user@*:1", "8080"])("--admin %s is no admin port", async (url) => {
  expect(await doctor("127.0.0.1:1", "--admin", url)).toMatchObject({ status: 2 });
});
