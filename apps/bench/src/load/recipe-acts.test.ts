import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@zooid/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ActObserver, actOf, type RecipeName } from "./recipe-acts.ts";
import { RecipeClients } from "./recipe-clients.ts";

const SERVER_BIN = fileURLToPath(new URL("../../../server/bin/zooid-server.cjs", import.meta.url));

let data = "";
let server: ChildProcess;
let port = 0;
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "zooid-bench-acts-"));
  server = spawn(SERVER_BIN, ["--port", "0", "--data", join(data, "data")], { stdio: ["ignore", "pipe", "inherit"] });
  for (let log = ""; port === 0; port = Number(/serves ZooKeeper clients on [^ ]*:(\d+),/.exec(log)?.[1] ?? 0))
    log += String((await once(server.stdout ?? server, "data"))[0]);
});
afterAll(async () => {
  server.kill("SIGTERM");
  await once(server, "close");
  rmSync(data, { recursive: true, force: true });
});

test.each<RecipeName>(["fair lock", "unfair lock", "fair election", "unfair election"])(
  "%s: the last member that has not failed does not wait",
  async (recipe) => {
    const path = `/${recipe.replace(" ", "-")}`;
    const hosts = [{ name: "127.0.0.1", port }];
    await using maker = await connect(`127.0.0.1:${port}`);
    await maker.create(path);
    const clients = await RecipeClients.open({ hosts, count: 3, sessionTimeoutMs: 30_000 });
    const failures: unknown[] = [];
    const thirdAfterFailures = Promise.withResolvers<void>();
    let doneSinceFailures = 0;
    const observer: ActObserver = {
      done: () => {
        if (failures.length === 2 && ++doneSinceFailures === 3) thirdAfterFailures.resolve();
      },
      took: () => {},
      saw: () => {},
      calm: () => {},
      failed: (error) => failures.push(error),
    };
    const act = actOf(recipe, { clients, path, payloadBytes: 0, observer });
    await act.prepare();
    const acting = act.run();
    const [, second, third] = clients.all;
    await Promise.all([second?.close(), third?.close()]);
    await thirdAfterFailures.promise;
    await clients.close();
    await acting;
    expect(failures).toHaveLength(3);
  },
);

test("a call on a client that is being closed blocks no wait", async () => {
  const hosts = [{ name: "127.0.0.1", port }];
  const clients = await RecipeClients.open({ hosts, count: 1, sessionTimeoutMs: 30_000 });
  const [client] = clients.all;
  const closing = clients.close();
  // One of them falls between the client's end and that of its metrics.
  let asking = client?.close();
  for (let i = 0; i < 10; i++) asking = asking?.then(() => void client?.get("/").catch(() => {}));
  await Promise.all([closing, asking]);
  await clients.quiet();
});
