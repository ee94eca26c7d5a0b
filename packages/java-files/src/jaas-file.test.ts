import { expect, test } from "vitest";
import { parseJaas } from "./jaas-file.ts";

const MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";

function options(text: string, section = "Server"): unknown {
  const sections = parseJaas(text);
  if (typeof sections === "string") return sections;
  return sections.get(section)?.map(({ name, options }) => [name, Object.fromEntries(options)]);
}

test("the users of a section are its module's options", () => {
  const file = `
    // who may come
    Server {
      ${MODULE} required   /* not
      Kerberos */
      user_super="adminsecret"
      user_bob="bob\\"s ; { secret }";
    };
    Client { ${MODULE} REQUIRED username="bob" password=plain; };
  `;
  expect(options(file)).toEqual([[MODULE, { user_super: "adminsecret", user_bob: 'bob"s ; { secret }' }]]);
  expect(options(file, "Client")).toEqual([[MODULE, { username: "bob", password: "plain" }]]);
});

test("an option that is there twice with one value is one, and modules have their own", () => {
  expect(options('Server { a.B required x="1" x="1"; a.C required x="2"; };')).toEqual([
    ["a.B", { x: "1" }],
    ["a.C", { x: "2" }],
  ]);
});

test("a section may have several modules, or a quoted name", () => {
  const file = `"My Server" { a.B optional x="1"; a.C sufficient; };`;
  expect(options(file, "My Server")).toEqual([
    ["a.B", { x: "1" }],
    ["a.C", {}],
  ]);
});

test.each([
  ["", new Map()],
  ["// nothing", new Map()],
])("%j has no section", (text, sections) => {
  expect(parseJaas(text)).toEqual(sections);
});

test.each([
  "Server",
  "Server {",
  "Server { a.B required",
  "Server { a.B required x",
  "Server { a.B required x=",
  'Server { a.B required x="1" }',
  "Server { a.B needed; };",
  "Server { a.B required; }",
  'Server { a.B required x="1; };',
  "Server { a.B required; }; /* no end",
  "} {",
  "Server { a.B required; }; Server { a.B required; };",
  'Server { a.B required user_bob="1" user_bob="2"; };',
])("%j is reported as invalid", (text) => {
  expect(parseJaas(text)).toEqual(expect.any(String));
});

test("names that mean something to the language mean nothing here", () => {
  expect(options(`Server { m required __proto__="x" user_constructor="\${user.home}"; };`)).toEqual([
    ["m", { ["__proto__"]: "x", user_constructor: `\${user.home}` }],
  ]);
});
