/**
 * Tries inputs on one target until its time is over: `fuzz-one.ts TARGET SECONDS SEED`, or
 * `fuzz-one.ts TARGET --input FILE`.
 *
 * The input that is tried lies in a file while it is tried, so that one that hangs or kills the
 * process is there afterwards. Inputs that run code that none ran before are kept, and more are
 * made of them.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Random } from "@zooid/conformance/internal/random";
import { Coverage } from "./coverage.ts";
import { mutate } from "./mutate.ts";
import type { FuzzTarget } from "./target.ts";
import { TARGETS } from "./targets.ts";

/**
 * Number of inputs that are tried between two looks at what ran; those that may have run something
 * new are tried one by one again.
 */
const INPUTS_PER_LOOK = 200;
const CORPUS_MAX = 2000;

const [name = "", first = "", second = ""] = process.argv.slice(2);
const target = TARGETS.find((each) => each.name === name);
if (target === undefined)
  throw new Error(`there is no target ${name}; there are ${TARGETS.map((each) => each.name).join(", ")}`);
if (first === "--input") for (const input of unpacked(readFileSync(second))) await target.run(input);
else await fuzz(target, { seconds: Number(first), seed: Number(second), file: process.env["FUZZ_INPUT"] ?? "" });

async function fuzz(
  { run, seeds, words = [] }: FuzzTarget,
  { seconds, seed, file }: { readonly seconds: number; readonly seed: number; readonly file: string },
): Promise<void> {
  const random = new Random(seed);
  const corpus: Buffer[] = [...seeds];
  const coverage = await Coverage.start();
  const endMs = performance.now() + seconds * 1000;
  mkdirSync(dirname(file), { recursive: true });
  let count = 0;
  const attempt = async (input: Buffer): Promise<void> => {
    count++;
    try {
      await run(input);
    } catch (error) {
      writeFileSync(file, packed([input]));
      console.log(error instanceof Error ? error.stack : String(error));
      process.exit(1);
    }
  };
  for (const input of seeds) await attempt(input);
  await coverage.hasGrown();
  while (performance.now() < endMs) {
    const inputs = Array.from({ length: INPUTS_PER_LOOK }, () => mutate(random, random.pick(corpus), corpus, words));
    // Where one hangs, its neighbours are in the file with it.
    writeFileSync(file, packed(inputs));
    for (const input of inputs) await attempt(input);
    if (await coverage.hasGrown()) corpus.push(...inputs.filter(() => random.chance(0.1)));
    if (corpus.length > CORPUS_MAX) corpus.splice(seeds.length, corpus.length - CORPUS_MAX);
    process.send?.({ count, heapBytes: process.memoryUsage().heapUsed, corpus: corpus.length });
  }
  console.log(`${count} inputs, ${corpus.length} kept`);
  process.exit(0);
}

/** Inputs one behind another, each after its length. */
function packed(inputs: readonly Buffer[]): Buffer {
  return Buffer.concat(
    inputs.flatMap((input) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(input.length);
      return [length, input];
    }),
  );
}

function unpacked(bytes: Buffer): readonly Buffer[] {
  const inputs: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readInt32BE(at);
    inputs.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return inputs;
}
