import { request } from "node:http";
import { expect, test } from "vitest";
import { startServer } from "../server.ts";

function statusOf(port: number, path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  return new Promise<number | undefined>((resolve, reject) => {
    const asked = request({ port, path, headers, method, host: "127.0.0.1" }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.once("error", reject);
    asked.end();
  });
}

test("an application answers its own paths of the admin port, by any method, for this host only", async () => {
  const asked: string[] = [];
  await using server = await startServer({
    port: 0,
    admin: { port: 0 },
    adminApplication: ({ method, url }, response) => {
      if (url !== "/own") return false;
      asked.push(`${method}`);
      response.writeHead(204).end();
      return true;
    },
  });
  const port = server.adminPort ?? 0;
  expect(await statusOf(port, "/own", {}, "PUT")).toBe(204);
  expect(await statusOf(port, "/own")).toBe(204);
  expect(await statusOf(port, "/own", { Host: "evil.example" })).toBe(421);
  expect(await statusOf(port, "/own", {}, "TRACE")).toBe(403);
  expect(await statusOf(port, "/readyz")).toBe(200);
  expect(await statusOf(port, "/other")).toBe(404);
  expect(asked).toEqual(["PUT", "GET"]);
});

test("reports are for this process, whatever the whitelist", async () => {
  await using server = await startServer({ port: 0 });
  expect(await server.report("cons")).toBe("\n");
  expect(await server.report("dump")).toContain("ephemeral nodes dump:");
  expect(await server.report("srvr")).toContain("Mode: standalone");
});
