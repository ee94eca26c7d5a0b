import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CliRuns } from "./testing/cli-process.ts";

let server: ZooidServer;
const runs = new CliRuns(() => server.connectString);
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.stop());

test("an admin port that sends without an end is given up", async () => {
  const chunk = Buffer.alloc(2 ** 20, " ");
  const endless = createServer((_, response) => {
    const send = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", send);
    send();
  }).listen(0, "127.0.0.1");
  await once(endless, "listening");
  const { port } = endless.address() as AddressInfo;
  const { stderr, status } = await runs.run("leader", "transfer", "2", "--admin", `http://127.0.0.1:${port}`);
  endless.closeAllConnections();
  endless.close();
  expect(stderr).toContain("has more than 16777216 bytes");
  expect(status).toBe(1);
});
