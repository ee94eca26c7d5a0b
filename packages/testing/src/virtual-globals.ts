import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import type { Prng } from "@zooid/simulator";
import type { VirtualTime } from "./virtual-time.ts";
import { VirtualTimers, withPromise } from "./virtual-timers.ts";

const RealDate = globalThis.Date;

/** The seed of the ensemble that has this process's time. */
let owner: number | undefined;

/**
 * This process's timers, clocks and random numbers, replaced by virtual ones until {@link restore}:
 * those of the client and the recipes, and of everything else in the process.
 */
export class VirtualGlobals {
  readonly #restore: (() => void)[] = [];

  /** @throws Error where another ensemble or a library of fake timers has replaced them */
  constructor(
    time: VirtualTime,
    { seed, startTimeMs, random }: { readonly seed: number; readonly startTimeMs: number; readonly random: Prng },
  ) {
    checkFree();
    owner = seed;
    const virtual = new VirtualTimers(time);
    const wallMs = (): number => Math.floor(startTimeMs + time.nowMs);
    const set = {
      setTimeout: withPromise(virtual.setTimeout, virtual.pause),
      clearTimeout: virtual.clear,
      setInterval: virtual.setInterval,
      clearInterval: virtual.clear,
      setImmediate: withPromise(virtual.setImmediate, virtual.immediate),
      clearImmediate: virtual.clear,
    };
    const uuid = (): string => uuidOf(random.bytes(16));
    this.#replaceAll(globalThis, { ...set, Date: dateOf(wallMs) });
    this.#replaceAll(timers, set);
    this.#replaceAll(timersPromises, {
      setTimeout: virtual.pause,
      setImmediate: virtual.immediate,
      setInterval: virtual.interval,
    });
    this.#replaceAll(timersPromises.scheduler, {
      wait: (delayMs: number, options?: { readonly signal?: AbortSignal }) =>
        virtual.pause(delayMs, undefined, options),
    });
    this.#replaceAll(AbortSignal, { timeout: virtual.abortAfter });
    this.#replaceAll(performance, { now: () => time.nowMs });
    this.#replaceAll(Math, { random: () => random.next() / 2 ** 32 });
    this.#replaceAll(crypto, { randomUUID: uuid });
    this.#replaceAll(globalThis.crypto, { randomUUID: uuid });
    syncBuiltinESMExports();
  }

  restore(): void {
    for (const restore of this.#restore.splice(0).reverse()) restore();
    syncBuiltinESMExports();
    owner = undefined;
  }

  #replaceAll(object: object, values: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(values)) {
      const before = Object.getOwnPropertyDescriptor(object, name);
      Object.defineProperty(object, name, { value, configurable: true, writable: true, enumerable: true });
      this.#restore.push(() => {
        if (before === undefined) Reflect.deleteProperty(object, name);
        else Object.defineProperty(object, name, before);
      });
    }
  }
}

/** @throws Error where this process's time is not its own */
export function checkFree(): void {
  if (owner !== undefined) {
    throw new Error(
      `a TestEnsemble (seed ${owner}) has this process's time already: close it first, and run the tests of one file one by one`,
    );
  }
  // As @sinonjs/fake-timers marks its own, which vitest and jest use.
  if ("clock" in globalThis.setTimeout) {
    throw new Error("fake timers are installed: a TestEnsemble brings its own, so useRealTimers() comes first");
  }
}

/** `Date` with another present. */
function dateOf(wallMs: () => number): DateConstructor {
  return new Proxy(RealDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [wallMs()] : args, newTarget),
    apply: () => new RealDate(wallMs()).toString(),
    get: (target, name, receiver) => (name === "now" ? wallMs : Reflect.get(target, name, receiver)),
  });
}

function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)];
  return parts.join("-");
}
