import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../connect.ts";

test("a start whose only attempt is under way says how far that has come", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const connecting = connect(`127.0.0.1:${port}`, { startTimeoutMs: 50 });
  await expect(connecting).rejects.toMatchObject({
    code: "OPERATION_TIMEOUT",
    message: expect.stringMatching(
      new RegExp(`127\\.0\\.0\\.1:${port}: (?:not connected yet|connected, and no answer to the connect request yet)`),
    ),
  });
});
