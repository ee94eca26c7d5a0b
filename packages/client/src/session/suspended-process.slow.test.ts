import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startServer } from "@zooid/embedded-server";
import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { connect } from "../connect.ts";

const CLIENT = fileURLToPath(new URL("../testing/suspended-client.ts", import.meta.url));

test("a process that was stopped for longer than its session reports the loss before all data that came meanwhile", async () => {
  await using server = await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 3_000 });
  await using zk = await connect(server.connectString);
  await zk.create("/news", "old");
  const child = spawn(process.execPath, ["--conditions=@zooid/source", CLIENT, server.connectString], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    const said: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
    const until = (word: string): Promise<void> => expect.poll(() => said, { timeout: 20_000 }).toContain(word);
    await until("old");
    child.kill("SIGSTOP");
    // The event goes into the stopped process's socket, and the session ends behind it.
    await zk.set("/news", "new");
    await firstValueFrom(zk.watchExists$("/mine").pipe(filter((stat) => stat === null)));
    said.length = 0;
    child.kill("SIGCONT");
    await until("new");
    expect(said.slice(0, 2)).toEqual(["suspended", "lost"]);
    expect(said, "an event of the lost session").not.toContain("data-changed");
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});
