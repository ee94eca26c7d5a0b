import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type SignalledProcess, StartSignals } from "./signals.ts";

/** A process that writes down how it was ended. */
class Recorded extends EventEmitter implements SignalledProcess {
  readonly stdout = { fd: -1 };
  readonly ends: number[] = [];
  readonly pid: number;

  constructor(pid: number) {
    super();
    this.pid = pid;
  }

  kill(): void {}

  exit(status: number): void {
    this.ends.push(status);
  }
}

test("signals that ask for an answer are kept until it can be given, each once", () => {
  const process = new Recorded(7);
  const signals = new StartSignals(process);
  for (const signal of ["SIGUSR1", "SIGHUP", "SIGHUP"]) process.emit(signal);
  const answered: string[] = [];
  signals.answerBy((signal) => answered.push(signal));
  process.emit("SIGHUP");
  expect(answered).toEqual(["SIGUSR1", "SIGHUP", "SIGHUP"]);
});

test("SIGTERM during the start ends a container's first process, for which the kernel has no default, and leaves others to theirs", () => {
  const first = new Recorded(1);
  const signals = new StartSignals(first);
  for (const signal of ["SIGTERM", "SIGINT"]) first.emit(signal);
  expect(first.ends).toEqual([0, 0]);
  signals.release(["SIGTERM", "SIGINT"]);
  expect([first.listenerCount("SIGTERM"), first.listenerCount("SIGHUP")]).toEqual([0, 1]);
  const other = new Recorded(7);
  new StartSignals(other).answerBy(() => {});
  expect(other.listenerCount("SIGTERM")).toBe(0);
});

test("signals are taken before any other module loads", () => {
  const read = (file: string): string => readFileSync(join(import.meta.dirname, "..", file), "utf8");
  const importsOf = (file: string): readonly string[] =>
    [...read(file).matchAll(/^import .* from "(.*)";$/gm)].map(([, name = ""]) => name);
  expect([importsOf("main.ts"), importsOf("process/signals.ts")]).toEqual([["./process/signals.ts"], ["node:tty"]]);
});

test("a command that serves nothing leaves every signal to its default", () => {
  const process = new Recorded(1);
  new StartSignals(process).release();
  expect(process.eventNames()).toEqual([]);
});
