import { afterEach, beforeEach, expect } from "vitest";

/** In every test of the file: no rejection is left without an owner, no exception and no warning reaches the process. */
export function expectQuietProcess(): void {
  const heard: unknown[] = [];
  const hear = (what: unknown): void => {
    heard.push(what);
  };
  const names = ["unhandledRejection", "uncaughtExceptionMonitor", "warning"] as const;
  beforeEach(() => {
    heard.length = 0;
    for (const name of names) process.on(name, hear);
  });
  afterEach(async () => {
    // Rejections without an owner are told once the promises of the turn have run.
    await new Promise((resolve) => setImmediate(resolve));
    for (const name of names) process.off(name, hear);
    expect(heard).toEqual([]);
  });
}
