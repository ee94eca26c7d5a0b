/**
 * Records what a loaded server does to its disk, then starts servers on the disk as power cuts
 * would have left it.
 *
 *     npm run tool -- power-cut [--moments 300] [--seconds 4] [--lives 2] [--writers 8] [--seed N] [--keep] [--side-by-side 2]
 *                          [--break synchronous-normal|reply-before-sync|no-sync] [--expect-failures]
 *
 * At each moment, everything that had been answered by then must be there, and the server must
 * start. `--break` damages the server (or, with no-sync, the record) so that the test can be seen
 * to fail: with `--expect-failures` the exit status is 0 if a moment failed. Each life of the
 * server ends with `kill -9`, so moments fall into a recovery as well; what that alone loses (a
 * server that answers before its log has been written to may) is a failure too, and ends the
 * record.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { decimal, newSeed, oneOf, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { audit, type Finding } from "./audit.ts";
import { type FolderWriter, folderWriters } from "./folder-writer.ts";
import type { Book } from "./owned-folder.ts";
import { BREAK_OPTION, breakingEnvironment } from "./power-cut/break-kinds.ts";
import { DiskHistory } from "./power-cut/disk-history.ts";
import { recordingEnvironment } from "./power-cut/recording-shim.ts";

const SYNC_DELAY_US = 1_000;

const options = toolOptions({
  moments: 300,
  seconds: decimal(4),
  lives: 2,
  writers: 8,
  seed: newSeed(),
  break: BREAK_OPTION,
  expectFailures: false,
  /**
   * Moments that are looked at at a time; which ones they are, and what is left of the disk, is
   * the seed's in any case.
   */
  sideBySide: whole(2, 1),
  server: oneOf("zooid", "apache"),
  keep: false,
});
const { server: kind } = options;
const jars = kind === "apache" ? { jars: fetchApacheJars() } : {};
const folder = mkdtempSync(join(tmpdir(), "power-cut-"));
const random = new Random(options.seed);

/**
 * The books as they were during one life of the server, which lasted until the audit of the next.
 */
interface Era {
  readonly until: bigint;
  readonly books: readonly Book[];
}

console.log(
  `seed ${options.seed}${options.break === undefined ? "" : `, broken by ${options.break}`}, data in ${folder}`,
);
const eras: Era[] = [];
/** Writes that were gone after a `kill -9`, with everything still in the caches of the system. */
const lostByKill: string[] = [];
const history = await recordLives();
const changeMoments = history.moments();
const stepCount = eras.flatMap(({ books }) => books).reduce((sum, { steps }) => sum + steps.length, 0);
const lengthMs = Number((history.ended - history.begun) / 1_000_000n);
console.log(`${stepCount} steps, ${changeMoments.length / 2} changes and syncs of files in ${lengthMs} ms`);
const counts = { passed: 0, failed: 0 };
let index = 0;
await Promise.all(
  Array.from({ length: options.sideBySide }, async () => {
    while (index < options.moments) await runMoment(++index);
  }),
);

const isKept = options.keep || (counts.failed > 0 && !options.expectFailures);
if (isKept) console.log(`record and images are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(`${counts.passed} passed, ${counts.failed} failed`);
const failed = counts.failed > 0 || lostByKill.length > 0;
if (options.expectFailures ? counts.failed === 0 : failed) process.exitCode = 1;

async function recordLives(): Promise<DiskHistory> {
  const log = join(folder, "record");
  const server = new ServerProcess({
    kind,
    folder: join(folder, "recorded"),
    ...jars,
    env: {
      ...recordingEnvironment({ root: join(folder, "recorded/data"), log, syncDelayUs: SYNC_DELAY_US }),
      ...breakingEnvironment(options.break),
    },
  });
  const writers = folderWriters(options, () => random.pick([1, 4, 16]));
  try {
    for (let life = 1; life <= options.lives && lostByKill.length === 0; life++) await recordLife(server, writers);
  } finally {
    await server.kill();
  }
  eras.push({ until: process.hrtime.bigint(), books: copies(writers) });
  return new DiskHistory(log, server.dataDir);
}

async function recordLife(server: ServerProcess, writers: readonly FolderWriter[]): Promise<void> {
  const books = copies(writers);
  const { lengths, faults } = await startAndAudit(server, { books });
  if (faults.length > 0) {
    console.log(`kill -9 alone lost something:\n  ${faults.join("\n  ")}`);
    lostByKill.push(...faults);
    return;
  }
  if (books.some(({ steps }) => steps.length > 0)) eras.push({ until: process.hrtime.bigint(), books });
  for (const writer of writers) writer.settle(lengths.get(writer.path) ?? 0);
  for (const writer of writers) await writer.resume(server.port);
  const end = Date.now() + options.seconds * 1000;
  const load = Promise.all(writers.map((writer) => writer.write(server.port, () => Date.now() >= end)));
  await load;
  await server.kill();
  for (const writer of writers) await writer.abandon();
}

function copies(writers: readonly FolderWriter[]): readonly Book[] {
  return writers.map(({ path, base, steps }) => ({ path, base, steps: [...steps] }));
}

/**
 * A server that does not start, or cannot be read, is a fault like any other. `moment` is now
 * unless given.
 */
async function startAndAudit(
  server: ServerProcess,
  { books, moment }: { readonly books: readonly Book[]; readonly moment?: bigint },
): Promise<Finding> {
  try {
    await server.start();
    return await audit({ port: server.port, books, moment: moment ?? process.hrtime.bigint() });
  } catch (error) {
    return { lengths: new Map(), faults: [error instanceof Error ? error.message : String(error)] };
  }
}

/** All that chance decides is decided before it waits for anything. */
async function runMoment(index: number): Promise<void> {
  const moment = chooseMoment();
  const books = eras.find(({ until }) => moment < until)?.books ?? [];
  const image = join(folder, `moment${index}`);
  const server = new ServerProcess({ kind, folder: image, ...jars });
  const { description } = history.restore(server.dataDir, { moment, random });
  const { faults } = await startAndAudit(server, { books, moment });
  await server.kill();
  if (faults.length === 0) {
    counts.passed++;
    if (!options.keep) rmSync(image, { recursive: true, force: true });
    return;
  }
  counts.failed++;
  const afterMs = Number((moment - history.begun) / 1_000_000n);
  console.log(`moment ${index}, ${afterMs} ms after the start FAILED (${description}):\n  ${faults.join("\n  ")}`);
}

/**
 * Half of them anywhere, the others where it hurts: as an answer arrives, or as a file changes or
 * is synced.
 */
function chooseMoment(): bigint {
  if (random.chance(0.5))
    return history.begun + BigInt(Math.floor(Number(history.ended - history.begun) * random.next()));
  if (random.chance(0.5)) return random.pick(changeMoments);
  const answers = random.pick(random.pick(eras).books).steps.flatMap(({ answeredAt }) => answeredAt ?? []);
  return answers.length === 0 ? history.ended : random.pick(answers);
}
