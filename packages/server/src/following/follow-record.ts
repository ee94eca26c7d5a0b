import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { formatZxid, parseZxid, type Zxid } from "@zooid/model";
import { syncFolder, writeWhole } from "../offline/whole-file.ts";
import { FollowError } from "./follow-error.ts";

/** The facts that a follower keeps beside its log, for the take-over of Apache's clients. */
export interface FollowFacts {
  /** The last transaction that is ever followed, once that is settled. */
  readonly finished: Zxid | undefined;
  /**
   * The servers of the ensemble, as `/zookeeper/config` has them; undefined before the first link.
   */
  readonly servers: string | undefined;
  /** The servers before the last change. */
  readonly serversBefore: string | undefined;
}

const NO_FACTS: FollowFacts = { finished: undefined, servers: undefined, serversBefore: undefined };

/** A line of JSON in the data directory, replaced as a whole. */
export class FollowRecord {
  readonly #file: string;
  #facts: FollowFacts;
  /** One is written after the other. */
  #writing: Promise<void> = Promise.resolve();

  /** @throws FollowError for a file that cannot be read, or that is another one */
  constructor(file: string) {
    this.#file = file;
    this.#facts = readFacts(file);
  }

  get facts(): FollowFacts {
    return this.#facts;
  }

  /** They are durable when it resolves. */
  async keep(change: Partial<FollowFacts>): Promise<void> {
    const writing = this.#writing.then(async () => {
      const facts = { ...this.#facts, ...change };
      await writeFacts(this.#file, facts);
      this.#facts = facts;
    });
    this.#writing = writing.catch(() => {});
    await writing;
  }
}

function readFacts(file: string): FollowFacts {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return NO_FACTS;
    throw unusable(file, error);
  }
  try {
    const { finished, servers, serversBefore } = JSON.parse(text) as Readonly<Record<keyof FollowFacts, unknown>>;
    return {
      finished: finished === undefined ? undefined : parseZxid(textOf("finished", finished)),
      servers: servers === undefined ? undefined : textOf("servers", servers),
      serversBefore: serversBefore === undefined ? undefined : textOf("serversBefore", serversBefore),
    };
  } catch (error) {
    throw unusable(file, error);
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new RangeError(`${name} must be a text, found ${typeof value}`);
}

async function writeFacts(file: string, { finished, servers, serversBefore }: FollowFacts): Promise<void> {
  const line = { finished: finished === undefined ? undefined : formatZxid(finished), servers, serversBefore };
  const pieces = [Buffer.from(`${JSON.stringify(line)}\n`)];
  await writeWhole(file, () => Promise.resolve(pieces.shift()));
  syncFolder(dirname(file));
}

function unusable(file: string, cause: unknown): FollowError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new FollowError(`${file} must have what an earlier start wrote about the followed ensemble: ${reason}`, {
    cause,
  });
}
