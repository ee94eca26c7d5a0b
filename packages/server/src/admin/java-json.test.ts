import { expect, test } from "vitest";
import { JsonText, javaJson } from "./java-json.ts";

test("objects are indented, arrays stand in line, and empty ones are wide", () => {
  const value = {
    list: [1, 2n ** 63n, new JsonText("0.0")],
    objects: [{ a: "x" }, { b: null }],
    nested: { deep: { flag: true } },
    none: [],
    nothing: {},
    map: new Map([["__proto__", 'quoted " \n']]),
  };
  expect(javaJson(value)).toBe(
    [
      "{",
      '  "list" : [ 1, 9223372036854775808, 0.0 ],',
      '  "objects" : [ {',
      '    "a" : "x"',
      "  }, {",
      '    "b" : null',
      "  } ],",
      '  "nested" : {',
      '    "deep" : {',
      '      "flag" : true',
      "    }",
      "  },",
      '  "none" : [ ],',
      '  "nothing" : { },',
      '  "map" : {',
      '    "__proto__" : "quoted \\" \\n"',
      "  }",
      "}",
    ].join("\n"),
  );
});
