import { afterEach, expect, test, vi } from "vitest";
import { Flags } from "../command-flags.ts";
import { credentialsOf, rateOf, serversIn } from "./apache-clients.ts";

const flags = (name: string, ...values: readonly string[]) => ({ flags: new Flags(new Map([[name, values]])) });

afterEach(() => {
  vi.unstubAllEnvs();
});

test("servers are named without a path, each once", () => {
  expect(serversIn("--apache", "a,b:1,[::1]:3,a:2181")).toEqual(["a:2181", "b:1", "[::1]:3"]);
  expect(() => serversIn("--apache", "a/b")).toThrow("--apache takes servers without a path");
  expect(() => serversIn("--apache", "a:b")).toThrow("--apache: ");
});

test("credentials come from flags, or from the environment where there is none", () => {
  vi.stubEnv("ZOOID_APACHE_AUTH", "digest env:x y");
  expect(credentialsOf(flags("auth", "digest a:b", "sasl c"))).toEqual([
    { scheme: "digest", auth: "a:b" },
    { scheme: "sasl", auth: "c" },
  ]);
  expect(credentialsOf(flags("other"))).toEqual([{ scheme: "digest", auth: "env:x y" }]);
  vi.stubEnv("ZOOID_APACHE_AUTH", "secret");
  expect(() => credentialsOf(flags("other"))).toThrow(
    /^--auth takes a scheme and its credentials, as 'digest user:password'$/,
  );
});

test("a rate is a number of requests from 1 on", () => {
  expect(rateOf(flags("other"))).toBe(5000);
  expect(rateOf(flags("rate", "7"))).toBe(7);
  for (const text of ["0", "1000001", "x"]) expect(() => rateOf(flags("rate", text))).toThrow("--rate takes");
});
