import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { digestId } from "@zooid/client";
import { afterAll, expect, test } from "vitest";
import { closeBrowser, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

interface Site extends AsyncDisposable {
  readonly url: string;
}

/**
 * A site on another port of this machine: a browser sends it the same cookies, since it is the same
 * host.
 */
async function startSite(html: string): Promise<Site> {
  const server: Server = createServer((_message, response) => {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(html);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const REQUESTS = [
  { method: "POST", path: "/node", type: "text/plain" },
  { method: "POST", path: "/node", type: "application/json" },
  { method: "PUT", path: "/node?path=/a", type: "text/plain" },
  { method: "DELETE", path: "/node?path=/a&recursive=true", type: "text/plain" },
  { method: "POST", path: "/multi", type: "text/plain" },
  { method: "POST", path: "/logout", type: "text/plain" },
  { method: "GET", path: "/node?path=/a", type: "text/plain" },
  { method: "GET", path: "/session", type: "text/plain" },
] as const;

test("a page of another site changes nothing, reads nothing and shows nothing with a user's cookie", async () => {
  const operator = `digest:${digestId("alice", "secret")}`;
  await using stage = await startBrowserStage({ roles: { operators: [operator] } });
  await stage.zk.create("/a", "mine");
  const page = await stage.open("#/tree?path=%2Fa");
  await page.getByRole("button", { name: "Log in" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "User" }).fill("alice");
  await dialog.getByLabel("Password").fill("secret");
  await dialog.getByRole("button", { name: "Log in" }).click();
  await page.locator("section.data").getByText("mine").waitFor();

  const body = JSON.stringify({ path: "/evil", data: { text: "x" }, ops: [{ op: "delete", path: "/a" }] });
  await using site = await startSite(
    `<form id="form" method="post" enctype="text/plain" target="result" action="${stage.url}/api/v1/node">
       <input name='{"path":"/evil","data":{"text":"' value='x"}}'>
     </form>
     <iframe name="result"></iframe><iframe id="frame" src="${stage.url}/console/"></iframe>`,
  );
  const evil = await page.context().newPage();
  await evil.goto(site.url);
  await evil.locator("#form").evaluate((form: HTMLFormElement) => form.submit());
  const answers = await evil.evaluate(
    async ({ url, requests, text }) => {
      const answered: string[] = [];
      for (const mode of ["cors", "no-cors"] as const) {
        for (const { method, path, type } of requests) {
          const given = method === "GET" ? {} : { body: text, headers: { "Content-Type": type } };
          try {
            const answer = await fetch(`${url}/api/v1${path}`, { method, mode, credentials: "include", ...given });
            // An opaque answer cannot be read.
            if (answer.type !== "opaque") answered.push(`${mode} ${method} ${path}: ${answer.status}`);
          } catch {}
        }
      }
      return answered;
    },
    { url: stage.url, requests: REQUESTS, text: body },
  );
  expect(answers).toEqual([]);
  for (const frame of evil.frames().slice(1)) expect(await frame.locator("main, header.top").count()).toBe(0);

  expect(await stage.zk.exists("/evil")).toBeNull();
  expect(await stage.zk.getText("/a")).toBe("mine");
  await page.reload();
  await page.getByText("alice").waitFor();
});

test("a change without the token of its session is refused, and the page keeps its own", async () => {
  await using stage = await startBrowserStage();
  const page = await stage.open("#/tree");
  const statuses = await page.evaluate(async () => {
    const asked = ["", "wrong"].map(async (token) => {
      const headers = { "Content-Type": "application/json", ...(token === "" ? {} : { "X-CSRF-Token": token }) };
      const answer = await fetch("/api/v1/node", { method: "POST", headers, body: '{"path":"/evil"}' });
      return [answer.status, ((await answer.json()) as { code: string }).code];
    });
    return await Promise.all(asked);
  });
  expect(statuses).toEqual([
    [403, "CSRF"],
    [403, "CSRF"],
  ]);
  expect(await stage.zk.exists("/evil")).toBeNull();
});

test("a link from another site opens the console, which is no request for that site", async () => {
  await using stage = await startBrowserStage();
  await using site = await startSite(`<a href="${stage.url}/console/#/tree?path=%2F">console</a>`);
  const page = await stage.open();
  const other = await page.context().newPage();
  await other.goto(site.url);
  await other.getByRole("link", { name: "console" }).click();
  await other.getByRole("treeitem", { name: /zookeeper/ }).waitFor();
});
