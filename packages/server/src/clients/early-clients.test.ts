import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { startServer } from "../index.ts";

test("a client that connects during recovery is answered after it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "early-client-"));
  const port = await freePort();
  const starting = startServer({ port, dataDir: directory });
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const attempt = (): void => {
      const socket = connect(port, "127.0.0.1", () => socket.write("srvr"));
      socket.on("data", (chunk) => {
        text += chunk.toString();
      });
      socket.on("error", attempt);
      socket.on("end", () => resolve(text));
    };
    attempt();
  });
  expect(answer).toContain("Mode: standalone");
  await using _server = await starting;
  rmSync(directory, { recursive: true, force: true });
});
