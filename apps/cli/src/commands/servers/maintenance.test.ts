import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

type Server = Awaited<ReturnType<typeof startServer>>;
let zk: Server;
let admin: string;
beforeEach(async () => {
  zk = await startServer({ port: 0, admin: { port: 0 }, superDigest: SUPER_DIGEST });
  admin = `http://127.0.0.1:${zk.adminPort}`;
});
afterEach(async () => {
  delete process.env["ZOOID_ADMIN_AUTH"];
  await zk[Symbol.asyncDispose]();
});

describe("server drain", () => {
  test("ends when no client is left, and undrain lets them connect again", async () => {
    const client = await connect(zk.connectString);
    try {
      await using session = await Session.open("127.0.0.1:1");
      const drained = await session.run("server", "drain", "--duration", "100", "--admin", admin, "--auth", SUPER);
      expect(await drained.ended).toBe(0);
      expect(drained.stdout.trim().split("\n").at(-1)).toBe(
        "drained; the server leads on: no other one can, or it is alone",
      );
      process.env["ZOOID_ADMIN_AUTH"] = SUPER;
      expect((await session.run("server", "undrain", "--admin", admin)).stdout).toBe("clients may connect again\n");
      await client.connected();
    } finally {
      await client.close();
    }
  });

  test("with --dry-run counts connections and closes none", async () => {
    const client = await connect(zk.connectString);
    try {
      await using session = await Session.open("127.0.0.1:1");
      const found = await session.run("server", "drain", "--dry-run", "--admin", admin, "--auth", SUPER);
      expect([await found.ended, found.stdout]).toEqual([
        0,
        "1 connection will be closed, and the leadership moves to another server\nnothing is changed: --dry-run\n",
      ]);
      await client.create("/still-connected", "");
      await using machine = await Session.open("127.0.0.1:1", "json");
      const asked = await machine.run("server", "drain", "--dry-run", "--admin", admin, "--auth", SUPER);
      expect(asked.objects).toEqual([
        { command: "server", draining: false, connections: 1, leading: true, dryRun: true },
      ]);
    } finally {
      await client.close();
    }
  });

  test.each([
    [["server", "undrain", "--dry-run", "--auth", SUPER], 2, /^--dry-run is for drain/],
    [["server", "undrain", "--wait", "--auth", SUPER], 2, /^--wait is for drain/],
    [["leader", "transfer", "--timeout", "5", "--auth", SUPER], 2, /^--timeout is for --wait/],
    [["leader", "transfer", "--dry-run", "--auth", SUPER], 1, /^the server refuses: this server is no member/],
    [["server", "drain"], 4, /^the server refuses: Auth info is missing/],
    [["server", "drain", "--auth", "digest someone:else"], 4, /^the server refuses: /],
    [
      ["server", "drain", "--auth", SUPER, "--duration", "soon"],
      2,
      /^--duration takes milliseconds from 0 to 3600000, found "soon"/,
    ],
    [["server", "drane"], 2, /^server takes drain or undrain, found "drane"/],
    [["leader", "transfer", "--auth", SUPER], 1, /^the server refuses: this server is no member of an ensemble/],
    [["leader", "transfer", "two", "--auth", SUPER], 2, /^a server is named by its number/],
  ])("%j is refused with the reason", async (words, status, reason) => {
    await using session = await Session.open("127.0.0.1:1", "json");
    const found = await session.run(...words, "--admin", admin);
    expect(await found.ended).toBe(status);
    expect(found.objects).toMatchObject([{ error: { message: expect.stringMatching(reason) } }]);
  });

  test.each([
    ["http://127.0.0.1:1", /^no answer from the admin port at http:\/\/127.0.0.1:1: /],
    ["zk-1", /^--admin: expected a URL such as/],
  ])("an admin port at %s is named in the error", async (url, reason) => {
    await using session = await Session.open("127.0.0.1:1", "json");
    const found = await session.run("server", "undrain", "--admin", url);
    expect(found.objects).toMatchObject([{ error: { message: expect.stringMatching(reason) } }]);
  });
});
