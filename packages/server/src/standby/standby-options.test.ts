import { expect, test } from "vitest";
import { ConfigError, parseServerConfig, type ServerOptions } from "../config.ts";
import type { StandbyOptions } from "./standby-options.ts";

const SECRET = "canary-of-the-secret";
const env = { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: SECRET, PATH: "/bin" };
const servers = [1, 2, 3].map((sid) => ({ sid, host: `10.0.0.${sid}`, quorumPort: 1, electionPort: 2 }));
const ensemble = { sid: 1, servers };
const MEMBER: ServerOptions = { dataDir: "/d", ensemble };

function problemsOf(standby: StandbyOptions, options = MEMBER): readonly string[] {
  try {
    parseServerConfig({ ...options, standby });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.filter((problem) => problem.startsWith("zooid.standby."));
    throw error;
  }
}

test.each<[problem: RegExp, standby: StandbyOptions, options?: ServerOptions]>([
  [
    /^zooid\.standby\.endpoint, region without zooid\.standby\.from: no archive is read$/,
    { endpoint: "e", region: "r" },
  ],
  [/^zooid\.standby\.from: a directory for backups is named by its absolute path, found "b"$/, { from: "b" }],
  [/^zooid\.standby\.endpoint: \/b is a directory/, { from: "/b", endpoint: "http://h" }],
  [/^zooid\.standby\.region: a region is letters/, { from: "s3://bucket", region: "a b", env }],
  [/^zooid\.standby\.credentialsFile names the file with the key/, { from: "s3://bucket" }],
  [/^zooid\.standby\.from is for the servers of an ensemble/, { from: "/b" }, { dataDir: "/d" }],
  [/^zooid\.standby\.from needs a data directory/, { from: "/b" }, { ensemble }],
  [
    /^zooid\.standby\.from names the archive of the server that follows Apache, and zooid\.backup\.target/,
    { from: "/b" },
    { ...MEMBER, history: { retainMs: 1000 }, backup: { target: "/b" } },
  ],
])("%s", (problem, standby, options) => {
  expect(problemsOf(standby, options)).toEqual([expect.stringMatching(problem)]);
});

test("a member's archive is well named", () => {
  expect(problemsOf({ from: "s3://bucket/a", env })).toEqual([]);
  expect(problemsOf({ from: "/b" })).toEqual([]);
});
