import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnyCall } from "./call.ts";
import { ExclusiveCalls } from "./exclusive-calls.ts";

/** A connection with requests of others, which sends what it gets, or drops it. */
class FakeConnection {
  readonly sent: AnyCall[] = [];
  isOpened = true;
  others = 0;
  inFlight: AnyCall | undefined;
  /** The next call is cancelled before it is sent. */
  drops = false;

  isOpen(): boolean {
    return this.isOpened;
  }

  isEmpty(): boolean {
    return this.others === 0 && this.inFlight === undefined;
  }

  send(call: AnyCall): void {
    expect(call, "there is a call to send").toBeDefined();
    expect([this.isOpened, this.isEmpty()], "it is sent alone, on an open connection").toEqual([true, true]);
    this.sent.push(call);
    if (!this.drops) this.inFlight = call;
    this.drops = false;
  }
}

const STEPS = ["push", "send", "answer", "another", "answer another", "open", "close", "drop next", "drain"] as const;

test("calls are sent in order, each alone, whatever the connection and the other requests do", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...STEPS), { maxLength: 60 }), (steps) => {
      const connection = new FakeConnection();
      const calls = new ExclusiveCalls(connection);
      const other = { name: "another" } as unknown as AnyCall;
      let waiting: AnyCall[] = [];
      let sentCount = 0;
      const act: Record<(typeof STEPS)[number], () => void> = {
        push: () => {
          const call = { number: sentCount + waiting.length } as unknown as AnyCall;
          waiting.push(call);
          calls.push(call);
        },
        send: () => calls.sendNext(),
        answer: () => {
          const { inFlight } = connection;
          connection.inFlight = undefined;
          if (inFlight !== undefined) calls.settled(inFlight);
        },
        another: () => void connection.others++,
        "answer another": () => {
          connection.others = Math.max(0, connection.others - 1);
          calls.settled(other);
        },
        open: () => {
          connection.isOpened = true;
        },
        close: () => {
          connection.isOpened = false;
        },
        "drop next": () => {
          connection.drops = true;
        },
        drain: () => {
          expect(calls.drain()).toEqual(waiting);
          [waiting, connection.inFlight] = [[], undefined];
        },
      };
      for (const step of steps) {
        const mayBeSent = connection.isOpened && connection.isEmpty() && waiting.length > 0;
        act[step]();
        const sent = connection.sent.slice(sentCount);
        expect(sent).toEqual(waiting.splice(0, sent.length));
        sentCount += sent.length;
        expect(sent.length > 0).toBe(step === "send" && mayBeSent);
        expect(calls.isUnderWay).toBe(waiting.length > 0 || connection.inFlight !== undefined);
      }
    }),
    { numRuns: 300 },
  );
});
