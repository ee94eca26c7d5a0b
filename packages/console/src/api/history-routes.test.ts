import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatZxid, type Zxid } from "@zooid/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Stage, startStage } from "../testing/stage.ts";
import { HISTORY_ROUTES } from "./history-routes.ts";

let folder: string;
let stage: Stage;
/** The zxids of the changes, by name. */
const zxids: Record<string, string> = {};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-console-history-"));
  stage = await startStage({}, { dataDir: join(folder, "data"), history: { retainMs: 3_600_000, fileMs: 100 } });
  const { zk } = stage;
  zxids["made"] = formatZxid((await zk.create("/a", "one\nline\n").then(() => zk.get("/a"))).stat.czxid);
  for (const name of ["two", "three"]) zxids[name] = formatZxid((await zk.set("/a", `${name}\nline\n`)).mzxid);
  await zk.create("/e", "1", { mode: "ephemeral" });
  await zk.delete("/e");
  await zk.create("/my-password", "hidden");
  zxids["secret"] = formatZxid((await zk.set("/my-password", "hidden too")).mzxid);
  zxids["end"] = formatZxid((await zk.set("/my-password", "hidden at last")).mzxid);
  await vi.waitFor(
    async () => expect((await stage.api("GET", "/history?path=/my-password")).json.items).toHaveLength(3),
    20_000,
  );
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Asks, and expects an answer as it is documented. */
async function documented(method: string, path: string, body?: object) {
  const answer = await stage.api(method, path, body === undefined ? {} : { body });
  const route = HISTORY_ROUTES.find((each) => each.method === method && path.startsWith(each.path));
  // Parsing leaves out fields that are not documented.
  expect(route?.reply.parse(answer.json)).toEqual(answer.json);
  return answer;
}

function undoOf(path: string, zxid = "", more = "") {
  return stage.api("GET", `/undo?path=${path}&zxid=${zxid}${more}`);
}

test("the changes of a node come in pages, oldest first, with their author", async () => {
  const first = await documented("GET", "/history?path=/a&limit=2");
  expect(first.json).toMatchObject({
    path: "/a",
    items: [
      { kind: "change", zxid: zxids["made"], op: "CREATE2", version: 0, dataLength: 9, isReadable: true },
      { kind: "change", zxid: zxids["two"], op: "SET_DATA", version: 1, who: { address: "127.0.0.1" } },
    ],
    next: zxids["two"],
  });
  const second = await stage.api("GET", `/history?path=/a&limit=2&after=${first.json.next}`);
  expect(second.json).toMatchObject({ items: [{ zxid: zxids["three"], version: 2 }], next: null });
});

test("an undo shows both values, and writes only over the version that was shown", async () => {
  const shown = await documented("GET", `/undo?path=/a&zxid=${zxids["three"]}`);
  expect(shown.json).toMatchObject({
    step: "set",
    version: 2,
    before: { text: "two\nline\n" },
    now: { text: "three\nline\n" },
    isMasked: false,
  });
  const body = { path: "/a", zxid: zxids["three"], version: 2 };
  expect((await stage.api("POST", "/undo", { body: { ...body, version: 1 } })).json).toMatchObject({
    status: 412,
    code: "BAD_VERSION",
  });
  expect(await stage.zk.getText("/a")).toBe("three\nline\n");
  expect(await documented("POST", "/undo", body)).toMatchObject({ status: 200, json: { step: "set" } });
  expect(await stage.zk.getText("/a")).toBe("two\nline\n");
  expect((await undoOf("/a", zxids["three"])).json).toMatchObject({ step: "none", version: null });
  expect((await stage.api("POST", "/undo", { body })).json).toMatchObject({ step: "none" });
});

test("a node that a change made is deleted, and made again by the undo of its end", async () => {
  expect((await undoOf("/a", zxids["made"])).json).toMatchObject({ step: "delete", before: null });
  const ephemeral = formatZxid((Number(zxids["secret"]) - 2) as Zxid);
  expect((await undoOf("/e", ephemeral)).json).toMatchObject({ step: "impossible", now: null });
  const refused = await stage.api("POST", "/undo", { body: { path: "/e", zxid: ephemeral, version: null } });
  expect(refused).toMatchObject({ status: 409, json: { code: "NOT_UNDONE", detail: "it was an ephemeral node" } });
});

test("data of a node with a secret's name are masked in both values", async () => {
  const masked = await undoOf("/my-password", zxids["end"]);
  expect(masked.json).toMatchObject({ before: null, now: null, isMasked: true, step: "set" });
  const shown = await undoOf("/my-password", zxids["end"], "&reveal=true");
  expect(shown.json).toMatchObject({ before: { text: "hidden too" }, now: { text: "hidden at last" } });
});

test("a moment that the history does not reach, and a wrong zxid, are refused with the reason", async () => {
  expect(await undoOf("/a", "0x7000000000")).toMatchObject({ status: 410, json: { code: "HISTORY_GONE" } });
  for (const zxid of ["0x0", "0xffffffffffffffffff"])
    expect(await undoOf("/a", zxid)).toMatchObject({ status: 400, json: { code: "BAD_ARGUMENTS" } });
  expect((await stage.api("GET", "/history?path=/a&after=soon")).status).toBe(400);
});

test("a server without a history says so", async () => {
  await using other = await startStage();
  expect(await other.api("GET", "/history?path=/")).toMatchObject({ status: 501, json: { code: "UNIMPLEMENTED" } });
});
