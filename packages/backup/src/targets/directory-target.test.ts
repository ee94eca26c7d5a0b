import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { targetContract } from "../testing/target-contract.ts";
import { DirectoryTarget } from "./directory-target.ts";

let place: TemporaryDirectory;
let target: DirectoryTarget;
beforeEach(() => {
  place = new TemporaryDirectory();
  target = new DirectoryTarget(place.path);
});
afterEach(() => place[Symbol.dispose]());

describe("as each target", () => targetContract(() => target));

test("files and folders are their owner's alone", async () => {
  await target.put("base/1/0000", Buffer.from("x"));
  expect(statSync(join(place.path, "base/1/0000")).mode & 0o777).toBe(0o600);
  expect(statSync(join(place.path, "base/1")).mode & 0o777).toBe(0o700);
});

test("a file that a crash left unfinished is no object", async () => {
  await target.put("log/a", Buffer.from("x"));
  writeFileSync(join(place.path, "log/.0123456789ab.part"), "half");
  expect(await target.list("log/")).toEqual([{ name: "log/a", bytes: 1 }]);
});

test("the folder of a base goes with its last file", async () => {
  await target.put("base/1/0000", Buffer.from("x"));
  await target.put("base/2/0000", Buffer.from("x"));
  await target.remove("base/1/0000");
  expect(readdirSync(join(place.path, "base"))).toEqual(["2"]);
});

test("a directory that is not there is not made", async () => {
  rmSync(place.path, { recursive: true });
  const absent = {
    code: "NO_TARGET",
    message: `${place.path} does not exist: no directory is there; make it, or mount its disk`,
  };
  await expect(target.put("log/a", Buffer.from("x"))).rejects.toMatchObject(absent);
  await expect(target.get("log/a", 1)).rejects.toMatchObject(absent);
  await expect(target.list("log/")).rejects.toMatchObject(absent);
  mkdirSync(place.path);
});

test("a link and a pipe are no objects: nothing else than a file is opened", async () => {
  mkdirSync(join(place.path, "log"));
  symlinkSync("/etc/passwd", join(place.path, "log/link"));
  execFileSync("mkfifo", [join(place.path, "log/pipe")]);
  expect(await target.list("log/")).toEqual([]);
  for (const name of ["log/link", "log/pipe"])
    await expect(target.get(name, 100_000)).rejects.toMatchObject({ code: "DAMAGED" });
});
