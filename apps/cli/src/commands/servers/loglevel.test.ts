import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

/** The server's answer, and the request that it got. */
let answer: Readonly<Record<string, unknown>>;
let admin: Server;
let asked: string[];
beforeEach(async () => {
  asked = [];
  admin = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ command: "log", error: null, ...answer }));
  });
  admin.listen(0, "127.0.0.1");
  await once(admin, "listening");
});
afterEach(() => {
  admin.close();
  admin.closeAllConnections();
});

const LEVELS = ["debug", "info", "warn", "error"] as const;

async function loglevel(format: "text" | "json", ...words: readonly string[]) {
  await using session = await Session.open("127.0.0.1:1", format);
  const { port } = admin.address() as AddressInfo;
  const run = await session.run("loglevel", ...words, "--admin", `http://127.0.0.1:${port}`);
  return { status: await run.ended, text: run.stdout.trim(), objects: format === "json" ? run.objects : [] };
}

test.each(LEVELS.flatMap((before) => LEVELS.map((level) => [before, level] as const)))(
  "a level that is %s becomes %s, and both are printed",
  async (before, level) => {
    answer = { log_level: level, log_level_before: before };
    const said = before === level ? `the log level is ${level} already` : `the log level is ${level}, was ${before}`;
    expect(await loglevel("text", level)).toMatchObject({ status: 0, text: said });
    expect((await loglevel("json", level)).objects).toMatchObject([{ level, before }]);
    expect(asked).toEqual(Array(2).fill(`POST /commands/set_log_level?level=${level}`));
  },
);

test.each(LEVELS)("the level %s is read, and nothing is changed", async (level) => {
  answer = { log_level: level };
  expect(await loglevel("text")).toMatchObject({ status: 0, text: level });
  expect(asked).toEqual(["GET /commands/log_level"]);
});

test.each(["loud", "DEBUG", "0"])("%s is no level, and nothing is asked", async (level) => {
  answer = {};
  expect([(await loglevel("text", level)).status, asked]).toEqual([1, []]);
});
