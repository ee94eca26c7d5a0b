import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { Interpreter } from "../../interpreter.ts";
import { Output } from "../../output.ts";
import { connectionTo } from "../../testing/session.ts";

test.each([
  [false, "held"],
  [true, "\u001b[36mheld\u001b[39m"],
])("with colours: %s, an ephemeral node is drawn as %j", async (hasColors, drawn) => {
  await using server = await startServer({ port: 0 });
  await using client = await connect(server.connectString);
  await client.create("/t");
  await client.create("/t/held", "", { mode: "ephemeral" });
  await client.create("/t/lasting");
  let printed = "";
  const output = new Output({
    format: "text",
    stdout: (text) => {
      printed += text;
    },
    stderr: () => undefined,
    hasColors,
  });
  const connection = connectionTo(
    server.connectString,
    new Output({ format: "text", stdout: () => undefined, stderr: () => undefined }),
  );
  await connection.open();
  await new Interpreter(connection, output).run(["tree", "/t"], new AbortController().signal);
  await connection.close();
  expect(printed).toContain(drawn);
  expect(printed.includes("\u001b[36mlasting")).toBe(false);
  expect(printed).toContain("3 nodes, 1 of them ephemeral");
});
