import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { directoryFault } from "./directory-fault.ts";

/** A user without rights, since the superuser is kept from nothing. */
const STRANGER = 54_321;
const isRoot = process.getuid?.() === 0;

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-directory-"));
  chmodSync(directory, 0o755);
});
afterEach(() => {
  chmodSync(directory, 0o755);
  rmSync(directory, { recursive: true, force: true });
});

/** The fault as a user without rights sees it. */
function faultOf(path: string): { readonly reason: string; readonly remedy: string } | null {
  const script = `import { directoryFault } from ${JSON.stringify(join(import.meta.dirname, "directory-fault.ts"))};
    if (${isRoot}) process.setuid(${STRANGER});
    console.log(JSON.stringify(directoryFault(${JSON.stringify(path)}) ?? null));`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
}

test("a directory that can be used or made has no fault, and nothing is made", () => {
  mkdirSync(join(directory, "data"));
  writeFileSync(join(directory, "data", "zooid.lock"), "");
  expect(directoryFault(join(directory, "data"))).toBeUndefined();
  expect(directoryFault(join(directory, "new", "below"))).toBeUndefined();
  expect(readdirSync(directory)).toEqual(["data"]);
});

test("a file in the way is named with the command that moves it", () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  const remedy = `name another directory, or move the file away (mv ${file} ${file}.old)`;
  expect(directoryFault(file)).toEqual({ reason: `${file} is no directory`, remedy });
  expect(directoryFault(join(file, "data"))).toEqual({
    reason: `it does not exist and cannot be made: ${file} is no directory`,
    remedy,
  });
});

test("a directory below one that cannot be written cannot be made", () => {
  if (!isRoot) chmodSync(directory, 0o555);
  expect(faultOf(join(directory, "a", "b"))).toMatchObject({
    reason: expect.stringMatching(/^it does not exist and cannot be made: \S+ belongs to user .* may not write it/),
    remedy: expect.stringMatching(isRoot ? new RegExp(`chown -R ${STRANGER} ${directory}`) : /^chmod u\+rwX/),
  });
});

test("a store's file of another user is a fault of its directory, and myid is none", () => {
  const data = join(directory, "data");
  mkdirSync(data);
  chmodSync(data, 0o777);
  writeFileSync(join(data, "myid"), "1");
  chmodSync(join(data, "myid"), isRoot ? 0o600 : 0o400);
  expect(faultOf(data)).toBeNull();
  writeFileSync(join(data, "zooid.lock"), "");
  chmodSync(join(data, "zooid.lock"), isRoot ? 0o600 : 0o400);
  expect(faultOf(data)?.reason).toMatch(/zooid\.lock belongs to user /);
});
