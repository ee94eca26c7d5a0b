import { expect, test } from "vitest";
import { ListenHost, type Lookup } from "./listen-host.ts";

function failing(code: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code} zk-1`), { code });
}

function hostOf(lookup: Lookup, host: string | undefined = "zk-1") {
  const lines: string[] = [];
  const setting = "this server's line server.1";
  const listenHost = new ListenHost({ host, setting, lookup, retryMs: 1, warn: (text) => lines.push(text) });
  return { lines, listenHost };
}

test("a name that does not resolve is looked up until it does, with one line", async () => {
  const answers = ["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "ENOTFOUND"];
  const waits: (string | undefined)[] = [];
  const { lines, listenHost } = hostOf(async () => {
    waits.push(listenHost.waitsFor);
    const code = answers.shift();
    if (code !== undefined) throw failing(code);
    return "10.0.0.1";
  });
  expect(await listenHost.address()).toBe("10.0.0.1");
  expect(lines).toHaveLength(1);
  for (const part of ["zk-1", "server.1", "ENOTFOUND"]) expect(lines[0]).toContain(part);
  expect(waits.slice(0, 2)).toEqual([undefined, lines[0]]);
  expect(waits[2]).toContain("EAI_AGAIN");
  expect(listenHost.waitsFor).toBeUndefined();
});

test("addresses, and all addresses, are not looked up", async () => {
  const never: Lookup = () => Promise.reject(new Error("looked up"));
  expect(await hostOf(never, "10.0.0.1").listenHost.address()).toBe("10.0.0.1");
  expect(await hostOf(never, "::1").listenHost.address()).toBe("::1");
  const every = new ListenHost({ host: undefined, setting: "", lookup: never, warn: () => {} });
  expect(await every.address()).toBeUndefined();
  expect(await every.isStale("EADDRNOTAVAIL")).toBe(false);
});

test("another error of the resolver ends the start", async () => {
  await expect(hostOf(() => Promise.reject(failing("EMFILE"))).listenHost.address()).rejects.toMatchObject({
    code: "EMFILE",
  });
});

test("a stop ends the wait", async () => {
  const { listenHost } = hostOf(() => Promise.reject(failing("ENOTFOUND")));
  const address = listenHost.address();
  listenHost.stop();
  expect(await address).toBeUndefined();
});

test("a name with the address of another machine is tried again for a while, an address never", async () => {
  const { lines, listenHost } = hostOf(async () => "10.0.0.1");
  expect(await listenHost.isStale("EADDRNOTAVAIL")).toBe(true);
  expect(lines).toHaveLength(1);
  expect(await listenHost.isStale("EACCES")).toBe(false);
  expect(await hostOf(async () => "", "10.0.0.1").listenHost.isStale("EADDRNOTAVAIL")).toBe(false);
  listenHost.stop();
  expect(await listenHost.isStale("EADDRNOTAVAIL")).toBe(false);
});

test("after two minutes of another machine's address the start fails", async () => {
  // Each wait counts as a minute, and lasts none.
  const slow = new ListenHost({ host: "zk-1", setting: "x", retryMs: 60_000, wait: async () => {}, warn: () => {} });
  expect([await slow.isStale("EADDRNOTAVAIL"), await slow.isStale("EADDRNOTAVAIL")]).toEqual([true, true]);
  expect(await slow.isStale("EADDRNOTAVAIL")).toBe(false);
});
