import { expect, test } from "vitest";
import { bucketCodec } from "./bucket-codec.ts";
import { type Bucket, fullBucket } from "./token-bucket.ts";

const BUCKET: Bucket = {
  level: 2.5,
  clockMs: 70,
  credits: 3,
  open: [
    { untilMs: 80, tokens: 1 },
    { untilMs: 90, tokens: 2 },
  ],
  fresh: { tokens: 4, leaseMs: 100 },
};

test.each([BUCKET, fullBucket(5)])("a bucket survives encoding and decoding", (bucket) => {
  expect(bucketCodec.decode(bucketCodec.encode(bucket))).toEqual(bucket);
});

const [written] = [bucketCodec.encode(BUCKET)].map((data) => JSON.parse(Buffer.from(data).toString()));
const WRONG = [undefined, null, "1", -1, true, [], {}];

/** Every number of the written form, at any depth. */
function places(value: unknown, place: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value === "number") return [place];
  return Object.entries(value as object).flatMap(([key, field]) => places(field, [...place, key]));
}

function withField(value: unknown, [key, ...rest]: readonly string[], wrong: unknown): unknown {
  if (key === undefined) return wrong;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[key] = withField(copy[key], rest, wrong);
  return copy;
}

test.each(places(written).map((place) => [place.join("."), place] as const))(
  "a bucket with another kind of value in %s is refused",
  (_, place) => {
    for (const wrong of WRONG) {
      const text = JSON.stringify(withField(written, place, wrong));
      expect(() => bucketCodec.decode(Buffer.from(text)), text).toThrow();
    }
  },
);

test.each(["", "x", "null", "[]", "{}"])("data %s are refused", (text) => {
  expect(() => bucketCodec.decode(Buffer.from(text))).toThrow();
});
