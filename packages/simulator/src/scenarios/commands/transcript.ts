import { expectThat } from "../expectations.ts";
import { failureTable } from "../failure-table.ts";
import { atOnce, type Command, choose } from "./command.ts";

const TICK_MS = 200;

/** Time that passes, what the transcript shows, and what is expected. */
export const TRANSCRIPT_COMMANDS: readonly Command[] = [
  [/^tick (\d+)$/, ({ world }, count) => atOnce(() => world.run(Number(count) * TICK_MS))],
  [/^wait (\d+) ms$/, ({ world }, ms) => atOnce(() => world.run(Number(ms)))],
  [/^settle$/, ({ world }) => atOnce(() => world.settle())],
  [/^tell (.+)$/, ({ shownKinds }, kinds = "") => choose(() => kinds.split(" ").map((kind) => shownKinds.add(kind)))],
  [/^(silently|aloud)$/, (run, how) => choose(() => (run.isSilent = how === "silently"))],
  [
    /^expect (.+)$/,
    ({ world }, text = "") => {
      expectThat(world, text);
      return [];
    },
  ],
  [/^failures of (\d+) to (\d+) servers$/, (_, from, to) => failureTable(Number(from), Number(to))],
];
