import { expect, test } from "vitest";
import { AttemptFailures } from "./attempt-failures.ts";

const CAUSES = { permanent: "CERT_HAS_EXPIRED", transient: "ECONNREFUSED" } as const;
const STEPS = ["permanent", "transient", "permanent at the other", "transient at the other", "connected"] as const;
type Step = (typeof STEPS)[number];

function failures(): AttemptFailures {
  return new AttemptFailures({ timeoutMs: 1_000, isSecure: true });
}

function fail(one: AttemptFailures, host: string, cause: keyof typeof CAUSES): void {
  const error = Object.assign(new Error(cause), { code: CAUSES[cause] });
  one.add({ host: { host, port: 2181 }, step: "connect", kind: "failed", cause: error });
}

function sequences(length: number): readonly (readonly Step[])[] {
  if (length === 0) return [[]];
  return sequences(length - 1).flatMap((before) => STEPS.map((step) => [...before, step]));
}

test("after each sequence of failures and connections: their number, the last one of each server, and whether an attempt is of use", () => {
  for (const steps of sequences(4)) {
    const one = failures();
    let count = 0;
    let last: Partial<Record<"a" | "b", keyof typeof CAUSES>> = {};
    for (const step of steps) {
      if (step === "connected") {
        one.clear();
        count = 0;
        last = {};
        continue;
      }
      const host = step.endsWith("other") ? "b" : "a";
      const cause = step.startsWith("permanent") ? "permanent" : "transient";
      fail(one, host, cause);
      last[host] = cause;
      count++;
    }
    const codes = Object.values(last).map((cause) => CAUSES[cause]);
    const found = (one.error?.errors ?? []).map(({ code }) => String(code));
    expect([steps, one.count, found.toSorted()]).toEqual([steps, count, codes.toSorted()]);
    expect([steps, one.newest === undefined, one.summary === undefined]).toEqual([steps, count === 0, count === 0]);
    const isPermanent = last.a === "permanent" && last.b === "permanent";
    expect([steps, one.arePermanent(2)]).toEqual([steps, isPermanent]);
  }
});

test("of many servers the last failures of those that failed last are kept", () => {
  const one = failures();
  for (let i = 0; i < 32; i++) fail(one, `h${i}`, "transient");
  fail(one, "h0", "permanent");
  fail(one, "h32", "transient");
  const servers = (one.error?.errors ?? []).map(({ server }) => String(server));
  expect(servers).toHaveLength(32);
  expect([servers.includes("h0:2181"), servers.includes("h1:2181"), servers.at(-1)]).toEqual([true, false, "h32:2181"]);
  expect(one.count).toBe(34);
});

test("a server that closes the connection is tried again, unless the client's own certificate is of no use", () => {
  for (const [fault, isPermanent] of [
    [undefined, false],
    ["the client's certificate has expired", true],
  ] as const) {
    const one = new AttemptFailures({ timeoutMs: 1_000, isSecure: true, ownCertificateFault: () => fault });
    one.add({ host: { host: "a", port: 2181 }, step: "greet", kind: "failed" });
    expect(one.arePermanent(1)).toBe(isPermanent);
    fail(one, "a", "transient");
    expect(one.arePermanent(1)).toBe(false);
  }
});
