/** Each reader of the client, connected to each other service: an error that shows what came. */
import { startServer } from "@zooid/embedded-server";
import { FOREIGN_SERVICES, startForeignService } from "@zooid/wire/testing/foreign-services";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../connect.ts";
import { adminCommand } from "./admin-command.ts";
import { canAnswer } from "./word-answers.ts";

const WORDS = ["conf", "cons", "crst", "dirs", "dump", "envi", "gtmk", "hash", "isro", "mntr", "ruok", "srst"];
const MORE_WORDS = ["srvr", "stat", "stmk", "wchc", "wchp", "wchs"];

test.each(FOREIGN_SERVICES)("the greeting of $name is no answer to any word", async (service) => {
  const server = await startForeignService(service, onTestFinished);
  const reason = service.name === "tls" ? "the port speaks TLS" : `answered ${service.shown}`;
  for (const word of [...WORDS, ...MORE_WORDS]) {
    // Letters without an end of a line can be the answer to a word without a known form.
    if (word === "hash" && service.name === "a long line") continue;
    const asked = adminCommand(server, word, { timeoutMs: 60_000 });
    await expect(asked).rejects.toMatchObject({
      code: "CONNECTION_LOSS",
      message: expect.stringContaining(reason),
    });
  }
});

test.each(FOREIGN_SERVICES)("the greeting of $name is no connect response, and shown", async (service) => {
  const server = await startForeignService(service, onTestFinished);
  const zk = createClient(server, { connectWarningMs: Number.POSITIVE_INFINITY });
  onTestFinished(() => zk.disconnect());
  const reason = await new Promise<string>((resolve) => {
    zk.state$.subscribe((state) => {
      if ("reason" in state && state.reason !== undefined) resolve(state.reason);
    });
  });
  expect(reason).toBe(
    `${server}: the answer to the connect request is not ZooKeeper's: another service, or a port with TLS; it begins with ${service.shown}`,
  );
});

test("a service that sends the beginning of a line, and no more, is shown at the time limit", async () => {
  const service = { name: "prompt", greeting: "login: ", shown: '"login: "', hangsUp: false };
  const server = await startForeignService(service, onTestFinished);
  // Beside other work the letters may come behind a short limit.
  for (let timeoutMs = 30; ; timeoutMs *= 4) {
    const refusal = await adminCommand(server, "srvr", { timeoutMs }).catch((error: unknown) => String(error));
    if (refusal.includes("no answer in time") && timeoutMs < 10_000) continue;
    expect(refusal).toContain('it answered "login: "');
    return;
  }
});

test("each word's answer of a server is one", async () => {
  await using server = await startServer({ port: 0, fourLetterWords: "*" });
  await using zk = createClient(server.connectString);
  await zk.exists("/", { watch: true });
  // A mask would follow one of these words; the answer to the other is empty in an empty tree.
  for (const word of [...WORDS, ...MORE_WORDS].filter((word) => word !== "stmk" && word !== "hash"))
    expect(await adminCommand(server.connectString, word), word).not.toBe("");
  await using closed = await startServer({ port: 0, fourLetterWords: "isro" });
  for (const word of WORDS) await adminCommand(closed.connectString, word);
});

test.each([
  ["mntr", "zk_version\t3.9\r\n"],
  ["srvr", "ClickHouse Keeper version: v24\n"],
  ["srvr", "This ZooKeeper instance is not currently serving requests\n"],
  ["cons", "\n"],
  ["wchc", "\n"],
  ["cons", " /127.0.0.1:1[0](queued=0,recved=1,sent=0)\n"],
  ["abcd", "any text\n"],
])("to %s, %j is an answer", (word, text) => {
  expect(canAnswer(word, text, true)).toBe(true);
});
