import { expect, test } from "vitest";
import { openTarget, type TargetSettings } from "./open-target.ts";
import { parseS3Credentials } from "./s3-credentials.ts";

const SECRET = "canary-of-the-secret";
const env = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: SECRET };

test.each<readonly [settings: TargetSettings, name: string]>([
  [{ target: "/backups/one" }, "/backups/one"],
  [{ target: "s3://bucket", env }, "s3://bucket"],
  [{ target: "s3://bucket/a/b/", env, endpoint: "http://127.0.0.1:7070", region: "eu-west-1" }, "s3://bucket/a/b"],
])("%j is a target", ({ ...settings }, name) => {
  expect(openTarget(settings).name).toBe(name);
});

test.each<readonly [settings: TargetSettings, problem: RegExp]>([
  [{ target: "backups" }, /named by its absolute path, found "backups"/],
  [{ target: "" }, /named by its absolute path/],
  [{ target: "gs://bucket/a" }, /is a directory or s3:\/\/BUCKET\/PREFIX, found "gs:/],
  [{ target: "s3://", env }, /the bucket in "s3:\/\/" is no bucket's name/],
  [{ target: "s3://Bucket/a", env }, /is no bucket's name/],
  [{ target: "s3://bucket/a/../b", env }, /the prefix in/],
  [{ target: "s3://bucket//a", env }, /the prefix in/],
  [{ target: "s3://bucket/a b", env }, /the prefix in/],
  [{ target: "/backups", region: "eu-west-1" }, /\/backups is a directory: endpoint, region and credentials/],
  [{ target: "s3://bucket/a", env, endpoint: "localhost:9000" }, /an endpoint is an address like/],
  [{ target: "s3://bucket/a", env, endpoint: `http://u:${SECRET}@host` }, /an endpoint is an address like/],
  [{ target: "s3://bucket/a", env, region: "eu west" }, /a region is letters/],
  [{ target: "s3://bucket/a" }, /needs a key: .* in the environment there is no access key id$/],
  [{ target: "s3://bucket/a", env: { AWS_ACCESS_KEY_ID: "key" } }, /there is no secret access key$/],
  [{ target: "s3://bucket/a", credentials: { file: "/f", text: SECRET } }, /^\/f has no key for s3:\/\/bucket\/a: /],
])("%j is refused", (settings, problem) => {
  const refused = (): unknown => openTarget(settings);
  expect(refused).toThrow(problem);
  expect(refused).not.toThrow(SECRET);
});

test.each([
  `accessKeyId = key\nsecretAccessKey=${SECRET}\n`,
  `# a comment\r\n[default]\r\naws_access_key_id=key\r\naws_secret_access_key = ${SECRET}\r\nregion = x\r\n`,
])("%j has a key", (text) => {
  expect(parseS3Credentials(text)).toEqual({ accessKeyId: "key", secretAccessKey: SECRET, sessionToken: undefined });
});

test.each(["", "[a]\naccessKeyId=a\n[b]\nsecretAccessKey=b", `accessKeyId=a\nsecretAccessKey=${SECRET} x`])(
  "%j has none, and the sentence has no value of it",
  (text) => {
    const found = parseS3Credentials(text);
    expect(found).toBeTypeOf("string");
    expect(found).not.toContain(SECRET);
  },
);
