import { expect, test } from "vitest";
import { ConfigError, parseServerConfig } from "../config.ts";
import type { BackupOptions } from "./backup-options.ts";

const SECRET = "canary-of-the-secret";
const env = { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: SECRET, PATH: "/bin" };

function parse(backup: BackupOptions, retainMs = 1000) {
  return parseServerConfig({ dataDir: "/d", history: { retainMs }, backup }).backup;
}

function problemsOf(backup: BackupOptions, retainMs?: number): readonly string[] {
  try {
    parse(backup, retainMs);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test("a target has defaults, and gets no more of the environment than the key", () => {
  expect(parse({ target: "s3://bucket/a", env })).toEqual({
    target: "s3://bucket/a",
    baseEveryMs: 86_400_000,
    retainMs: 2_592_000_000,
    bytesPerSecond: 0,
    env: { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: SECRET, AWS_SESSION_TOKEN: undefined },
  });
  expect(parse({})).toBeUndefined();
});

test.each<readonly [problem: RegExp, backup: BackupOptions]>([
  [
    /^zooid\.backup\.region, retainMs without zooid\.backup\.target: nothing is backed up$/,
    { region: "r", retainMs: 1 },
  ],
  [/^zooid\.backup\.target: a directory for backups is named by its absolute path, found "b"$/, { target: "b" }],
  [/^zooid\.backup\.target: the bucket in "s3:\/\/B" is no bucket's name$/, { target: "s3://B", env }],
  [/^zooid\.backup\.endpoint: \/b is a directory/, { target: "/b", endpoint: "http://h" }],
  [/^zooid\.backup\.credentialsFile: \/b is a directory/, { target: "/b", credentialsFile: "/k" }],
  [/^zooid\.backup\.endpoint: an endpoint is an address like/, { target: "s3://bucket", endpoint: "h:1", env }],
  [/^zooid\.backup\.region: a region is letters/, { target: "s3://bucket", region: "a b", env }],
  [/^zooid\.backup\.credentialsFile names the file with the key/, { target: "s3://bucket" }],
  [/^zooid\.backup\.baseEveryMs is a whole number from 60000 to \d+, found 7$/, { target: "/b", baseEveryMs: 7 }],
  [/^zooid\.backup\.retainMs is a whole number from 0/, { target: "/b", retainMs: -1 }],
  [/^zooid\.backup\.bytesPerSecond is a whole number from 0/, { target: "/b", bytesPerSecond: 0.5 }],
])("%s", (problem, backup) => {
  expect(problemsOf(backup)).toEqual([expect.stringMatching(problem)]);
});

test("a backup needs a history", () => {
  expect(problemsOf({ target: "/b" }, 0)).toEqual([
    "zooid.backup.target needs zooid.history.retainMs above 0: what the history has is backed up",
  ]);
});
