import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Fault, S3Service } from "../testing/s3-service.ts";
import { targetContract } from "../testing/target-contract.ts";
import { S3Target, type S3TargetOptions } from "./s3-target.ts";

const SECRET = "canary-of-the-secret";
let service: S3Service;
beforeEach(async () => {
  service = await S3Service.start();
});
afterEach(() => service[Symbol.asyncDispose]());

function open(options: Partial<S3TargetOptions> = {}): S3Target {
  const credentials = { accessKeyId: "key", secretAccessKey: SECRET, sessionToken: undefined };
  return new S3Target({
    bucket: "bucket",
    prefix: "one/two",
    endpoint: service.endpoint,
    credentials,
    retryMs: 1,
    ...options,
  });
}

describe("as each target", () => targetContract(() => open()));
describe("as each target, for a whole bucket", () => targetContract(() => open({ prefix: "" })));

test("objects are below the prefix", async () => {
  await open().put("log/a", Buffer.from("x"));
  expect([...service.objects.keys()]).toEqual(["one/two/log/a"]);
});

test.each<readonly [what: string, faults: readonly Fault[]]>([
  [
    "a status of 503 and one of 500",
    [
      { kind: "status", status: 503 },
      { kind: "status", status: 500 },
    ],
  ],
  ["a connection that is reset", [{ kind: "reset" }]],
  ["an answer that is cut", [{ kind: "cut" }]],
  ["slow down", [{ kind: "status", status: 429, code: "SlowDown" }]],
])("after %s, a request is tried again", async (_, faults) => {
  service.objects.set("one/two/log/a", Buffer.from("0123456789"));
  service.faults.push(...faults);
  expect((await open().get("log/a", 10))?.toString()).toBe("0123456789");
  expect(service.requestCount).toBe(faults.length + 1);
});

test.each<readonly [code: string, sentence: string, fault: Fault]>([
  [
    "ACCESS_DENIED",
    "s3://bucket/one/two refuses access: the secret is not that of the access key (SignatureDoesNotMatch, words of SignatureDoesNotMatch)",
    { kind: "status", status: 403, code: "SignatureDoesNotMatch" },
  ],
  [
    "ACCESS_DENIED",
    "s3://bucket/one/two refuses access: InvalidAccessKeyId, words of InvalidAccessKeyId",
    { kind: "status", status: 403, code: "InvalidAccessKeyId" },
  ],
  [
    "ACCESS_DENIED",
    "s3://bucket/one/two refuses access: its region is eu-west-1 (status 301)",
    { kind: "status", status: 301, headers: { "x-amz-bucket-region": "eu-west-1", location: "http://127.0.0.1:1/" } },
  ],
  [
    "NO_TARGET",
    "s3://bucket/one/two does not exist: NoSuchBucket, words of NoSuchBucket",
    { kind: "status", status: 404, code: "NoSuchBucket" },
  ],
  [
    "FULL",
    "s3://bucket/one/two has no room: XMinioStorageFull, words of XMinioStorageFull",
    { kind: "status", status: 507, code: "XMinioStorageFull" },
  ],
  [
    "ACCESS_DENIED",
    "s3://bucket/one/two refuses access: XAdminUserNotFound, words of XAdminUserNotFound",
    { kind: "status", status: 404, code: "XAdminUserNotFound" },
  ],
  ["UNEXPECTED_ANSWER", "s3://bucket/one/two answered 418 to PUT log/a; expected 200", { kind: "status", status: 418 }],
])("%s: %s", async (code, message, fault) => {
  service.faults.push(fault);
  await expect(open().put("log/a", Buffer.from("x"))).rejects.toMatchObject({ code, message });
  expect(service.requestCount).toBe(1);
});

test("a service that is not there is named after all attempts, without the secret", async () => {
  const target = open();
  await service[Symbol.asyncDispose]();
  const error = await target.get("log/a", 1).catch((cause: unknown) => cause);
  service = await S3Service.start();
  expect(error).toMatchObject({ code: "UNREACHABLE" });
  expect(String(error)).toMatch(
    /^BackupError: s3:\/\/bucket\/one\/two cannot be reached: connect ECONNREFUSED .*, in 5 attempts of GET log\/a$/,
  );
  expect(JSON.stringify(error)).not.toContain(SECRET);
});

test("a service that never answers is given up", async () => {
  service.faults.push(...Array.from({ length: 5 }, (): Fault => ({ kind: "silent" })));
  await expect(open({ timeoutMs: 20 }).get("log/a", 1)).rejects.toMatchObject({
    code: "UNREACHABLE",
    message: "s3://bucket/one/two cannot be reached: no answer in time, in 5 attempts of GET log/a",
  });
});

test("a key that a service does not know by a status of 404 is no absent object", async () => {
  service.faults.push({ kind: "status", status: 404, code: "XAdminUserNotFound" });
  await expect(open().get("log/a", 1)).rejects.toMatchObject({ code: "ACCESS_DENIED" });
});

test("an abort ends what is waited for, at once", async () => {
  service.faults.push({ kind: "silent" });
  const ended = new AbortController();
  const reading = open({ signal: ended.signal }).get("log/a", 1);
  await expect.poll(() => service.requestCount).toBe(1);
  ended.abort(new Error("stopped"));
  await expect(reading).rejects.toThrow("stopped");
  expect(service.requestCount).toBe(1);
});

const ENDLESS =
  "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken></ListBucketResult>";
test.each([
  ["no XML", "hello"],
  ["an object without a size", "<ListBucketResult><Contents><Key>one/two/log/a</Key></Contents></ListBucketResult>"],
  ["a size that is none", "<ListBucketResult><Contents><Key>k</Key><Size>-1</Size></Contents></ListBucketResult>"],
  ["pages without an end", ENDLESS],
])("a listing with %s is refused", async (_, body) => {
  service.faults.push({ kind: "body", body });
  await expect(open().list("log/")).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER" });
});

test("an object of another prefix in a listing is none of ours", async () => {
  const body = "<ListBucketResult><Contents><Key>other/log/a</Key><Size>1</Size></Contents></ListBucketResult>";
  service.faults.push({ kind: "body", body });
  expect(await open().list("log/")).toEqual([]);
});
