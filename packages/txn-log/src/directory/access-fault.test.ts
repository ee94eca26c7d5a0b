import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accessFault } from "./access-fault.ts";

/** Not in use by anyone, and no superuser: nothing is kept from that one. */
const STRANGER = 54_321;
const isRoot = process.getuid?.() === 0;

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-access-"));
  chmodSync(directory, 0o755);
});
afterEach(() => {
  chmodSync(directory, 0o755);
  rmSync(directory, { recursive: true, force: true });
});

/**
 * The answer as another user gets it where this one may do everything, else as the owner who took
 * the rights away.
 */
function faultOf(path: string): string {
  const script = `import { accessFault } from ${JSON.stringify(join(import.meta.dirname, "access-fault.ts"))};
    if (${isRoot}) process.setuid(${STRANGER});
    console.log(accessFault(${JSON.stringify(path)}, "read and write") ?? "none");`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).trim();
}

test("a file that may be used, and one that is missing, have no fault", () => {
  const file = join(directory, "log.db");
  expect(accessFault(file, "read and write")).toBeUndefined();
  writeFileSync(file, "");
  expect(accessFault(file, "read and write")).toBeUndefined();
});

test("a file of another user is named with its owner, the user of the process, and what to do", () => {
  const file = join(directory, "log.db");
  writeFileSync(file, "", { mode: isRoot ? 0o600 : 0o400 });
  expect(faultOf(file)).toMatch(
    isRoot
      ? /log\.db belongs to user 0 \(root\), group 0, and this process runs as user 54321, who may not read and write it \(mode 0600\): give it to that user \(chown -R 54321 \S+log\.db\), or start the server as user 0 \(root\)$/
      : /log\.db belongs to user \d+.*, as whom this process runs and may not read and write it \(mode 0400\): chmod u\+rwX \S+log\.db$/,
  );
});

test("the outermost directory that keeps the process out is named", () => {
  const closed = join(directory, "closed");
  mkdirSync(join(closed, "data"), { recursive: true });
  chmodSync(closed, isRoot ? 0o700 : 0o600);
  expect(faultOf(join(closed, "data"))).toMatch(/^\S+\/closed belongs to user /);
  chmodSync(closed, 0o700);
});
