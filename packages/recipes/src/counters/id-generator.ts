import { type Client, isZkError } from "@zooid/client";
import { joinPath, type Shape, shape, wholeNumberRule, wordRule } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { orNull } from "../nodes/refusals.ts";
import { RecipeError } from "../recipe-error.ts";
import { AtomicLong } from "./atomic-number.ts";
import { CachedAtomic } from "./cached-atomic.ts";

/**
 * The source of ids:
 * - `sequential`: the number of a node that is created and deleted; from 0 to 2^31 - 1
 * - `version`: the version of a node; one request, from 0 to 2^31 - 1
 * - `block`: a counter of which a block is reserved at a time; hardly any requests, from 1 to 2^53
 *   - 1
 */
export type IdStrategy = "sequential" | "version" | "block";

export interface IdGeneratorOptions {
  /** Default `block`. All clients of a path must use the same. */
  readonly strategy?: IdStrategy;
  /** Size of a block of the strategy `block`. Default 100. */
  readonly blockSize?: number;
}

const SHAPE: Shape<IdGeneratorOptions> = shape<IdGeneratorOptions>({
  strategy: wordRule("block", "sequential", "version"),
  blockSize: wholeNumberRule(1),
});

/**
 * Short unique numbers. They increase for each client, but with blocks not between clients; some
 * may be skipped. Do not delete the path: the numbers would start again.
 */
export class IdGenerator {
  readonly path: string;
  readonly #zk: Client;
  readonly #take: () => Promise<number>;

  constructor(zk: Client, path: string, options: IdGeneratorOptions = {}) {
    checkArguments("IdGenerator", zk, path, options, SHAPE);
    const { strategy = "block", blockSize = 100 } = options;
    this.#zk = zk;
    this.path = path;
    const block = new CachedAtomic(new AtomicLong(zk, path), BigInt(blockSize));
    this.#take = {
      sequential: () => this.#made(),
      version: () => this.#written(),
      block: () => reserved(block),
    }[strategy];
  }

  /** The next id. @throws SEQUENCE_OVERFLOW if there is none left */
  async next(): Promise<number> {
    for (;;) {
      try {
        const id = await this.#take();
        if (id >= 0 && Number.isSafeInteger(id)) return id;
        throw new RecipeError("SEQUENCE_OVERFLOW", `there are no ids left at ${this.path}`);
      } catch (error) {
        // If the outcome is unknown, that id is skipped.
        if (!isZkError(error, "CONNECTION_LOSS") || error.outcome !== "unknown") throw error;
      }
    }
  }

  async #made(): Promise<number> {
    // A container would be removed when empty, and count from the beginning when it is created
    // again.
    const options = { mode: "persistent-sequential", protect: true, parents: "persistent" } as const;
    const { path } = await this.#zk.create(joinPath(this.path, "id-"), "", options);
    await this.#zk.delete(path, { missingOk: true, guaranteed: true });
    return Number(path.slice(path.lastIndexOf("id-") + "id-".length));
  }

  async #written(): Promise<number> {
    const set = await orNull(this.#zk.set(this.path, ""), "NO_NODE");
    if (set !== null) return set.version;
    const created = await orNull(this.#zk.create(this.path, "", { parents: "persistent" }), "NODE_EXISTS");
    return created?.stat.version ?? this.#written();
  }
}

async function reserved(block: CachedAtomic<bigint>): Promise<number> {
  for (;;) {
    const { succeeded, after } = await block.next();
    if (succeeded) return Number(after);
  }
}
