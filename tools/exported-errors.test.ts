/**
 * Each error class that a package exports is written as JSON in one form, and keeps its code in
 * clones.
 */
import { readdirSync, readFileSync } from "node:fs";
import { ApachePeerError } from "@zooid/apache-peer";
import { BackupError } from "@zooid/backup";
import { DecodeError, TransactionError, ZkError } from "@zooid/client";
import { ApacheTxnError } from "@zooid/data-tree";
import { ConfigError, FollowError, OfflineError, PeerPortError } from "@zooid/embedded-server";
import { ArgumentError, errorCode, InvariantError, ServerNumberError, WireError, type Zxid } from "@zooid/model";
import { MemberRuleError } from "@zooid/model/membership";
import { SubtreeFileError } from "@zooid/model/subtree-file";
import { RecipeError } from "@zooid/recipes";
import { SeedError, VirtualDeadlineError } from "@zooid/testing";
import { StoreError } from "@zooid/txn-log";
import { beforeAll, expect, test } from "vitest";

const PACKAGES = new URL("../packages/", import.meta.url);
const JSON_CHARS_MAX = 48 * 1024;
const LARGE = 10 * 1024 * 1024;

const TEXT = "x".repeat(LARGE);
const DATA = Buffer.alloc(LARGE, "ü");
const CAUSE = Object.assign(new Error(TEXT, { cause: new TypeError("inner", { cause: DATA }) }), {
  code: "ECONNRESET",
});

const stat = { mzxid: 7 as Zxid } as ConstructorParameters<typeof DecodeError>[0]["stat"];
const zk = { code: "CONNECTION_LOSS", op: "get", path: TEXT, outcome: "unknown" } as const;
const ops = Array.from({ length: 20_000 }, () => ({ op: "create", path: "/a", code: "NO_NODE" }) as const);

type AnyClass = new (...args: never[]) => Error;

/** One of each class, with as much in it as there can be. */
const SAMPLES: readonly Error[] = [
  new ApachePeerError({ code: "CONNECTION_LOST", reason: TEXT }, { cause: CAUSE }),
  new ApacheTxnError({ code: "CANNOT_BE_KEPT", zxid: 7 as Zxid, path: `/${TEXT}`, found: TEXT }),
  new ArgumentError(TEXT, [TEXT, TEXT], { cause: CAUSE }),
  new BackupError({ code: "UNREACHABLE", target: TEXT, reason: TEXT }),
  new ConfigError([TEXT]),
  new FollowError(TEXT, { cause: CAUSE }),
  new DecodeError({ path: "/a", data: DATA, stat }, CAUSE),
  new InvariantError(TEXT),
  new MemberRuleError("LINES", TEXT),
  new SubtreeFileError(TEXT),
  new OfflineError([TEXT]),
  new PeerPortError({ purpose: "quorum", host: "a", port: 1 }, "EADDRINUSE", CAUSE),
  new RecipeError("NOT_OURS", TEXT, { cause: CAUSE }),
  new SeedError(1, [], CAUSE),
  new ServerNumberError(TEXT),
  new StoreError({ code: "DEFECT", reason: TEXT }),
  new TransactionError(ops),
  new VirtualDeadlineError({ waitsFor: TEXT, deadlineMs: 1, seed: 1, situation: [TEXT] }),
  new WireError("LENGTH", TEXT),
  new ZkError(zk, { cause: CAUSE }),
];

/** By their names, as packages export them. */
const classes = new Map<string, AnyClass>();

beforeAll(async () => {
  for (const entry of publishedEntries()) {
    for (const [name, value] of Object.entries((await import(entry)) as Record<string, unknown>))
      if (isErrorClass(value)) classes.set(name, value);
  }
});

/** The source of each entry that is published: those have types. */
function publishedEntries(): readonly string[] {
  return readdirSync(PACKAGES).flatMap((folder) => {
    const { exports = {} } = JSON.parse(readFileSync(new URL(`${folder}/package.json`, PACKAGES), "utf8")) as {
      readonly exports?: Readonly<Record<string, { readonly types?: string; readonly "@zooid/source": string }>>;
    };
    return Object.values(exports)
      .filter(({ types }) => types !== undefined)
      .map((entry) => new URL(`${folder}/${entry["@zooid/source"]}`, PACKAGES).href);
  });
}

function isErrorClass(value: unknown): value is AnyClass {
  return typeof value === "function" && value.prototype instanceof Error;
}

/** A subclass without fields of its own is as its parent. */
function sampleOf(found: AnyClass): Error | undefined {
  const sample = SAMPLES.find((one) => one.constructor === found);
  if (sample !== undefined) return sample;
  return found.prototype instanceof ZkError
    ? new (found as unknown as typeof ZkError)(zk, { cause: CAUSE })
    : undefined;
}

test("each error class that is exported has a sample here", () => {
  expect(classes.size).toBeGreaterThan(SAMPLES.length);
  for (const [name, found] of classes) expect([name, sampleOf(found)]).toEqual([name, expect.any(Error)]);
});

test("as JSON each has name, code, message, its fields and its cause, in a bounded size", () => {
  for (const [name, found] of classes) {
    const error = sampleOf(found) as Error & { readonly code: string };
    const text = JSON.stringify(error);
    expect([name, text.length]).toEqual([name, expect.toSatisfy((length: number) => length < JSON_CHARS_MAX)]);
    const json = JSON.parse(text) as Record<string, unknown>;
    expect([name, json["name"], json["code"]]).toEqual([name, error.name, error.code]);
    expect(error.message.startsWith(String(json["message"]).replace(/… \(\d+ characters\)$/, ""))).toBe(true);
    for (const field of Object.keys(error))
      expect([name, Object.keys(json)]).toEqual([name, expect.arrayContaining([field])]);
    expect([name, "cause" in json]).toEqual([name, error.cause !== undefined]);
  }
});

test("each keeps its code in a clone", () => {
  for (const [name, found] of classes) {
    const error = sampleOf(found) as Error & { readonly code: string };
    expect([name, error.code]).toEqual([name, expect.stringMatching(/^[A-Z][A-Z_]+$/)]);
    expect([name, errorCode(structuredClone(error))]).toEqual([name, error.code]);
  }
});
