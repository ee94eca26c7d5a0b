import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const SUPER = "digest super:test";

let server: ZooidServer;
let asked: unknown[];
let problems: string[];
beforeEach(async () => {
  asked = [];
  problems = [];
  server = await startServer({
    port: 0,
    superDigest: SUPER_DIGEST,
    admin: { port: 0 },
    reload: (request) => {
      asked.push(request);
      return problems.length > 0
        ? { problems, changed: [], notApplied: [], warnings: [] }
        : {
            problems,
            changed: ['maxCnxns is "5", was not set'],
            notApplied: ["tickTime waits"],
            warnings: ["tickTme is unknown"],
          };
    },
  });
});
afterEach(() => server.stop());

async function run(...words: readonly string[]) {
  await using session = await Session.open(server.connectString);
  const found = await session.run("reload", ...words, "--admin", `http://127.0.0.1:${server.adminPort}`);
  return { status: await found.ended, out: found.stdout, error: found.stderr };
}

test.each([
  [[], false, ""],
  [["--dry-run"], true, "nothing is changed: --dry-run\n"],
])("reload %j prints what the server has changed, and what waits", async (words, isDryRun, end) => {
  expect(await run(...words, "--auth", SUPER)).toMatchObject({
    status: 0,
    out: `maxCnxns is "5", was not set\nnot applied: tickTime waits\nwarning: tickTme is unknown\n${end}`,
  });
  expect(asked).toEqual([{ isDryRun, address: "127.0.0.1" }]);
});

test("mistakes of the configuration are the error, and so is a requester without the right", async () => {
  problems = ["zoo.cfg: tickTime (line 2) is a number", "maxCnxns is a number"];
  const refused = await run("--auth", SUPER);
  expect(refused.status).not.toBe(0);
  expect(refused.error).toContain(
    "the configuration is not reloaded: zoo.cfg: tickTime (line 2) is a number; maxCnxns is a number",
  );
  asked = [];
  expect((await run()).status).not.toBe(0);
  expect((await run("--auth", "digest nobody:x")).status).not.toBe(0);
  expect(asked).toEqual([]);
});
