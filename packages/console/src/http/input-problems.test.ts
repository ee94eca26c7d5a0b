/**
 * Each route names the field of its query or body that it cannot use, what was expected, and what
 * was given.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ROUTES } from "../api/routes.ts";
import { SESSION_ROUTES } from "../api/session-routes.ts";
import { type Stage, startStage } from "../testing/stage.ts";
import { inputProblems } from "./input-problems.ts";

const ALL = [...SESSION_ROUTES, ...ROUTES];
/** No field takes it but free texts. */
const WRONG = "!";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Forms of numbers that are not the one of each. */
const NOT_CANONICAL = [" 1", "1 ", "+1", "01", "-0", "1e1", "0x1", "1.0", "1_0", "", "1e300", "9".repeat(30)];

interface Case {
  /** In place of `query`. */
  readonly search?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Texts that the detail must have. */
  readonly says: readonly string[];
}

function queryCases(query: z.ZodObject): readonly Case[] {
  const fields = Object.entries<z.ZodType>(query.shape);
  return [
    { query: { nonsenseZ: "1" }, says: ['query has no "nonsenseZ"'] },
    ...fields.flatMap(([name, schema]) => [
      { query: { [name.slice(0, -1)]: "1" }, says: [`did you mean ${name}?`] },
      { search: `${name}=1&${name}=2`, says: [`query: expected "${name}" once, found it 2 times`] },
      ...(schema.safeParse("1").success && !schema.safeParse("a").success
        ? NOT_CANONICAL.map((value) => ({
            query: { [name]: value },
            says: [`query.${name}: expected `, `found ${JSON.stringify(value)}`],
          }))
        : []),
      ...(schema.safeParse(undefined).success ? [] : [{ query: {}, says: [`query.${name} is missing: expected `] }]),
      ...(schema.safeParse(WRONG).success
        ? []
        : [{ query: { [name]: WRONG }, says: [`query.${name}: expected `, `found ${JSON.stringify(WRONG)}`] }]),
    ]),
  ];
}

function bodyCases(body: z.ZodType | undefined): readonly Case[] {
  if (body === undefined) return [];
  const whole: Case = { body: 5, says: ["body: expected an object, found 5"] };
  if (!(body instanceof z.ZodObject)) return [whole, { body: {}, says: ["body.kind is missing: expected "] }];
  const fields = Object.entries<z.ZodType>(body.shape);
  return [
    whole,
    { body: { nonsenseZ: 1 }, says: ['body has no "nonsenseZ"'] },
    ...fields.flatMap(([name, schema]) => [
      { body: { [name.slice(0, -1)]: 1 }, says: [`did you mean ${name}?`] },
      ...(schema.safeParse(undefined).success ? [] : [{ body: {}, says: [`body.${name}`, " is missing: expected "] }]),
      { body: { [name]: [] }, says: [`body.${name}`, ": expected ", "found an"] },
    ]),
  ];
}

test.each(ALL.map((route) => [`${route.method} ${route.path}`, route] as const))("%s", async (_, route) => {
  // The query is checked first.
  const required = Object.entries<z.ZodType>(route.query.shape).filter(
    ([, schema]) => !schema.safeParse(undefined).success,
  );
  const good = Object.fromEntries(
    required.map(([name, schema]) => [
      name,
      ["/a", "1", "0x1", "srvr"].find((one) => schema.safeParse(one).success) ?? "",
    ]),
  );
  for (const { query, search: given, body, says } of [...queryCases(route.query), ...bodyCases(route.body)]) {
    const search = given ?? new URLSearchParams(query ?? good).toString();
    const { status, json } = await stage.api(
      route.method,
      `${route.path}?${search}`,
      body === undefined ? {} : { body },
    );
    const asked = JSON.stringify({ query, given, body });
    expect([asked, status, json.code]).toEqual([asked, 400, "BAD_ARGUMENTS"]);
    for (const text of says) expect([asked, json.detail]).toEqual([asked, expect.stringContaining(text)]);
    expect(json.detail).not.toMatch(/Invalid input|NaN|undefined/);
    // One sentence for one field.
    for (const name of Object.keys(query ?? {}))
      expect([asked, json.detail.split(`query.${name}:`).length - 1]).toEqual([asked, expect.toSatisfy((n) => n <= 1)]);
  }
});

const schema = z.strictObject({
  count: z.coerce.number().int().pipe(z.int().min(0).max(9)),
  mode: z.enum(["ttl", "container"]).optional(),
  password: z.string().max(3).optional(),
  data: z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]).optional(),
  ops: z
    .array(
      z.discriminatedUnion("op", [
        z.strictObject({ op: z.literal("set"), path: z.string() }),
        z.strictObject({ op: z.literal("check") }),
      ]),
    )
    .max(2)
    .optional(),
  zxid: z.string().regex(/^0x/).optional(),
  place: z
    .union([z.strictObject({ path: z.string(), size: z.number() }), z.strictObject({ path: z.string() })])
    .optional(),
});

test.each<[object, string]>([
  [{}, "query.count is missing: expected a number"],
  [{ count: "abc" }, 'query.count: expected a number, found "abc"'],
  [{ count: "10" }, 'query.count: expected at most 9, found "10"'],
  [
    { count: 1, mode: "contaner" },
    'query.mode: expected "ttl" or "container", found "contaner"; did you mean "container"?',
  ],
  [{ count: 1, password: "secret" }, "query.password: expected at most 3 characters, found another value"],
  [
    { count: 1, data: { txt: "x" } },
    'query.data.text is missing: expected a text; query.data has no "txt"; did you mean text?',
  ],
  [{ count: 1, data: { text: "x", base64: "eA==" } }, 'query.data takes no "base64" beside text'],
  [{ count: 1, ops: [{ op: "check", path: "/a" }] }, 'query.ops.0 takes no "path" beside op'],
  [{ count: 1, data: { base64: "?" } }, 'query.data.base64: expected base64, found "?"'],
  [{ count: 1, ops: [{ op: "sett" }] }, 'query.ops.0.op: expected "set" or "check", found "sett"'],
  [
    { count: 1, ops: [{ op: "set", pat: "x" }] },
    'query.ops.0.path is missing: expected a text; query.ops.0 has no "pat"; did you mean path?',
  ],
  [{ count: 1, place: { path: "/a", zzz: 1 } }, 'query.place has no "zzz"; known are path, size'],
  [{ count: 1, zxid: "5" }, 'query.zxid: expected a text like /^0x/, found "5"'],
  [
    { count: 1, ops: [{ op: "check" }, { op: "check" }, { op: "check" }] },
    "query.ops: expected at most 2 items, found an array",
  ],
])("%j", (value, sentence) => {
  const issues = schema.safeParse(value).error?.issues ?? [];
  expect(inputProblems({ schema, value, name: "query" }, issues).join("; ")).toBe(sentence);
});
