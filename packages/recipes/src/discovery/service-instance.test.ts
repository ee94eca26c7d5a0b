import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { type InstanceFormat, instanceCodec, type ServiceInstance } from "./service-instance.ts";
import { buildUri, parseUriSpec } from "./uri-spec.ts";

const INSTANCE: ServiceInstance = {
  name: "svc",
  id: "id1",
  address: "10.0.0.1",
  port: 8080,
  sslPort: null,
  payload: null,
  registeredAtMs: 123,
  serviceType: "dynamic",
  uriSpec: null,
  enabled: true,
};
const URI_PARTS =
  '{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true}]}';

interface Case {
  readonly what: string;
  readonly changes: Partial<ServiceInstance>;
  readonly format?: InstanceFormat;
  readonly written: string;
}

/** As written by Curator 5.9. */
const CASES: readonly Case[] = [
  { what: "nothing that may be left out", changes: { port: null }, written: line({ port: "null" }) },
  {
    what: "a text",
    changes: { payload: 'st"r\u0001\u001f\u007f\u2028é/\n\\u001f' },
    written: line({ payload: '"st\\"r\\u0001\\u001F\u007f\u2028é/\\n\\\\u001f"' }),
  },
  { what: "a number", changes: { payload: 5 }, written: line({ payload: "5" }) },
  { what: "a list", changes: { payload: ["a", 5] }, written: line({ payload: '["java.util.ArrayList",["a",5]]' }) },
  {
    what: "an object of a class",
    changes: { payload: { zone: "a", n: 3 } },
    format: { payloadClass: "com.acme.Meta" },
    written: line({ payload: '{"@class":"com.acme.Meta","zone":"a","n":3}' }),
  },
  {
    what: "a number of a class",
    changes: { payload: 5 },
    format: { payloadClass: "java.lang.Long" },
    written: line({ payload: '["java.lang.Long",5]' }),
  },
  {
    what: "a text, whose class is not named",
    changes: { payload: "x" },
    format: { payloadClass: "java.lang.String" },
    written: line({ payload: '"x"' }),
  },
  {
    what: "a URI",
    changes: { uriSpec: parseUriSpec("{scheme}://{ address }") },
    written: line({ uriSpec: URI_PARTS }),
  },
  {
    what: "one that is not enabled",
    changes: { enabled: false, serviceType: "dynamic-sequential" },
    format: { writeEnabled: true },
    written: line({ serviceType: "DYNAMIC_SEQUENTIAL", uriSpec: 'null,"enabled":false' }),
  },
];

function line({ port = "8080", payload = "null", serviceType = "DYNAMIC", uriSpec = "null" }): string {
  const place = `{"name":"svc","id":"id1","address":"10.0.0.1","port":${port},"sslPort":null`;
  return `${place},"payload":${payload},"registrationTimeUTC":123,"serviceType":"${serviceType}","uriSpec":${uriSpec}}`;
}

test.each(CASES)("$what is written as Curator does, and read again", ({ changes, format, written }) => {
  const codec = instanceCodec(format);
  const instance = { ...INSTANCE, ...changes };
  const bytes = codec.encode(instance);
  expect(Buffer.from(bytes).toString()).toBe(written);
  expect(codec.decode(bytes)).toEqual(instance);
});

describe("instances of other writers", () => {
  const read = (text: string): ServiceInstance => instanceCodec().decode(Buffer.from(text));

  test("may have fewer fields, or more", () => {
    const instance = read('{"id":"i","name":"n","new":1,"serviceType":"STATIC","payload":{"a":1}}');
    expect(instance).toEqual({
      ...INSTANCE,
      name: "n",
      id: "i",
      address: null,
      port: null,
      payload: { a: 1 },
      registeredAtMs: 0,
      serviceType: "static",
    });
    expect(read('{"id":"i","name":"n","serviceType":"PERMANENT"}').serviceType).toBe("permanent");
  });

  test.each([null, 1, {}, { value: { toString: 1 } }])("may have a part of its URI without a text: %j", (part) => {
    const { uriSpec } = read(JSON.stringify({ name: "n", id: "i", uriSpec: { parts: [part] } }));
    expect(uriSpec).toEqual({ parts: [{ value: "", variable: false }] });
  });

  test.each(["", "10.0.0.1", "null", "[]", "{}", '{"name":"n"}', '{"name":"n","id":1}'])("is refused: %j", (text) => {
    let error: unknown;
    try {
      read(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(isRecipeError(error, "NOT_OURS")).toBe(true);
  });
});

describe("a URI", () => {
  test("is built from its instance", () => {
    const names = ["scheme", "name", "id", "address", "port", "ssl-port", "registration-time-utc", "service-type"];
    const spec = parseUriSpec(`${names.map((name) => `{${name}}`).join("|")}|{other}|{nope}|{[}|{]}`);
    const instance = { ...INSTANCE, port: null, sslPort: 443, serviceType: "dynamic-sequential" };
    expect(buildUri(spec, instance, { other: "o" })).toBe("https|svc|id1|10.0.0.1||443|123|dynamic_sequential|o||{|}");
  });

  test.each(["{a", "a}", "{a{b}}"])("is refused where braces do not match: %s", (text) => {
    expect(() => parseUriSpec(text)).toThrow(RangeError);
  });
});
