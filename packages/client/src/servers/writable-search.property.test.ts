import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Transport, TransportEvents } from "../transport/transport.ts";
import type { HostAddress } from "./connect-string.ts";
import { WritableSearch } from "./writable-search.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const HOSTS: readonly HostAddress[] = ["a", "b", "c"].map((host, i) => ({ host, port: i + 1 }));
const TIMEOUT_MS = 1000;

/** A question to a server, of which a test sends the events. */
interface Asked {
  readonly address: HostAddress;
  readonly events: TransportEvents;
  isDestroyed: boolean;
}

const STEPS = ["start", "stop", "open", "r", "rw", "ro", "close", "late", "time", "resolve"] as const;

test("one server is asked at a time, and only an answer of the search that is on ends it", async () => {
  const step = fc.tuple(fc.constantFrom(...STEPS, "time" as const, "resolve" as const), fc.nat(7));
  const steps = fc.array(step, { minLength: 30, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const asked: Asked[] = [];
      const found: HostAddress[] = [];
      const resolving: (() => void)[] = [];
      const transport: Transport = {
        resolve: (host) => new Promise((found) => resolving.push(() => found([host]))),
        connect: (address, events) => {
          const one: Asked = { address, events, isDestroyed: false };
          asked.push(one);
          return {
            write: () => true,
            destroy: () => {
              one.isDestroyed = true;
            },
          };
        },
      };
      const search = new WritableSearch({
        hosts: { hosts: () => HOSTS },
        transport,
        timeoutMs: TIMEOUT_MS,
        found: (address) => found.push(address),
      });
      let isOn = false;
      let expected = 0;
      const text = new Map<Asked, string>();
      const ended = new Set<Asked>();
      for (const [step, which] of [["start", 0], ["time", 1], ["resolve", 0], ...taken] as typeof taken) {
        const current = asked.findLast((one) => !one.isDestroyed && !ended.has(one));
        // An event of a connection that was destroyed may be under way.
        const of = step === "late" ? asked[which % Math.max(1, asked.length)] : current;
        if (step === "start") {
          search.start();
          isOn = true;
        } else if (step === "stop") {
          search.stop();
          isOn = false;
        } else if (step === "resolve") resolving.splice(which % Math.max(1, resolving.length), 1)[0]?.();
        else if (step === "time") await vi.advanceTimersByTimeAsync(which * 500);
        else if (of === undefined) continue;
        else if (step === "open") of.events.opened();
        else if (step === "close") {
          ended.add(of);
          of.events.closed(undefined);
        } else {
          const chunk = step === "late" ? "rw" : step;
          const all = `${text.get(of) ?? ""}${chunk}`;
          text.set(of, all);
          const counts = isOn && of === current && found.length === expected;
          if (counts && all === "rw") {
            expected++;
            isOn = false;
          }
          of.events.data(Buffer.from(chunk));
        }
        await vi.advanceTimersByTimeAsync(0);
        expect(found).toHaveLength(expected);
        expect(asked.filter((one) => !one.isDestroyed && !ended.has(one)).length, "asked at once").toBeLessThan(2);
        if (!isOn) expect(vi.getTimerCount(), "nothing is left of a search that is over").toBe(0);
      }
      search.stop();
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 150 },
  );
});
