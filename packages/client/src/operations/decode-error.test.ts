import type { Stat, Zxid } from "@zooid/model";
import { pino } from "pino";
import { expect, test } from "vitest";
import { z } from "zod";
import { json } from "./codec.ts";
import { type DecodeError, decoded } from "./decode-error.ts";

const stat = { mzxid: 0x1_0000_0007 as Zxid } as Stat;

function refusal(data: Uint8Array, decode: (bytes: Uint8Array | null) => unknown): DecodeError {
  try {
    decoded({ encode: () => data, decode }, { path: "/a", data, stat });
  } catch (error) {
    return error as DecodeError;
  }
  throw new Error("the data was decoded");
}

test("the error has the whole data, and its JSON and a log line of it only the beginning", () => {
  const data = Buffer.alloc(10 * 1024 * 1024, "x");
  const error = refusal(data, (bytes) => {
    throw new Error(`not one: ${Buffer.from(bytes ?? []).toString()}`);
  });
  expect(error.data).toBe(data);
  expect(error.message.length).toBeLessThan(1200);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    name: "DecodeError",
    code: "UNDECODABLE",
    path: "/a",
    zxid: stat.mzxid,
    message: expect.stringMatching(/^\/a: the data written by 0x100000007 cannot be decoded: not one: x/),
    data: { bytes: data.length, text: "x".repeat(64) },
  });
  const lines: string[] = [];
  const short = refusal(data, () => {
    throw new Error("not one");
  });
  pino({}, { write: (line) => lines.push(line) }).error(short);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ err: { path: "/a", code: "UNDECODABLE" } }]);
  expect(lines[0]?.length).toBeLessThan(5_000);
});

test("of a schema's issues an error names the first ten", () => {
  const items = Buffer.from(JSON.stringify(Array.from({ length: 100_000 }, () => "x")));
  expect(refusal(items, json(z.array(z.number())).decode).message).toMatch(/^\/a: .* 0: [^;]*; .*; 99990 more issues$/);
});
