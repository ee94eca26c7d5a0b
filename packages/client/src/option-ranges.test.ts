/**
 * Each option of a client that states a range is taken to both ends of it, and one beyond. Names
 * and ranges come from the client's own sentences, so that a new option is tried without a line
 * here.
 */
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { ArgumentError } from "@zooid/model";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { connect } from "./connect.ts";
import { type ClientOptions, parseClientOptions } from "./options.ts";

function problemsOf(options: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    parseClientOptions(options as ClientOptions);
    return [];
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    return error.problems;
  }
}

const NAMES = (/known are (.*)$/.exec(problemsOf({ qqqqqqqq: 1 }).join())?.[1] ?? "").split(", ");
/** A number that no option takes, but for a time. */
const ABOVE = 1e30;

const RANGES = NAMES.flatMap((name) => {
  const [, least, most] = /from (\d+) to (\d+)/.exec(problemsOf({ [name]: ABOVE }).join()) ?? [];
  return least === undefined ? [] : [{ name, least: Number(least), most: Number(most) }];
});

const TIMES = NAMES.filter((name) =>
  problemsOf({ [name]: -1 })
    .join()
    .includes("at least 0"),
);

test("options with numbers are found", () => {
  expect(RANGES.map(({ name }) => name)).toContain("inFlightMax");
  expect(RANGES.length).toBeGreaterThan(5);
  expect(TIMES.length).toBeGreaterThan(3);
});

test.each(RANGES)("$name takes $least and $most, and one sentence refuses what is beyond", ({ name, least, most }) => {
  expect(problemsOf({ [name]: least })).toEqual([]);
  expect(problemsOf({ [name]: most })).toEqual([]);
  for (const value of [least - 1, most + 1, least + 0.5])
    expect(problemsOf({ [name]: value })).toEqual([
      `${name} is a whole number from ${least} to ${most}, found ${value}`,
    ]);
});

test.each(TIMES)("%s takes 0 and infinity, and one sentence refuses less", (name) => {
  expect(problemsOf({ [name]: 0 })).toEqual([]);
  expect(problemsOf({ [name]: Number.POSITIVE_INFINITY })).toEqual([]);
  for (const value of [-1, Number.NaN])
    expect(problemsOf({ [name]: value })).toEqual([`${name} is a number of milliseconds, at least 0, found ${value}`]);
});

const overflows: string[] = [];
const noteOverflow = (warning: Error): void => {
  if (warning.name === "TimeoutOverflowWarning") overflows.push(warning.message);
};
let server: ZooidServer;
beforeAll(async () => {
  // Sessions may be as long as the client can ask for.
  server = await startServer({ port: 0, sessionTimeoutMsMin: 1000, sessionTimeoutMsMax: 2 ** 31 - 1 });
});
afterAll(() => server.stop());
beforeEach(() => {
  overflows.length = 0;
  process.on("warning", noteOverflow);
});
afterEach(() => void process.off("warning", noteOverflow));

test.each([
  ...RANGES.flatMap(({ name, least, most }) => [[name, least] as const, [name, most] as const]),
  ...TIMES.map((name) => [name, Number.POSITIVE_INFINITY] as const),
])("a client with %s: %d writes, reads and watches", async (name, value) => {
  await using client = await connect(server.connectString, { [name]: value });
  await client.set("/", `${name} ${value}`);
  expect(Buffer.from((await client.get("/")).data ?? []).toString()).toBe(`${name} ${value}`);
  expect(overflows).toEqual([]);
});
