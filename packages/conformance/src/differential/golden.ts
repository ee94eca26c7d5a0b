import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomScript } from "./random-script.ts";
import type { Script } from "./script.ts";
import { ServerPair } from "./server-pair.ts";

/** Scripts whose transcripts from Apache's server are stored with the code. */
export const GOLDEN_SEEDS: readonly number[] = [1, 2, 3, 4, 5, 6];
export const GOLDEN_ROOT = "/golden";
const GOLDEN_REQUESTS = 100;
const FOLDER = join(import.meta.dirname, "../../transcripts/differential");

export function goldenScript(seed: number): Script {
  return randomScript(seed, GOLDEN_REQUESTS);
}

export function readGolden(seed: number): readonly string[] {
  return readFileSync(fileOf(seed), "utf8").trimEnd().split("\n");
}

/** Runs on Apache's server, new for each seed. */
export async function writeGolden(): Promise<void> {
  for (const seed of GOLDEN_SEEDS) {
    await using pair = await ServerPair.start();
    const { apache } = await pair.converse(goldenScript(seed), GOLDEN_ROOT);
    writeFileSync(fileOf(seed), `${apache.join("\n")}\n`);
  }
}

function fileOf(seed: number): string {
  return join(FOLDER, `${seed}.txt`);
}
